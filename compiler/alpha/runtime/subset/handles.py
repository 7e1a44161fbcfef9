"""Sources compiled as a library: the variables of the module live in a block that the caller hands in.

A program has one of every variable, and a call that ends it never returns. A library may be open many times in one
process and may end nothing, so the same sources are lowered otherwise:

* Every function that reads a variable, or calls one that does, takes the address of the block before its arguments.
* A `@noreturn` function returns once it has set the variable `LEFT`. Its caller returns at once, and so does every
  function between it and an `@entry`, which looks at `LEFT` itself.
* An `@entry` is what C calls: its first parameter is the block. An `@export` has none.
* What no entry and no export reaches is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping

from alpha.base.record import record
from alpha.runtime.subset.errors import SubsetError
from alpha.runtime.subset.scope import Function, Scope, Variable

LEFT = "left"
SIZE = "STATE_BYTES"
"""The constant of the sources that the size of the block becomes."""
DEFAULTS = "set_defaults"
"""The function that gives the variables of a zeroed block the values they start with."""
_ALIGN = 64


@record
class Handles:
    """`offsets` are the places of variables in the block of `size` bytes; `bound` the functions that take its address;
    `leaving` those that may return because something ended.
    """

    offsets: Mapping[str, int]
    size: int
    bound: frozenset[str]
    leaving: frozenset[str]
    reached: frozenset[str]


def handles_of(scope: Scope) -> Handles:
    """Raises `SubsetError` for an `@export` that would need a block."""
    uses = {name: _names(function) for name, function in scope.functions.items()}
    outside = {name for name, f in scope.functions.items() if f.decorators & {"export", "extern"}}
    entries = {name for name, f in scope.functions.items() if "entry" in f.decorators}
    exports = {name for name, f in scope.functions.items() if "export" in f.decorators}
    reached = _closed(entries | exports, lambda name: uses[name] & scope.functions.keys())
    places = {name for name, variable in scope.variables.items() if variable.storage != "linker"}
    used = {name for function in reached for name in uses[function] & places}
    inner = reached - entries - exports
    ending = {name for name in inner if "noreturn" in scope.functions[name].decorators}
    leaving = _callers(ending, reached - entries, uses)
    reading = {name for name in reached if uses[name] & places} | leaving
    bound = _callers(reading - entries, reached - entries, uses)
    for name in sorted(bound & outside):
        function = scope.functions[name]
        raise SubsetError(function.file, function.node, f"{name} has no block of variables")
    offsets, size = _placed(variable for name, variable in scope.variables.items() if name in used)
    return Handles(
        offsets, size, frozenset(bound | entries), frozenset(leaving), frozenset(reached)
    )


def defaults_ir(scope: Scope, handles: Handles) -> str:
    """The function `DEFAULTS`."""
    lines = [f"define internal void @{DEFAULTS}(ptr %block) nounwind {{"]
    for number, (name, offset) in enumerate(handles.offsets.items()):
        variable = scope.variables[name]
        if not variable.storage and variable.size:
            lines.append(f"  %p{number} = getelementptr i8, ptr %block, i64 {offset}")
            lines.append(f"  store {variable.type.llvm} {variable.size}, ptr %p{number}")
    return "\n".join([*lines, "  ret void", "}"])


def _placed(variables: Iterable[Variable]) -> tuple[dict[str, int], int]:
    """Scalars take 16 bytes; storage begins at a multiple of 64, as in a program."""
    offsets: dict[str, int] = {}
    end = 0
    for variable in sorted(variables, key=lambda each: bool(each.storage)):
        align = _ALIGN if variable.storage else 16
        end = -(-end // align) * align
        offsets[variable.name] = end
        end += variable.size if variable.storage else 16
    return offsets, -(-end // _ALIGN) * _ALIGN


def _names(function: Function) -> set[str]:
    return {node.id for node in ast.walk(function.node) if isinstance(node, ast.Name)} - {
        name for name, _ in function.parameters
    }


def _closed(start: Collection[str], following: Callable[[str], Collection[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(following(name))
    return found


def _callers(
    called: Collection[str], among: Collection[str], uses: Mapping[str, set[str]]
) -> set[str]:
    """The functions `called`, and those of `among` that use one of them, at any distance."""
    users: dict[str, list[str]] = {}
    for name in among:
        for other in uses[name]:
            users.setdefault(other, []).append(name)
    return _closed(called, lambda name: users.get(name, []))
