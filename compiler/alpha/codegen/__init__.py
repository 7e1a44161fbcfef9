"""LLVM IR, and the worker process that owns llvmlite.binding."""
