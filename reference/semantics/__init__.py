"""The meaning of Alpha's tensor language in plain numpy: an oracle that shares no code with the compiler.

It imports nothing from `alpha` and reads one data file of it, the table of constants behind the elementary functions.
"""
