"""The runtime of built executables: start, memory, output, numbers, files, threads, checkpoints, commands.

It never depends on the system that is built: a system reaches it as the tables that `descriptor` writes and the
sources in `source/` read. `abi` is the one list of what those tables hold.
"""
