"""The tables a system hands to the runtime: the one list that fixes both what is written and how it is read.

Fields follow one another without padding. For the record `TENSOR` with a field `offset` the sources of the runtime see
the constants `TENSOR_OFFSET` and `TENSOR_SIZE`. A field holds a number, or where a zero-terminated text, another table,
a kernel or data is: how far behind the table of the system, 0 for nothing. The linker knows these distances, so tables
need no relocation when a program starts; and they fit four bytes, as small numbers do.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from alpha.base.record import record

Kind = Literal["number", "small", "text", "address"]
WIDTHS: Mapping[Kind, int] = MappingProxyType({"number": 8, "small": 4, "text": 4, "address": 4})
NONE = (1 << 64) - 1
"""The offset of something the system does not have, such as the key of a learner that draws nothing."""


@record
class Record:
    """A table row: its name and its fields in order."""

    name: str
    fields: tuple[tuple[str, Kind], ...]

    @property
    def size(self) -> int:
        return sum(WIDTHS[kind] for _, kind in self.fields)


SYSTEM = Record(
    "SYSTEM",
    (
        ("name", "text"),  # symbol of the policy
        ("version", "text"),  # of the compiler
        ("policy", "text"),  # SHA-256 of the canonical texts that resuming compares
        ("learner", "text"),
        ("data", "text"),
        ("seed", "number"),
        ("steps", "number"),
        ("batch", "number"),
        ("examples", "number"),  # held-out ones included
        ("training", "number"),  # the first so many are trained on
        ("hold_out", "number"),  # the last so many are not
        ("shuffled", "number"),
        ("evaluate_every", "number"),
        ("checkpoint_every", "number"),
        ("checkpoint_keep", "number"),
        ("checkpoint_folder", "text"),
        ("report_every", "number"),
        ("report_loss", "number"),
        ("report_rate", "number"),
        ("sinks", "number"),  # sum of SINK_ constants
        ("arena", "number"),  # bytes
        ("data_bytes", "number"),  # of rows that are read when the run starts
        ("tensors", "address"),
        ("tensor_count", "number"),
        ("fields", "address"),
        ("field_count", "number"),
        ("metrics", "address"),
        ("metric_count", "number"),
        ("stops", "address"),
        ("stop_count", "number"),
        ("stop_states", "address"),  # room for 16 bytes a rule; 0 where there is none
        ("initial", "address"),  # programs; 0 where the system has none
        ("rate", "address"),
        ("step", "address"),
        ("evaluate", "address"),
        ("predict", "address"),
        ("sample", "address"),
        ("rate_step", "number"),  # offsets in the arena
        ("rate_rate", "number"),
        ("step_step", "number"),
        ("step_rate", "number"),
        ("step_key", "number"),
        ("step_loss", "number"),
        ("step_marks", "address"),  # a byte a region of the step
        ("sample_logits", "number"),
        ("sample_key", "number"),
        ("sample_temperature", "number"),
        ("sample_next", "number"),
        ("sample_window", "address"),
        ("predict_input", "address"),  # TENSOR rows
        ("predict_output", "address"),
        ("files", "address"),  # that are read when the run starts
        ("file_count", "number"),
        ("data_header", "number"),  # 1 if the first row of the csv file names columns
        ("data_columns", "number"),  # numbers in its rows that some field reads, at least
        ("weights", "address"),  # bundled ones, else 0
        ("weights_place", "number"),  # else of their file, in the memory of what was read
        ("weights_copies", "address"),  # from there to the parameters
        ("weights_count", "number"),
        ("tests", "address"),  # of a program that runs tests and has no policy
        ("test_count", "number"),
    ),
)
TEST = Record(
    "TEST",
    (
        ("program", "address"),
        ("results", "address"),
        ("result_count", "number"),
    ),
)
RESULT = Record("RESULT", (("offset", "number"), ("bytes", "number")))
PROGRAM = Record(
    "PROGRAM",
    (
        ("launches", "address"),
        ("launch_count", "number"),
        ("loops", "address"),
        ("loop_count", "number"),
        ("regions", "address"),  # of the step alone: what is looked at when a run is replayed
        ("copies", "address"),
        ("copy_count", "number"),
    ),
)
LAUNCH = Record(
    "LAUNCH",
    (
        ("function", "address"),  # 0 where a loop begins, and where a turn of it ends
        ("parallel", "small"),
        ("count", "small"),  # of regions, which a function that is not parallel numbers from 0
        ("place", "small"),  # of the first region in the program
        # Of a loop, `place` is its number, and `count` how many rows the next turn begins before its end.
    ),
)
LOOP = Record(
    "LOOP",
    (
        ("cell", "number"),  # offset of the u32 that is the index
        ("first", "number"),  # index of the first turn and of the last
        ("last", "number"),
        ("step", "number"),  # from one index to the next, as a u32
        ("first_region", "number"),
        ("last_region", "number"),
    ),
)
REGION = Record(
    "REGION",
    (
        ("span", "text"),  # file, line and column in the system's source, 0 for none
        (
            "symbol",
            "text",
        ),  # of the kernel; from the point on where it begins with the program and the own number
        ("checks", "address"),  # f32 results
        ("check_count", "small"),
    ),
)
CHECK = Record(
    "CHECK",
    (
        ("offset", "number"),
        ("count", "number"),
        ("moves", "address"),  # with the index of each loop it is a row for
        ("move_count", "small"),
    ),
)
MOVE = Record("MOVE", (("cell", "number"), ("stride", "number")))
COPY = Record("COPY", (("source", "number"), ("target", "number"), ("bytes", "number")))
TENSOR = Record(
    "TENSOR",
    (
        ("name", "text"),
        ("dtype", "text"),  # as safetensors spells it
        ("code", "small"),  # a DTYPE_ constant
        ("rank", "small"),
        ("shape", "address"),
        ("count", "number"),
        ("offset", "number"),
        ("bytes", "number"),
        ("bound", "number"),  # n of `index n`, else 0
    ),
)
FIELD = Record(
    "FIELD",
    (
        ("name", "text"),
        ("stored", "number"),  # DTYPE_ constants
        ("code", "number"),
        ("count", "number"),  # elements of one example
        ("bound", "number"),
        ("rows", "address"),  # bundled rows, else 0
        ("place", "number"),  # else of the rows, in the memory of what was read
        ("first", "number"),  # bytes to the first example, and from one to the next
        ("apart", "number"),
        ("file", "text"),  # for messages, address 0 if bundled
        ("step_offset", "number"),
        ("evaluate_offset", "number"),
        ("columns", "address"),  # of the csv file, one number an element, else 0
    ),
)
FILE = Record(
    "FILE",
    (
        ("path", "text"),
        ("digest", "text"),
        ("length", "number"),
        ("csv", "number"),  # 1 if its rows are read into the fields; else all its bytes are read
        ("place", "number"),  # in the memory of what was read
        ("skip", "number"),  # bytes of a header that is dropped
        ("swap", "number"),  # bytes of an element whose order is turned round, or 0
    ),
)
METRIC = Record(
    "METRIC",
    (
        ("name", "text"),
        ("offset", "number"),
        ("reported", "number"),
        ("lanes", "address"),  # 16 f32 accumulators and the latest mean behind them
    ),
)
STOP = Record(
    "STOP",
    (
        ("kind", "number"),  # a STOP_KIND_ constant
        ("metric", "number"),  # row of the metrics, NONE for the loss of the step
        ("name", "text"),
        ("patience", "number"),
        ("value", "number"),  # bits of an f32
    ),
)
RECORDS = (
    SYSTEM, TEST, RESULT, PROGRAM, LAUNCH, LOOP, REGION, CHECK, MOVE, COPY, TENSOR, FIELD, FILE, METRIC, STOP,
)  # fmt: skip

DTYPES = ("f64", "f32", "bf16", "f16", "i64", "i32", "u32", "u8", "bool")
SINKS = {"Terminal": 1, "JsonLines": 2, "TensorBoard": 4}
STOP_KINDS = ("NotFinite", "Plateau", "Below")
LANES = 16
SYSTEM_SYMBOL = "alpha_system"


def constants() -> dict[str, int]:
    """Every constant the runtime's sources read tables with."""
    values = {"LANES": LANES, "LEFT_OUT": NONE}
    for row in RECORDS:
        place = 0
        for field, kind in row.fields:
            values[f"{row.name}_{field.upper()}"] = place
            place += WIDTHS[kind]
        values[f"{row.name}_SIZE"] = place
    values |= {f"DTYPE_{name.upper()}": code for code, name in enumerate(DTYPES)}
    values |= {f"SINK_{name.upper()}": bit for name, bit in SINKS.items()}
    values |= {f"STOP_KIND_{name.upper()}": code for code, name in enumerate(STOP_KINDS)}
    return values
