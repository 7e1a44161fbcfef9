"""Scalar types of tensor elements."""

from __future__ import annotations

from enum import Enum

from alpha.base.record import record


class Dtype(Enum):
    """A storage type. The value is its name in Alpha source and in every text form."""

    F64 = "f64"
    F32 = "f32"
    BF16 = "bf16"
    F16 = "f16"
    I64 = "i64"
    I32 = "i32"
    U32 = "u32"
    U8 = "u8"
    BOOL = "bool"

    @property
    def size(self) -> int:
        """Bytes of one element in memory; `bool` takes one."""
        return _SIZES[self]

    @property
    def is_float(self) -> bool:
        return self in _FLOATS

    @property
    def is_integer(self) -> bool:
        return self in _INTEGERS


_SIZES = {
    Dtype.F64: 8,
    Dtype.F32: 4,
    Dtype.BF16: 2,
    Dtype.F16: 2,
    Dtype.I64: 8,
    Dtype.I32: 4,
    Dtype.U32: 4,
    Dtype.U8: 1,
    Dtype.BOOL: 1,
}
_FLOATS = frozenset({Dtype.F64, Dtype.F32, Dtype.BF16, Dtype.F16})
_INTEGERS = frozenset({Dtype.I64, Dtype.I32, Dtype.U32, Dtype.U8})


@record
class TensorType:
    """Element type and shape of a tensor whose sizes are all known.

    `bound` is n for elements of `index n` (stored as i32, known to be in 0 ... n - 1), else None.
    """

    dtype: Dtype
    shape: tuple[int, ...]
    bound: int | None = None

    @property
    def count(self) -> int:
        """Number of elements; 1 for rank 0."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def bytes(self) -> int:
        return self.count * self.dtype.size

    @property
    def written(self) -> str:
        """The type as it is written in a module: `f32`, `Tensor (index 10) [32]`."""
        element = self.dtype.value if self.bound is None else f"index {self.bound}"
        if not self.shape:
            return element
        element = element if self.bound is None else f"({element})"
        return f"Tensor {element} [{', '.join(map(str, self.shape))}]"

    def __str__(self) -> str:
        name = self.dtype.value if self.bound is None else f"index<{self.bound}>"
        return f"{name}[{', '.join(map(str, self.shape))}]"
