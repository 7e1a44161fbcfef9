"""What modules expose to each other: E0109 for a name that is not exposed, W0001 for an import that is not used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from alpha.base.digest import sha256_text
from alpha.base.record import fields, record
from alpha.base.span import Span
from alpha.check import module_errors as errors
from alpha.diagnostics.diagnostic import Diagnostic, Fix
from alpha.syntax import tree


def check_imports(modules: Mapping[str, tree.Module], own: Set[str]) -> Iterator[Diagnostic]:
    """E0109 in all modules; W0001 in those that are the user's `own`."""
    for module in modules.values():
        yield from check_imports_of(module, modules, module.name in own)


def check_imports_of(
    module: tree.Module, modules: Mapping[str, tree.Module], own: bool
) -> Iterator[Diagnostic]:
    """The same of one module. `modules` has at least those that it imports; all that counts of them is their `face`."""
    used = _used(module) if own else None
    for item in module.items:
        if not isinstance(item, tree.Import):
            continue
        imported = modules.get(".".join(part.text for part in item.path))
        if imported is None:
            continue  # its own fault is reported
        exposed = exposed_names(imported)
        unused: list[tree.Name] = []
        for name in item.names:
            if name.text not in exposed:
                hidden = declared_names(imported).get(name.text)
                yield errors.not_exposed(name.span, name.text, imported.name, exposed, hidden)
            elif used is not None and not _is_used(imported, name.text, used):
                unused.append(name)
        if item.alias is not None and used is not None and item.alias.text not in used.names:
            unused.append(item.alias)
        for name in unused:
            fix = _removal(item, name, unused)
            yield errors.unused_import(name.span, name.text, imported.name, fix)


def face(module: tree.Module) -> str:
    """The digest of what `check_imports` sees of a module that others import."""
    parts = [sorted(exposed_names(module)), sorted(declared_names(module))]
    for item in module.items:
        if isinstance(item, tree.TypeDecl):
            body = item.body
            named = body.fields if isinstance(body, tree.TRecord) else body
            parts.append([type(body).__name__, item.name.text, *(each.name.text for each in named)])
    return sha256_text(repr(parts))


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
    if module.exposing is None:
        return frozenset(declared_names(module))
    listed = {name.text for name in module.exposing} & set(declared_names(module))
    return frozenset(name for text in listed for name in _with_constructors(module, text))


def _with_constructors(module: tree.Module, name: str) -> set[str]:
    names = {name}
    for item in module.items:
        if (
            isinstance(item, tree.TypeDecl)
            and item.name.text == name
            and not isinstance(item.body, tree.TRecord)
        ):
            names |= {variant.name.text for variant in item.body}
    return names


def _is_used(module: tree.Module, name: str, used: _Used) -> bool:
    """Whether the import of `name` is used: by itself, by a constructor, or by a field of the record that it is."""
    if used.names & _with_constructors(module, name):
        return True
    for item in module.items:
        if (
            isinstance(item, tree.TypeDecl)
            and item.name.text == name
            and isinstance(item.body, tree.TRecord)
        ):
            return bool(used.fields & {field.name.text for field in item.body.fields})
    return False


@record
class _Used:
    """The words of a module's declarations: those that stand as names, and those that stand as fields."""

    names: set[str]
    fields: set[str]


def _used(module: tree.Module) -> _Used:
    used = _Used(set(), set())
    waiting: list[object] = [item for item in module.items if not isinstance(item, tree.Import)]
    while waiting:
        node = waiting.pop()
        match node:
            case tuple():
                waiting.extend(node)
            case tree.Name(text):
                used.names.add(text)
            case tree.Var(name) | tree.Con(name) | tree.TVar(name) | tree.DimVar(name):
                used.names.add(name)
            case tree.Accessor(field):
                used.fields.add(field)
            case tree.Select(value, selected):
                used.fields.add(selected.text)
                waiting.append(value)
            case tree.Field(named, value):
                used.fields.add(named.text)
                waiting.append(value)
            case tree.Node():
                waiting.extend(getattr(node, part.name) for part in fields(node))
            case _:
                pass
    return used
