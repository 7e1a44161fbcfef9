"""The diagnostic, the sink that collects diagnostics, and the token that proves one was reported."""

from __future__ import annotations

from enum import Enum

from alpha.base.record import field, record
from alpha.base.span import Source, Span


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


@record
class Label:
    """A second place that takes part, with what it contributes (`batch = 32`, `first used here`)."""

    span: Span
    text: str


@record
class Fix:
    """A machine edit: replace the text of `span` by `replacement`. Only safe fixes are applied without asking."""

    title: str
    span: Span
    replacement: str
    safe: bool = False


@record
class Diagnostic:
    """One fault.

    `code` names the explanation page and its first letter the exit status; `message` is one sentence in the
    user's words; `span` is the smallest expression at fault (None when the fault has no place in a source, such
    as a missing file); `cause` says why it is refused; at most three `hints` say what would be accepted.
    """

    code: str
    message: str
    span: Span | None = None
    labels: tuple[Label, ...] = ()
    cause: str = ""
    hints: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    severity: Severity = Severity.ERROR


class Reported:
    """Proof that an error reached the sink. Only `Diagnostics.report` makes one; a poisoned value carries it."""

    __slots__ = ("diagnostic",)

    def __init__(self, diagnostic: Diagnostic, _key: object) -> None:
        if _key is not _SINK_KEY:
            raise TypeError("only the diagnostics sink makes Reported")
        self.diagnostic = diagnostic


_SINK_KEY = object()
_NAMES = frozenset({"E0101", "E0108", "E0109"})


@record(frozen=False)
class Diagnostics:
    """The sink of one session. Equal diagnostics are kept once, in the order they came."""

    items: list[Diagnostic] = field(default_factory=list)
    unread: dict[str, Diagnostic] = field(default_factory=dict)
    """Names whose declaration, or import, is at fault: that they are unknown is no news."""
    unsaid: int = 0
    """How often something was not said because of another fault."""
    _known: set[Diagnostic] = field(default_factory=set, repr=False)

    def report(self, diagnostic: Diagnostic) -> Reported:
        root = self._root(diagnostic)
        if root is not None:
            self.unsaid += 1
            return Reported(root, _SINK_KEY)
        if diagnostic not in self._known:
            self._known.add(diagnostic)
            self.items.append(diagnostic)
        return Reported(diagnostic, _SINK_KEY)

    def withdraw(self, source: Source, code: str) -> None:
        """Says nothing of `code` in a source after all, because of another fault."""
        kept = [
            item
            for item in self.items
            if item.code != code or item.span is None or item.span.source is not source
        ]
        self.unsaid += len(self.items) - len(kept)
        self.items[:] = kept

    def _root(self, diagnostic: Diagnostic) -> Diagnostic | None:
        """The fault that this one follows from; None if it stands for itself."""
        if not self.unread or diagnostic.span is None:
            return None
        if diagnostic.code in _NAMES:
            words = diagnostic.span.text.split(".")
            return next((self.unread[word] for word in words if word in self.unread), None)
        if (
            diagnostic.code == "E0306"
            or (diagnostic.code == "E0305" and diagnostic.span.text.startswith("{"))
        ):  # what is said of a record without a type may follow from any type that could not be read
            types = (root for name, root in self.unread.items() if name[:1].isupper())
            return next(types, None)
        return None

    @property
    def errors(self) -> list[Diagnostic]:
        return [item for item in self.items if item.severity is Severity.ERROR]


class Refused(Exception):
    """Ends a phase: at least one error is in `diagnostics`. Carries no other information and is never shown itself."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(f"{item.code}: {item.message}" for item in diagnostics))
        self.diagnostics = diagnostics
