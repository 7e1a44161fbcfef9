"""Regions as loops over buffers with 16 logical lanes; direct templates; verifier."""
