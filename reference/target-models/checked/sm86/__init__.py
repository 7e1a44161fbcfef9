"""The checked model of NVIDIA's sm_86: it parses the printed PTX and executes it, with every access judged.

`parse` reads a text strictly. `launch` executes one of its entries over a `Memory` through `Window`s, raises a `Fault`
with its place, and returns `Counts`. The meaning of a number is exact: `forms` lists the subset, `opcodes` gives each
form its meaning over arrays of lanes, `scalar` gives it again in plain integers.
"""

from checked.sm86.counts import Counts
from checked.sm86.faults import Fault, FaultKind, Malformed
from checked.sm86.machine import launch
from checked.sm86.memory import Memory, Window
from checked.sm86.occupancy import blocks_per_processor
from checked.sm86.parse import Entry, Module, parse

__all__ = [
    "Counts",
    "Entry",
    "Fault",
    "FaultKind",
    "Malformed",
    "Memory",
    "Module",
    "Window",
    "blocks_per_processor",
    "launch",
    "parse",
]
