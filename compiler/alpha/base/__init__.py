"""Spans, scalar types and digests: what every layer needs and that needs no layer."""
