"""The layers between modules: a system names no device (E0201), and no build holds a reference module (E0202)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from alpha.base.span import Span
from alpha.check import module_errors as errors
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.syntax import tree

_SYSTEM_PARTS = {
    tree.ModelDecl: "model",
    tree.OptimizerDecl: "optimizer",
    tree.LearnerDecl: "learner",
    tree.PolicyDecl: "policy",
}


def is_reference(name: str) -> bool:
    return name.split(".")[0] == "Reference"


def check_layers(modules: Mapping[str, tree.Module]) -> Iterator[Diagnostic]:
    """One E0201 for each import of a system's module from which a `Platform.*` module is reached."""
    reaching = _reaching(modules)
    for module in modules.values():
        kind = next(
            (_SYSTEM_PARTS[type(item)] for item in module.items if type(item) in _SYSTEM_PARTS),
            None,
        )
        if kind is None or module.name.startswith("Platform."):
            continue
        for item in module.items:
            if isinstance(item, tree.Import) and _dotted(item) in reaching:
                path = _to_platform(_dotted(item), modules)
                if path:
                    yield errors.system_names_device(_place(item), kind, (module.name, *path))


def _reaching(modules: Mapping[str, tree.Module]) -> set[str]:
    """The modules `Platform.*` and those that import one, directly or not."""
    importing: dict[str, list[str]] = {}
    for module in modules.values():
        for item in module.items:
            if isinstance(item, tree.Import):
                importing.setdefault(_dotted(item), []).append(module.name)
    waiting = [name for name in (*modules, *importing) if name.startswith("Platform.")]
    found = set(waiting)
    while waiting:
        for name in importing.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def _to_platform(start: str, modules: Mapping[str, tree.Module]) -> tuple[str, ...]:
    """The shortest path of imports from `start` to a module `Platform.*`; empty if there is none."""
    paths: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = [start]
    for name in waiting:  # grows as it is walked
        if name.startswith("Platform."):
            return paths[name]
        module = modules.get(name)
        for item in module.items if module else ():
            if isinstance(item, tree.Import) and (imported := _dotted(item)) not in paths:
                paths[imported] = (*paths[name], imported)
                waiting.append(imported)
    return ()


def _dotted(item: tree.Import) -> str:
    return ".".join(part.text for part in item.path)


def _place(item: tree.Import) -> Span:
    return item.path[0].span.to(item.path[-1].span)
