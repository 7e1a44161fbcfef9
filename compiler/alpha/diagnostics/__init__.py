"""Diagnostics as data: built by the phase that found the fault, emitted once, rendered in one place."""
