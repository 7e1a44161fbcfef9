"""Strict object reader, relocation table, linker and independent verifier."""
