"""Host declarations: the entries that fill the fields of a `PlanHost` (specification, section 21).

A host is a value of its record type. What drives the card (regions, recipes, scalars, the schedule, contracts) is
refused with E0011: this version derives no host program yet.
"""

from __future__ import annotations

from alpha.base.span import Span
from alpha.check import errors_declarations
from alpha.check.module_scope import Work
from alpha.check.policies import entries_of, entry_of, is_host
from alpha.check.scope import Value
from alpha.check.type_reader import TypeReader, Variables
from alpha.core import term
from alpha.core.types import Named, Scheme
from alpha.diagnostics.not_yet import not_yet
from alpha.syntax import tree

_LATER = {
    tree.Region: "a `region` of a host",
    tree.Recipe: "a `recipe` of a host",
    tree.HostScalar: "a `scalar` of a host",
    tree.Contract: "a `contract` of a host",
    tree.Schedule: "the `schedule` of a host",
}


def declare_host(work: Work, item: tree.HostDecl, value: Value) -> None:
    """The type of a host, as it is written."""
    before = len(work.diagnostics.errors)
    reader = TypeReader(work.scope, work.report, Variables(open=False))
    type_ = reader.read(item.type)
    if is_host(work, type_):
        value.scheme = Scheme((), type_)
        return
    errors = work.diagnostics.errors
    fault = errors_declarations.host_type(item.type.span, item.type.span.text)
    value.faulty = work.report(errors[-1] if len(errors) > before else fault)


def check_host(work: Work, item: tree.HostDecl, value: Value) -> None:
    """The host as a definition whose value is a record. What is not built yet is said once for each kind of item."""
    if value.scheme is None or item.name.span != value.span:
        return  # its type is at fault, or another host has its name
    good = not _refuse_later(work, item)
    type_ = value.scheme.type
    assert isinstance(type_, Named)
    fields = work.registry.records[type_.name].fields
    defines = tuple(each for each in item.items if isinstance(each, tree.Define))
    entries = entries_of(work, defines, "host", tuple(fields)) or {}
    good &= len(entries) == len(defines)
    made: list[tuple[str, term.Term]] = []
    for name, define in entries.items():
        found = entry_of(work, define, fields[name], "host")
        if found is None:
            good = False
        else:
            made.append((name, found))
    written = {define.name.text for define in defines}
    for name in fields:
        if name not in written:
            host = item.name.text
            work.report(errors_declarations.missing_entry(item.name.span, "host", host, name))
            good = False
    if good:
        record = term.RecordTerm(tuple(made), span=item.span, type=type_)
        definition = term.Definition(value.symbol, value.scheme, record, item.span)
        work.definitions.append(definition)


def _refuse_later(work: Work, item: tree.HostDecl) -> bool:
    """E0011 at the first item of each kind that a derived host would need; whether there is one."""
    places: dict[str, Span] = {}
    for each in item.items:
        what = _LATER.get(type(each))
        if what is not None:
            places.setdefault(what, each.span)
    for what, span in places.items():
        work.report(not_yet(what, span))
    return bool(places)
