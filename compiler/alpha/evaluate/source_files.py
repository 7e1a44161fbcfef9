"""What every data source asks of files and of its own specification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from alpha.base.digest import sha256
from alpha.base.record import record
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import data_errors
from alpha.evaluate.files import FileAccess, FileFault
from alpha.evaluate.system import DataFile
from alpha.evaluate.values import ListValue, Record, Value


@record
class SourceFiles:
    """The files below the source root of a policy's module. `span` is where the policy names them."""

    access: FileAccess
    module: str
    span: Span

    def locked(self, path: str) -> tuple[DataFile, bytes]:
        """A file whose digest is the one in the lock: E0901 if it is not there, E0902 if it is another."""
        try:
            data = self.access.read(self.module, path)
        except FileFault as fault:
            raise Refused(
                data_errors.missing(
                    path, str(fault), self.access.beside(self.module, path), self.span
                )
            ) from None
        locked, found = self.access.locked(self.module, path), sha256(data)
        if locked is None:
            raise Refused(data_errors.not_locked(path, self.span))
        if locked != found:
            raise Refused(data_errors.digest_differs(path, found, locked, self.span))
        return DataFile(path, found, len(data)), data


def require_fields(filled: Sequence[str], needed: Iterable[str], source: str, span: Span) -> None:
    """A source fills each field of the batch type once, and no other (E0903). `source` is what fills them."""
    known = list(needed)
    for place, name in enumerate(filled):
        if name not in known:
            raise Refused(data_errors.field_unknown(name, known, span))
        if name in filled[:place]:
            raise Refused(data_errors.field_twice(name, span))
    for name in known:
        if name not in filled:
            raise Refused(data_errors.field_missing(name, source, span))


def entries(value: Value) -> dict[str, Value]:
    """The fields of a record of a specification; the checker has seen to its type."""
    assert isinstance(value, Record)
    return dict(value.fields)


def items(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, ListValue)
    return value.items


def text(value: Value) -> str:
    assert isinstance(value, str)
    return value
