"""The table of constants behind exp, log, tanh, erf, sin and cos, read from `elementary.toml`."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path


@cache
def _table() -> dict[str, dict[str, object]]:
    import tomllib  # a module without such a function does not pay for it

    return tomllib.loads(Path(__file__).with_name("elementary.toml").read_text("utf-8"))


def constant(function: str, name: str) -> float:
    """One constant, rounded to f32 (hexadecimal ones are exact already)."""
    return _f32(_table()[function][name])


def polynomial(function: str, name: str = "polynomial") -> tuple[float, ...]:
    """Coefficients, lowest first, each exactly an f32."""
    values = _table()[function][name]
    assert isinstance(values, list)
    return tuple(_f32(value) for value in values)


def bits(function: str, name: str) -> int:
    """A constant that is a bit pattern."""
    value = _table()[function][name]
    assert isinstance(value, int)
    return value


def _f32(written: object) -> float:
    assert isinstance(written, str)
    exact = float.fromhex(written) if "0x" in written else float(written)
    rounded: float = struct.unpack("<f", struct.pack("<f", exact))[0]
    return rounded
