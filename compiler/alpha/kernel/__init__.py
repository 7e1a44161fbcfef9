"""Kernels: regions of loops over buffers, 16 logical lanes, and the direct lane that makes them from a graph.

`node` and `operators` say what a kernel is, `verify` what it may be, `direct` how each operation becomes one.
"""
