"""What a name in scope stands for, and what waits, while a definition is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from alpha.base.record import record
from alpha.base.span import Span
from alpha.check.scope import Value, Where
from alpha.core import term
from alpha.core.dim import Answer, Dim
from alpha.core.types import (
    Scheme,
    Type,
)
from alpha.diagnostics.diagnostic import Diagnostic, Label


@record
class Variable:
    """A name bound by a pattern."""

    type: Type
    span: Span


@record
class LocalFunction:
    """A generalised local function. `where` are the equations of its signature, if it has one."""

    scheme: Scheme
    span: Span
    where: Where = ()


@record
class Dimension:
    """A dimension name, which is an `Int` in expressions."""

    span: Span


@record
class OwnParameter:
    """A parameter of the model whose function is checked: `self.name`."""

    name: str
    type: Type
    span: Span


@record
class OwnFunction:
    """A function of the same model (`self` is passed on) or of the same learner.

    `batch` is the free dimension of a learner, which is one and the same in all its functions.
    """

    value: Value
    self_type: Type | None
    span: Span
    batch: str = ""


Entry = Variable | LocalFunction | Dimension | OwnParameter | OwnFunction


@record(frozen=False)
class Hole:
    """Stands in the term of something that waits; filled once its types are known."""

    span: Span
    type: Type
    filled: term.Term | None = None

    @property
    def term(self) -> term.Term:
        """The hole where a term is wanted. `finish` puts what fills it in its place, so no other level meets one."""
        return cast("term.Term", self)


@record(frozen=False)
class Waiting:
    """`attempt` says whether it is settled; `give_up` reports why it never was. `types` is what it waits for."""

    attempt: Callable[[], bool]
    give_up: Callable[[], None]
    types: tuple[Type, ...]


@record
class Blame:
    """Where an expected type comes from, for the second label of a message."""

    span: Span
    text: str | Callable[[], str] = ""


@record
class Equation:
    """Two dimensions that must be equal, once enough of them is known."""

    left: Dim
    right: Dim
    span: Span
    labels: tuple[Label, ...]
    refuse: Refuse | None = None


Refuse = Callable[[Dim, Dim, Answer], Diagnostic | None]
"""Makes the message when two sizes differ or are undecided; None for the usual one."""
