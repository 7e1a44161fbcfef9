"""Libraries of `alpha build --emit shared` in Python: a run whose arrays are NumPy's.

Only this module needs NumPy, and only once a library is opened. A library says itself what it takes: its manifest has
the property `alpha:interface`.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from alpha.base.record import record
from alpha.elf.image import manifest_of

if TYPE_CHECKING:
    import numpy

    Numbers = numpy.ndarray[tuple[int, ...], numpy.dtype[Any]]

ABI = 1
"""Of the calls that this module makes: `NAME_ABI` of a library must equal it."""
_MISUSE = 2
_NUMPY = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "uint16", "bool": "bool"}
_NUMPY |= {"i64": "int64", "i32": "int32", "u32": "uint32", "u8": "uint8"}


class Stopped(RuntimeError):
    """A call that could not be done: a value outside its range, a loss that is not finite, a file.

    The text begins with the code.
    """


@record
class Array:
    """An argument of a library: its dtype in Alpha, its shape with the batch axis in front, `n` of `index n` or 0."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bound: int


class Run:
    """One run: parameters and slots, from step 0. Every run of a library is for itself; close it, or use it in `with`.

    `batch` maps each field to its array, `metrics` names what `evaluate` gives, `input` and `output` are what `predict`
    takes and gives, None for a system without. Wrong arguments raise TypeError or ValueError, and `Stopped` is raised
    for what could not be done.
    """

    def __init__(self, path: Path, interface: dict[str, Any], numpy_module: ModuleType) -> None:
        self._numpy = numpy_module
        self._library = ctypes.CDLL(str(path.resolve()))
        self._name = str(interface["name"])
        self._lock = threading.Lock()
        self.system = str(interface["system"])
        self.batch = {array.name: array for array in map(_array, interface["batch"])}
        self.metrics = tuple(interface["metrics"])
        self.input = _array(interface["input"]) if interface["input"] else None
        self.output = _array(interface["output"]) if interface["output"] else None
        self._reads = {call: tuple(interface[call]) for call in ("step", "evaluate")}
        abi = ctypes.c_int32.in_dll(self._library, f"{self._name}_ABI").value
        if abi != ABI:
            raise ValueError(
                f"{path} has calls of version {abi}; this Alpha makes those of version {ABI}"
            )
        self._handle = ctypes.c_void_p()
        self._do("open", ctypes.byref(self._handle), None)

    def step(self, **fields: Numbers) -> float:
        """One training step on a whole batch, an array a field; gives the loss before the update."""
        loss = ctypes.c_float()
        arrays = self._batch("step", fields)
        self._call("step", ctypes.byref(_pointers(arrays)), ctypes.byref(loss))
        return loss.value

    def evaluate(self, **fields: Numbers) -> dict[str, float]:
        """Every metric on one whole batch, by name."""
        values = (ctypes.c_float * max(1, len(self.metrics)))()
        arrays = self._batch("evaluate", fields)
        self._call("evaluate", ctypes.byref(_pointers(arrays)), values)
        return dict(zip(self.metrics, values, strict=False))

    def predict(self, rows: Numbers) -> Numbers:
        """The predictions for any number of rows, which go through in batches. bfloat16 comes out as float32."""
        if self.input is None or self.output is None:
            raise ValueError(f"{self.system} has no predict")
        numpy, (batch, *shape) = self._numpy, self.input.shape
        given = self._checked(self.input, rows, None)
        made = numpy.zeros((len(given), *self.output.shape[1:]), _NUMPY[self.output.dtype])
        for first in range(0, len(given), batch):
            used = min(batch, len(given) - first)
            whole = numpy.zeros((batch, *shape), given.dtype)
            whole[:used] = given[first : first + used]
            result = numpy.zeros(self.output.shape, made.dtype)
            self._call("predict", _address(whole), _address(result))
            made[first : first + used] = result[:used]
        if self.output.dtype == "bf16":
            made = (made.astype(numpy.uint32) << 16).view(numpy.float32)
        return made  # type: ignore[no-any-return]

    def load(self, path: str | os.PathLike[str]) -> None:
        """The state of a checkpoint, of the program or of a library."""
        self._call("load", os.fsencode(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint: the bytes that the program writes after the same steps."""
        self._call("save", os.fsencode(path))

    def close(self) -> None:
        """Gives the memory back. A run that is closed takes no calls."""
        with self._lock:
            if self._handle:
                self._function("close", None)(self._handle)
                self._handle = ctypes.c_void_p()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def _call(self, call: str, *arguments: object) -> None:
        with self._lock:
            if not self._handle:
                raise ValueError("the run is closed")
            self._do(call, self._handle, *arguments)

    def _do(self, call: str, *arguments: object) -> None:
        status = self._function(call, ctypes.c_int)(*arguments)
        if status != 0:
            said = self._function("error", ctypes.c_char_p)(self._handle).decode("utf-8", "replace")
            raise ValueError(_words(said)) if status == _MISUSE else Stopped(_words(said))

    def _function(self, call: str, result: Any) -> Any:
        function = self._library[f"{self._name}_{call}"]
        function.restype = result
        return function

    def _batch(self, call: str, fields: dict[str, Numbers]) -> list[Numbers | None]:
        reads = self._reads[call]
        missing = [name for name in reads if name not in fields]
        unknown = [name for name in fields if name not in self.batch]
        if missing or unknown:
            what = f"lacks {_listed(missing)}" if missing else f"has no field {_listed(unknown)}"
            raise TypeError(f"the batch {what}; {call} reads {_listed(reads)}")
        return [
            self._checked(array, fields[name], array.shape[0]) if name in fields else None
            for name, array in self.batch.items()
        ]

    def _checked(self, array: Array, given: Numbers, rows: int | None) -> Numbers:
        """`given` in rows that follow each other. Nothing converts: a wrong dtype is a mistake of the caller's."""
        value = self._numpy.asarray(given)
        wanted = self._numpy.dtype(_NUMPY[array.dtype])
        if value.dtype != wanted:
            raise TypeError(
                f"{array.name} needs dtype {wanted}, not {value.dtype}: "
                f"pass {array.name}.astype(numpy.{wanted})"
            )
        if value.ndim != len(array.shape) or value.shape[1:] != array.shape[1:]:
            raise ValueError(
                f"{array.name} needs the shape {_shape(array, rows)}, not {value.shape}"
            )
        if rows is not None and len(value) != rows:
            raise ValueError(
                f"{array.name} needs the shape {_shape(array, rows)}, not {value.shape}"
            )
        return self._numpy.ascontiguousarray(value)  # type: ignore[no-any-return]


def open_run(path: str | os.PathLike[str]) -> Run:
    """As `alpha.load`."""
    try:
        import numpy
    except ModuleNotFoundError as missing:
        raise ImportError("alpha.load works on NumPy arrays: pip install numpy") from missing
    place = Path(path)
    interface = _interface(place.read_bytes())
    if interface is None:
        raise ValueError(f"{place} is no library that `alpha build SYSTEM --emit shared` wrote")
    return Run(place, interface, numpy)


def _interface(data: bytes) -> dict[str, Any] | None:
    manifest = manifest_of(data)
    if manifest is None:
        return None
    for entry in json.loads(manifest)["metadata"]["properties"]:
        if entry["name"] == "alpha:interface":
            found: dict[str, Any] = json.loads(entry["value"])
            return found
    return None


def _array(stated: dict[str, Any]) -> Array:
    return Array(stated["name"], stated["dtype"], tuple(stated["shape"]), stated["bound"])


def _pointers(arrays: Sequence[Numbers | None]) -> ctypes.Array[ctypes.c_void_p]:
    """`struct NAME_batch`: a pointer a field. The arrays must live as long as it is read."""
    return (ctypes.c_void_p * len(arrays))(
        *(None if array is None else array.ctypes.data for array in arrays)
    )


def _address(array: Numbers) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _words(said: str) -> str:
    """`error[R0503]: why` as `R0503: why`."""
    code, _, rest = said.removeprefix("error").partition(": ")
    return f"{code[1:-1]}: {rest}" if code else rest


def _shape(array: Array, rows: int | None) -> str:
    return f"({', '.join(['n' if rows is None else str(rows), *map(str, array.shape[1:])])})"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names) or "nothing"
