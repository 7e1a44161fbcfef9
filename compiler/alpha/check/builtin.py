"""What the language provides without any module: types, units, the entries and fact names of its tables."""

from __future__ import annotations

from fractions import Fraction

from alpha.base.dtype import Dtype
from alpha.core.term import Amount
from alpha.core.types import Function, Kind, Named, Scheme, Shape, Tensor, Type

TYPE_KINDS: dict[str, tuple[tuple[str, Kind], ...]] = {
    "Int": (),
    "Text": (),
    "Amount": (),
    "List": (("a", Kind.TYPE),),
    "Key": (),
    "Model": (("m", Kind.TYPE),),
    "Stack": (("n", Kind.DIM), ("m", Kind.TYPE)),
    "Slots": (("m", Kind.TYPE),),
    "Init": (),
    "Source": (),
    "Trace": (),
    "Policy": (),
    "Learner": (),
    "Optimizer": (),
    "DataSource": (),
    "Layout": (),
    "PlanProgram": (),
}
"""Built-in type constructors and their parameters; `Tensor`, `Bool` and the dtypes are read specially."""

_BYTE, _SECOND, _FLOP = (1, 0, 0), (0, 1, 0), (0, 0, 1)

AMOUNT_UNITS: dict[str, tuple[int, int, int]] = {
    "Bytes": _BYTE,
    "Seconds": _SECOND,
    "Hertz": (0, -1, 0),
    "Flops": _FLOP,
    "BytesPerSecond": (1, -1, 0),
    "FlopsPerSecond": (0, -1, 1),
}
"""Names of `Amount` with a unit that is checked when the value is computed."""

_PREFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}

UNITS: dict[str, Amount] = {
    **{f"{p}B": Amount(Fraction(f), _BYTE) for p, f in (_PREFIXES | _BINARY).items()},
    **{f"{p}B/s": Amount(Fraction(f), (1, -1, 0)) for p, f in (_PREFIXES | _BINARY).items()},
    **{
        f"{p}Hz": Amount(Fraction(f), (0, -1, 0))
        for p, f in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12))
    },
    **{f"{p}FLOP": Amount(Fraction(f), _FLOP) for p, f in _PREFIXES.items()},
    **{f"{p}FLOP/s": Amount(Fraction(f), (0, -1, 1)) for p, f in _PREFIXES.items()},
    "ns": Amount(Fraction(1, 10**9), _SECOND),
    "us": Amount(Fraction(1, 10**6), _SECOND),
    "ms": Amount(Fraction(1, 10**3), _SECOND),
    "s": Amount(Fraction(1), _SECOND),
    "min": Amount(Fraction(60), _SECOND),
    "h": Amount(Fraction(3600), _SECOND),
}
"""One of each unit, in base units."""

_INT, _TEXT = Named("Int"), Named("Text")
_BOOL = Tensor(Dtype.BOOL, Shape(()))
_SCHEDULE = Function(Tensor(Dtype.U32, Shape(())), Tensor(Dtype.F32, Shape(())))

POLICY_ENTRIES: dict[str, tuple[Type, bool]] = {
    "learner": (Named("Learner"), True),
    "data": (Named("DataSource"), True),
    "batch": (_INT, True),
    "steps": (_INT, True),
    "seed": (_INT, True),
    "rate": (_SCHEDULE, True),
    "start": (Named("Start"), False),
    "bundle": (_BOOL, False),
    "holdOut": (_INT, False),
    "shuffle": (Named("Shuffle"), False),
    "checkpoint": (Named("Checkpoint"), True),
    "evaluateEvery": (_INT, False),
    "report": (Named("Report"), False),
    "stop": (Named("List", (Named("Stop"),)), False),
    "mayMove": (Named("List", (Named("Movable"),)), False),
}
"""Entries of a policy: type, and whether it is required."""

POLICY_FIELDS: dict[str, Type] = {
    **{name: type_ for name, (type_, _) in POLICY_ENTRIES.items()},
    **dict.fromkeys(
        ("params", "slots", "batchInput", "lossOutput", "metricOutput"), Named("Layout")
    ),
    **dict.fromkeys(("trainStep", "evaluateBatch"), Named("PlanProgram")),
    "heldOutBatches": _INT,
}
"""Fields of a policy as a value."""

PAIRING_ENTRIES = ("system", "device", "admit", "output", "artifact")

_COUNT = Amount(Fraction(1))
_FEATURE = Amount(Fraction(1), feature=True)
_BYTES = Amount(Fraction(1), _BYTE)

SUPPLIES: dict[str, Amount] = {
    "instruction-set": _COUNT,
    "registers-per-thread": _COUNT,
    "threads-per-block": _COUNT,
    "shared-bytes-per-block": _BYTES,
    "video-memory-bytes": _BYTES,
    "driver-branch": _COUNT,
    "compute-class": _COUNT,
    "unified-memory": _FEATURE,
    "registers-per-block": _COUNT,
    "ptx-version": _COUNT,
    "sm86-command-stream": _FEATURE,
    "sm89-command-stream": _FEATURE,
    "sm90-command-stream": _FEATURE,
    "cpu-level": _COUNT,
    "memory-bytes": _BYTES,
    "address-width": _COUNT,
}
"""Names of supplies, which are those of demands, each with one of its unit."""

ESTIMATES: dict[str, Amount] = {
    **dict.fromkeys(("sustained-bandwidth", "transfer-bandwidth"), UNITS["B/s"]),
    **dict.fromkeys(("launch-overhead", "transfer-overhead"), UNITS["s"]),
    **dict.fromkeys(
        ("peak-f32-rate", "peak-tf32-rate", "peak-bf16-rate", "peak-f16-rate"), UNITS["FLOP/s"]
    ),
    **dict.fromkeys(("clock-rate", "warp-issue-rate"), UNITS["Hz"]),
}

IDENTITIES = ("product", "pci-id", "uuid", "target")

GRADES: dict[str, tuple[str, ...]] = {
    "Architectural": ("manual", "header"),
    "Measured": ("run",),
    "Modelled": ("model",),
}
"""The kinds of source that fit a grade."""

KEYWORD_VALUES: dict[str, Scheme] = {"model": Scheme((), Function(_TEXT, Named("Source")))}
"""Prelude values that cannot have a signature in Alpha, because their name begins a declaration."""


def unit_text(amount: Amount) -> str:
    """The unit in words of a message: `bytes`, `bytes per second`, `a count`."""
    if amount.feature:
        return "a feature"
    words = ("bytes", "seconds", "flops")
    if amount.unit == (0, -1, 0):
        return "hertz"
    over = [w if e == 1 else f"{w}^{e}" for w, e in zip(words, amount.unit, strict=True) if e > 0]
    under = [
        w.removesuffix("s") if e == -1 else f"{w}^{-e}"
        for w, e in zip(words, amount.unit, strict=True)
        if e < 0
    ]
    text = " times ".join(over) or ("1" if under else "a count")
    return f"{text} per {' per '.join(under)}" if under else text
