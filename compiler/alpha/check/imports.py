"""What modules expose to each other: E0109 for a name that is not exposed, W0001 for an import that is not used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from alpha.base.digest import sha256_text
from alpha.base.record import record
from alpha.base.span import Span
from alpha.check import module_errors as errors
from alpha.check.references import parts
from alpha.diagnostics.diagnostic import Diagnostic, Fix
from alpha.syntax import tree


@record
class Face:
    """What the imports of others see of a module. `declared` are the names of its top level with their places, `types`
    its types: whether it is a record, its name, and its fields or constructors."""

    name: str
    exposed: frozenset[str]
    declared: Mapping[str, Span | None]
    types: tuple[tuple[bool, str, tuple[str, ...]], ...]

    @staticmethod
    def of(module: tree.Module) -> Face:
        return Face(
            module.name, exposed_names(module), declared_names(module), tuple(_types(module))
        )

    @property
    def digest(self) -> str:
        """Equal for modules that are the same to those that import them."""
        types = [list(type_) for type_ in self.types]
        return sha256_text(repr([sorted(self.exposed), sorted(self.declared), types]))


def _types(module: tree.Module) -> Iterator[tuple[bool, str, tuple[str, ...]]]:
    for item in module.items:
        if isinstance(item, tree.TypeDecl):
            body = item.body
            named = body.fields if isinstance(body, tree.TRecord) else body
            inside = tuple([each.name.text for each in named])
            yield isinstance(body, tree.TRecord), item.name.text, inside


def check_imports(modules: Mapping[str, tree.Module], own: Set[str]) -> Iterator[Diagnostic]:
    """E0109 in all modules; W0001 in those that are the user's `own`."""
    faces = {name: Face.of(module) for name, module in modules.items()}
    for module in modules.values():
        yield from check_imports_of(module, faces, module.name in own)


def check_imports_of(
    module: tree.Module, faces: Mapping[str, Face], own: bool
) -> Iterator[Diagnostic]:
    """The same of one module. `faces` has at least the modules that it imports."""
    used = _used(module) if own else None
    for item in module.items:
        if not isinstance(item, tree.Import):
            continue
        imported = faces.get(".".join(part.text for part in item.path))
        if imported is None:
            continue  # its own fault is reported
        exposed = imported.exposed
        unused: list[tree.Name] = []
        for name in item.names:
            if name.text not in exposed:
                hidden = imported.declared.get(name.text)
                yield errors.not_exposed(name.span, name.text, imported.name, exposed, hidden)
            elif used is not None and not _is_used(imported, name.text, used):
                unused.append(name)
        if item.alias is not None and used is not None and item.alias.text not in used.names:
            unused.append(item.alias)
        for name in unused:
            fix = _removal(item, name, unused)
            yield errors.unused_import(name.span, name.text, imported.name, fix)


def _removal(item: tree.Import, name: tree.Name, unused: Sequence[tree.Name]) -> Fix:
    """The edit that takes `name`, or everything where nothing of the import is used, out of the import."""
    source, names = item.span.source, item.names
    end = item.span.end
    kept = [other for other in names if other not in unused]
    if not kept and (item.alias is None or item.alias in unused):
        start = source.text.rfind("\n", 0, item.path[0].span.start) + 1
        title, end = "remove the import", source.text.find("\n", end) + 1 or len(source.text)
        if source.text[:start].endswith("\n\n") and source.text.startswith("\n", end):
            end += 1  # one blank line is enough
    elif name is item.alias:
        start, end = item.path[-1].span.end, name.span.end
        title = f"remove `as {name.text}`"
    elif not kept:
        assert item.alias is not None
        start, title = item.alias.span.end, "remove the names"
    else:
        at = names.index(name)
        title = f"remove `{name.text}`"
        if any(other in kept for other in names[:at]):
            start, end = names[at - 1].span.end, name.span.end
        else:
            start, end = name.span.start, names[at + 1].span.start
    span = Span(source, start, end)
    return Fix(title, span, "", safe="--" not in span.text)


def declared_names(module: tree.Module) -> dict[str, Span]:
    """What a module declares at its top level, constructors included, with the places of the names."""
    declared: dict[str, Span] = {}
    for item in module.items:
        if isinstance(item, tree.Import):
            continue
        declared.setdefault(item.name.text, item.name.span)
        if isinstance(item, tree.TypeDecl) and not isinstance(item.body, tree.TRecord):
            for variant in item.body:
                declared.setdefault(variant.name.text, variant.name.span)
    return declared


def exposed_names(module: tree.Module) -> frozenset[str]:
    """What a module lets others import: all, or what `exposing` names; a type brings its constructors."""
    declared = declared_names(module)
    if module.exposing is None:
        return frozenset(declared)
    listed = {name.text for name in module.exposing} & set(declared)
    constructors = {part for type_ in _types(module) for part in _constructors(type_, listed)}
    return frozenset(listed | constructors)


def _constructors(type_: tuple[bool, str, tuple[str, ...]], names: Set[str]) -> tuple[str, ...]:
    """The constructors of a type, if it is one of `names` and no record."""
    is_record, name, inside = type_
    return inside if name in names and not is_record else ()


def _is_used(face: Face, name: str, used: _Used) -> bool:
    """Whether the import of `name` is used: by itself, by a constructor, or by a field of the record that it is."""
    if name in used.names:
        return True
    if any(used.names.intersection(_constructors(type_, {name})) for type_ in face.types):
        return True
    for is_record, each, inside in face.types:
        if is_record and each == name:
            return bool(used.fields.intersection(inside))
    return False


@record
class _Used:
    """The words of a module's declarations: those that stand as names, and those that stand as fields."""

    names: set[str]
    fields: set[str]


def _used(module: tree.Module) -> _Used:
    names, chosen = set[str](), set[str]()
    waiting: list[Any] = [item for item in module.items if not isinstance(item, tree.Import)]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is tuple:
            waiting.extend(node)
        elif kind in _NAMED:
            names.add(node.name)
        elif kind is tree.Name:
            names.add(node.text)
        elif kind is tree.Accessor:
            chosen.add(node.field)
        elif kind is tree.Select:
            chosen.add(node.field.text)
            waiting.append(node.value)
        elif kind is tree.Field:
            chosen.add(node.name.text)
            waiting.append(node.value)
        elif isinstance(node, tree.Node):
            waiting.extend([getattr(node, part) for part in parts(kind)])
    return _Used(names, chosen)


_NAMED = frozenset({tree.Var, tree.Con, tree.TVar, tree.DimVar})
