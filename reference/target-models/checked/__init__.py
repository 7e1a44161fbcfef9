"""Checked models of devices: they execute what the compiler prints and name each fault that a device would not report.

They import nothing of the compiler, and no build can contain them.
"""
