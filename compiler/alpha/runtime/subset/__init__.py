"""The systems subset the runtime is written in: Python's syntax, fixed-width types, lowered straight to LLVM IR.

A module is a list of constants, variables and functions. Every local is an SSA value (there is no address of a local),
every memory access names its width (`u32[p + 4]`), every conversion is written (`u64(n)`), and a bare integer takes the
type of what stands beside it. There is no inline assembly, no allocation and no exception.
"""
