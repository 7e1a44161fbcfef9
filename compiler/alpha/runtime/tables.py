"""LLVM IR text of read-only tables: rows of records, texts, numbers, and room that a run writes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from alpha.base.record import record
from alpha.runtime.abi import SYSTEM_SYMBOL, WIDTHS, Record


@record
class Address:
    """A symbol as a field's content; `None` for no address."""

    symbol: str | None


Content = int | str | Address
Row = Mapping[str, Content]


class Tables:
    """Collects definitions; symbols are numbered in the order of their first use, so equal inputs give equal text.

    `constant` tables have no room: a library, which many runs use at once, writes to none of its own memory.
    """

    def __init__(self, constant: bool = False) -> None:
        self._constant = constant
        self._texts: dict[str, str] = {}
        self._lines: list[str] = []
        self._declared: dict[str, None] = {}

    def rows(
        self, symbol: str, record: Record, rows: Sequence[Row], visible: bool = False
    ) -> Address:
        """Defines an array of records. Each row names every field of the record and no other."""
        if not rows:
            return Address(None)
        kinds = ", ".join(f"i{8 * WIDTHS[kind]}" for _, kind in record.fields)
        bodies = [f"<{{ {kinds} }}> <{{ {self._row(record, row)} }}>" for row in rows]
        linkage = "hidden" if visible else "internal"
        self._lines.append(
            f"@{symbol} = {linkage} constant [{len(rows)} x <{{ {kinds} }}>] "
            f"[{', '.join(bodies)}], align 8"
        )
        return Address(symbol)

    def numbers(self, symbol: str, values: Sequence[int]) -> Address:
        if not values:
            return Address(None)
        elements = ", ".join(f"i64 {value}" for value in values)
        self._lines.append(
            f"@{symbol} = internal constant [{len(values)} x i64] [{elements}], align 8"
        )
        return Address(symbol)

    def room(self, symbol: str, size: int) -> Address:
        """Zeroed memory of `size` bytes that the run writes to."""
        if self._constant:
            return Address(None)
        self._lines.append(f"@{symbol} = internal global [{size} x i8] zeroinitializer, align 64")
        return Address(symbol)

    def data(self, symbol: str) -> Address:
        """Read-only bytes that the linker places."""
        self._declared[f"@{symbol} = external hidden constant i8"] = None
        return Address(symbol)

    def kernel(self, symbol: str) -> Address:
        self._declared[f'declare hidden void @"{symbol}"(ptr, i64, i64)'] = None
        return Address(f'"{symbol}"')

    def ir(self, triple: str) -> str:
        texts = [
            f"@{symbol} = private unnamed_addr constant "
            f'[{len(text.encode()) + 1} x i8] c"{_escaped(text)}", align 1'
            for text, symbol in self._texts.items()
        ]
        parts = [f'target triple = "{triple}"', *self._declared, *texts, *self._lines]
        return "\n".join(parts) + "\n"

    def _row(self, record: Record, row: Row) -> str:
        if set(row) != {name for name, _ in record.fields}:
            wrong = set(row) ^ {name for name, _ in record.fields}
            raise ValueError(f"{record.name}: fields {', '.join(sorted(wrong))}")
        return ", ".join(
            self._content(record, name, kind, row[name]) for name, kind in record.fields
        )

    def _content(self, record: Record, name: str, kind: str, content: Content) -> str:
        match kind, content:
            case "number", int(value) if 0 <= value < 1 << 64:
                return f"i64 {value}"
            case "small", int(value) if 0 <= value < 1 << 32:
                return f"i32 {value}"
            case "text", str(text):
                return _distance(self._texts.setdefault(text, f"text.{len(self._texts)}"))
            case "text" | "address", Address(symbol=target):
                return "i32 0" if target is None else _distance(target)
            case _:
                raise ValueError(f"{record.name}.{name}: {content!r} is no {kind}")


def _distance(symbol: str) -> str:
    """How far behind the table of the system a symbol stands; it may stand before it."""
    here = f"ptrtoint (ptr @{SYSTEM_SYMBOL} to i64)"
    return f"i32 trunc (i64 sub (i64 ptrtoint (ptr @{symbol} to i64), i64 {here}) to i32)"


def _escaped(text: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in text.encode() + b"\0")
