"""Declarations and their items as documents, with the columns that a group of neighbours shares."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from alpha.syntax import tree as t
from alpha.syntax.format_doc import (
    WIDTH,
    Break,
    Doc,
    Either,
    Hard,
    Word,
    concat,
    flat_width,
    flattened,
    group,
    joined,
    nest,
    words,
)
from alpha.syntax.format_expr import ATOM, PIPE, body, expr
from alpha.syntax.format_type import broken_between, dim, opening, pattern, record_type, type_, word

_BLANK = re.compile(r"\n *\n")

Cells = list[Doc]
"""The columns of an item: each but the first begins with the `=`, `:` or `from` that is aligned."""


def documented(docs: Sequence[str], node: t.Node, shown: Doc) -> Doc:
    """A declaration below its doc comment. The comment's lines take the declaration's place in the source."""
    lines: list[Doc] = []
    for line in docs:
        text = f"--| {line}".rstrip(" ")
        lines += [Word(text, node.span.start, node.span.start), Hard()]
    return concat(*lines, shown)


def names(nodes: Sequence[t.Name]) -> Doc:
    return joined(", ", [word(node, node.text) for node in nodes])


def name_list(nodes: Sequence[t.Name]) -> Doc:
    """`(a, b)`, or a line for each with leading commas; broken only for want of room."""
    parts: list[Doc] = [Either("(", "( ")]
    for number, node in enumerate(nodes):
        parts += [Break(""), Word(", ")] if number else []
        parts.append(word(node, node.text))
    return concat(nest(2, concat(Break(), group(concat(*parts, Break(""), ")"))), broken=True))


def header(module: t.Module) -> Doc:
    path = joined(".", [word(name, name.text) for name in module.path])
    shown: Doc = concat(opening(module, "module"), " ", path)
    if module.exposing is not None:
        shown = group(concat(shown, " exposing", name_list(module.exposing)))
    if module.budget is not None:
        shown = concat(shown, f" budget {module.budget:_}")
    return documented(module.docs, module, shown)


def import_(node: t.Import) -> Doc:
    shown: Doc = concat(
        opening(node, "import"), " ", joined(".", [word(name, name.text) for name in node.path])
    )
    if node.alias is not None:
        shown = concat(shown, " as ", word(node.alias, node.alias.text))
    if node.names:
        shown = group(concat(shown, name_list(node.names)))
    return shown


def items(nodes: Sequence[t.Documented]) -> list[Doc]:
    """The items of a block or a module, neighbours of one kind aligned with each other."""
    shown: list[Doc] = []
    start = 0
    while start < len(nodes):
        end = start + 1
        while end < len(nodes) and aligned(nodes[end - 1], nodes[end]):
            end += 1
        rows = [_cells(node) for node in nodes[start:end]]
        widths = _widths(rows)
        for node, row in zip(nodes[start:end], rows, strict=True):
            padded: list[Doc | str] = []
            for column, cell in enumerate(row):
                if column < len(row) - 1 and not cell.forced:
                    padded += [flattened(cell), " " * max(0, widths[column] - flat_width(cell))]
                else:
                    padded.append(cell)
            shown.append(documented(node.docs, node, concat(*padded)))
        start = end
    return shown


def aligned(first: t.Node, second: t.Node) -> bool:
    """Whether two neighbours share columns: they are on adjacent lines, and of one kind that has columns."""
    if type(first) is not type(second) or not (
        isinstance(first, _COLUMNS) and isinstance(second, _COLUMNS)
    ):
        return False
    if second.docs or not (_has_columns(first) and _has_columns(second)):
        return False
    between = first.span.source.text[first.span.end : second.span.start]
    return _BLANK.search(between) is None and "--" not in between


_COLUMNS = (
    t.Define, t.Fact, t.Parameter, t.Slot, t.Region, t.Recipe, t.HostScalar, t.Contract, t.SourceDecl, t.TypeDecl,
    t.AliasDecl,
)  # fmt: skip
_WIDEST_GAP = 20
_WIDEST_HEAD = 20
"""Of a type in columns; what stands behind then has at least WIDTH - 20, so padding never breaks its line."""


def _has_columns(node: t.Documented) -> bool:
    if isinstance(node, t.Define):
        return not node.parameters
    if isinstance(node, t.TypeDecl | t.AliasDecl):
        head, rest = _cells(node)
        narrow = flat_width(head) <= _WIDEST_HEAD and flat_width(rest) <= WIDTH - _WIDEST_HEAD
        return narrow and not rest.forced
    return True


def _widths(rows: Sequence[Cells]) -> list[int]:
    """The width of each column but the last. A cell that is much wider than the narrowest counts for none."""
    widths = []
    for column in range(max([len(row) for row in rows]) - 1):
        cells = [row[column] for row in rows if len(row) > column + 1]
        sizes = [flat_width(cell) for cell in cells if not cell.forced]
        widths.append(max([size for size in sizes if size <= min(sizes) + _WIDEST_GAP], default=0))
    return widths


def _cells(node: t.Documented) -> Cells:
    """The columns of a declaration or an item."""
    return _MAKERS[type(node)](node)


def _block(head: Doc, nodes: Sequence[t.Documented]) -> Cells:
    lines: list[Doc] = []
    before: t.Documented | None = None
    for node, shown in zip(nodes, items(nodes), strict=True):
        gap = "none" if before is None else "join" if defines(before, node) else "author"
        lines += [Hard(gap), shown]
        before = node
    return [concat(head, " =", nest(2, concat(*lines)))]


def defines(first: t.Node, second: t.Node) -> bool:
    """Whether `second` is the definition of the signature `first`."""
    return (
        isinstance(first, t.Signature)
        and isinstance(second, t.Define)
        and first.name == second.name
    )


def _head(node: t.Node, keyword: str, name: t.Name, *more: Doc) -> Doc:
    return concat(joined(" ", [opening(node, keyword), word(name, name.text), *more]))


def _parameters(patterns: Sequence[t.Pattern]) -> list[Doc]:
    return [pattern(item, argument=True) for item in patterns]


def _where(equations: Sequence[t.Equation]) -> Doc:
    if not equations:
        return Word("")
    shown = [
        concat(word(equation.name, equation.name.text), " = ", dim(equation.dim))
        for equation in equations
    ]
    return nest(2, concat(Break(), "where ", joined(", ", shown)))


def _equals(node: t.Body, before: t.Node) -> Doc:
    return concat(" =", body(node, before, "="))


def _equals_expr(node: t.Expr, before: t.Node) -> Doc:
    return _equals(t.Body((), node, span=node.span), before)


def _define(node: t.Define) -> Cells:
    head = joined(" ", [word(node.name, node.name.text), *_parameters(node.parameters)])
    return [head, _equals(node.body, node.parameters[-1] if node.parameters else node.name)]


def _signature(node: t.Signature) -> Cells:
    type_of = type_(node.type)
    head = concat(word(node.name, node.name.text), " : ", type_of)
    broken = bool(node.where) and (type_of.forced or broken_between(node.type, node.where[0]))
    return [group(concat(head, _where(node.where)), broken)]


def _type(node: t.TypeDecl) -> Cells:
    head, before = _type_head(node, "type")
    if isinstance(node.body, t.TRecord):
        record = record_type(node.body)
        broken = record.forced or broken_between(before, node.body, "=")
        return [head, concat(" =", group(nest(2, concat(Break(), record), broken=True), broken))]
    parts: list[Doc] = []
    for variant in node.body:
        words_of = [
            word(variant.name, variant.name.text),
            *[type_(a, 2) for a in variant.arguments],
        ]
        one = nest(2, joined(" ", words_of))
        parts += [Break(), Word("| "), one] if parts else [Break(), one]
    neighbours = [before, *node.body]
    broken = any(broken_between(a, b) for a, b in pairwise(neighbours))
    shown = nest(2, concat(*parts))
    return [head, concat(" =", group(shown, broken or shown.forced))]


def _type_head(node: t.TypeDecl | t.AliasDecl, keyword: str) -> tuple[Doc, t.Node]:
    """The part in front of `=`, and the node that ends it."""
    parameters: list[Doc] = [word(name, name.text) for name in node.parameters]
    before: t.Node = node.parameters[-1] if node.parameters else node.name
    if node.dims is not None:
        parameters.append(type_(node.dims))
        before = node.dims
    return _head(node, keyword, node.name, *parameters), before


def _alias(node: t.AliasDecl) -> Cells:
    head, before = _type_head(node, "alias")
    value = type_(node.type)
    broken = value.forced or broken_between(before, node.type, "=")
    return [head, concat(" =", group(nest(2, concat(Break(), value), broken=True), broken))]


def _fact(node: t.Fact) -> Cells:
    amount = expr(node.amount, PIPE)
    if "from" in words(amount):  # a variable of that name
        amount = concat("(", amount, ")")
    evidence = concat(" from ", word(node.grade, node.grade.text), " ", expr(node.source, ATOM))
    return [_head(node, node.kind, node.name), concat(" = ", amount), evidence]


def _model(node: t.ModelDecl) -> Cells:
    words_of = concat(_head(node, "model", node.name, type_(node.dims)), _where(node.where))
    head = group(words_of, bool(node.where) and broken_between(node.dims, node.where[0]))
    return _block(head, node.items)


def _parameter(node: t.Parameter) -> Cells:
    cells: Cells = [
        concat(opening(node, "param"), " ", names(node.names)),
        concat(" : ", type_(node.type)),
    ]
    return (
        cells if node.initialiser is None else [*cells, _equals_expr(node.initialiser, node.type)]
    )


def _metric(node: t.Metric) -> Cells:
    head = _head(node, "metric", node.name, *_parameters(node.parameters))
    return [head, _equals(node.body, node.parameters[-1] if node.parameters else node.name)]


def _optimizer(node: t.OptimizerDecl) -> Cells:
    return _block(_head(node, "optimizer", node.name, *_parameters(node.parameters)), node.items)


def _typed(node: t.ProfileDecl | t.HostDecl, keyword: str) -> Doc:
    return concat(_head(node, keyword, node.name), " : ", type_(node.type))


def _region(node: t.Region) -> Cells:
    head = _head(node, "region", node.name)
    return [head, concat(" : ", type_(node.type)), concat(_equals_expr(node.size, node.type))]


def _recipe(node: t.Recipe) -> Cells:
    launch = concat(" = launch ", expr(node.program, ATOM), " with ", expr(node.regions))
    return [_head(node, "recipe", node.name), launch]


def _scalar(node: t.HostScalar) -> Cells:
    head = _head(node, "scalar", node.name)
    return [head, concat(" : ", type_(node.type)), _equals_expr(node.value, node.type)]


def _schedule(node: t.Schedule) -> Cells:
    return [concat(opening(node, "schedule"), " =", _acts(node.acts))]


def _acts(acts: Sequence[t.Act]) -> Doc:
    lines: list[Doc] = []
    for act in acts:
        lines += [Hard("author" if lines else "none"), _act(act)]
    return nest(2, concat(*lines))


def _every(count: t.Expr | None) -> Doc:
    return Word("") if count is None else concat(" every ", expr(count))


def _act(node: t.Act) -> Doc:
    match node:
        case t.Write():
            return concat(opening(node, "write"), " ", names(node.names))
        case t.Read():
            return concat(opening(node, "read"), " ", names(node.names), _every(node.every))
        case t.Submit():
            after = concat(" after ", word(node.after, node.after.text)) if node.after else Word("")
            return concat(opening(node, "submit"), " ", word(node.recipe, node.recipe.text), after)
        case t.Repeat():
            head = concat(opening(node, "repeat"), " ", expr(node.count, ATOM))
            every = Word("") if node.every is None else concat(" every ", expr(node.every, ATOM))
            return concat(head, every, _acts(node.acts))
        case t.Reissue():
            on = concat(opening(node, "reissue"), " on ", word(node.on, node.on.text))
            within = concat(" within ", word(node.within, node.within.written))
            return concat(on, within, " at most ", word(node.most, node.most.written))


_Maker = Callable[..., Cells]

_MAKERS: dict[type[t.Node], _Maker] = {
    t.Import: lambda node: [import_(node)],
    t.TypeDecl: _type,
    t.AliasDecl: _alias,
    t.Signature: _signature,
    t.Define: _define,
    t.SourceDecl: lambda node: [_head(node, "source", node.name), _equals(node.body, node.name)],
    t.ProofDecl: lambda node: [
        concat(_head(node, node.kind, node.name), _equals(node.body, node.name))
    ],
    t.RejectsDecl: lambda node: [
        concat(
            opening(node, "rejects"),
            f" {node.code} ",
            word(node.name, node.name.text),
            _equals(node.body, node.name),
        )
    ],
    t.FactsDecl: lambda node: _block(_head(node, "facts", node.name), node.facts),
    t.ProfileDecl: lambda node: _block(_typed(node, "profile"), node.items),
    t.Fact: _fact,
    t.Include: lambda node: [_head(node, "include", node.name)],
    t.ModelDecl: _model,
    t.Parameter: _parameter,
    t.OptimizerDecl: _optimizer,
    t.Slot: lambda node: [_head(node, "slot", node.name), _equals_expr(node.value, node.name)],
    t.LearnerDecl: lambda node: _block(_head(node, "learner", node.name), node.items),
    t.Metric: _metric,
    t.PolicyDecl: lambda node: _block(_head(node, "policy", node.name), node.entries),
    t.PairingDecl: lambda node: _block(_head(node, "pairing", node.name), node.entries),
    t.HostDecl: lambda node: _block(_typed(node, "host"), node.items),
    t.Region: _region,
    t.Recipe: _recipe,
    t.HostScalar: _scalar,
    t.Contract: lambda node: [_head(node, "contract", node.name), _equals(node.body, node.name)],
    t.Schedule: _schedule,
}
