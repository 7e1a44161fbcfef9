"""What names mean where a term stands: its variables, and what the variables of its types stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from alpha.base.record import field, record
from alpha.core.term import LetGeneral
from alpha.core.types import TypeArgument

V = TypeVar("V")


@record(eq=False)
class General(Generic[V]):
    """A local function that waits for its type arguments."""

    term: LetGeneral
    scope: Scope[V]


@record(eq=False)
class Scope(Generic[V]):
    """A chain of bindings, innermost first. Scopes are never changed, so a closure may keep the one it was written in.

    `types` maps every type, dimension, shape and element variable in scope to what it stands for here.
    """

    types: Mapping[str, TypeArgument]
    names: Mapping[str, V | General[V]] = field(default_factory=dict)
    parent: Scope[V] | None = None

    def find(self, name: str) -> V | General[V]:
        scope: Scope[V] | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        raise KeyError(name)

    def bound(self, names: Mapping[str, V | General[V]]) -> Scope[V]:
        """This scope with more names; itself if there are none."""
        return Scope(self.types, names, self) if names else self

    def typed(self, types: Mapping[str, TypeArgument]) -> Scope[V]:
        """This scope with more type variables."""
        return Scope({**self.types, **types}, {}, self) if types else self
