"""Code for hosts: kernels as LLVM IR, and the worker process that makes objects of it.

Only `worker_main` imports llvmlite's binding: an error inside LLVM ends the process it happens in.
"""
