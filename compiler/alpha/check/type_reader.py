"""Types as written, to types of the core."""

from __future__ import annotations

import re
from collections.abc import Callable

from alpha.base.dtype import Dtype
from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.check import errors_kinds, errors_names, errors_shapes
from alpha.check.builtin import AMOUNT_UNITS
from alpha.check.library_names import exposing
from alpha.check.scope import AliasEntity, ModelEntity, ModuleScope, TypeEntity
from alpha.check.solver import AMOUNT, BOOL, SCALAR
from alpha.core.dim import Dim
from alpha.core.substitute import in_type
from alpha.core.types import (
    Constraint,
    Element,
    Function,
    Index,
    Kind,
    Named,
    Shape,
    Tensor,
    TupleType,
    Type,
    TypeArgument,
    TypeVar,
)
from alpha.diagnostics.diagnostic import Diagnostic, Reported
from alpha.syntax import tree

DTYPES = {dtype.value: dtype for dtype in Dtype}
_POISONED = TypeVar("!type")
"""Its fault is reported where it is made."""
_CONSTRAINED = re.compile(r"(eq|ord|num)[0-9']*")


@record(frozen=False)
class Variables:
    """Lower-case names of types. `open`: a name not seen yet becomes a variable (signatures, parameters)."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    open: bool = True

    def copy(self, *, open: bool) -> Variables:
        return Variables(dict(self.kinds), open)


@record(frozen=False)
class TypeReader:
    """Reads the types of one module. Faults are reported and give a poisoned type."""

    scope: ModuleScope
    report: Callable[[Diagnostic], Reported]
    variables: Variables
    on_model: Callable[[ModelEntity, tuple[Dim, ...], Span], None] | None = None
    """Called for every use of a model's type, so that its equations can be required."""

    def read(self, node: tree.Type) -> Type:
        if isinstance(node, tree.TVar):
            return self._variable(node)
        if isinstance(node, tree.TArrow):
            parts = []
            rest: tree.Type = node
            while isinstance(rest, tree.TArrow):
                parts.append(self.read(rest.parameter))
                rest = rest.result
            result = self.read(rest)
            for parameter in reversed(parts):
                result = Function(parameter, result)
            return result
        if isinstance(node, tree.TTuple):
            return TupleType(tuple([self.read(item) for item in node.items]))
        if isinstance(node, tree.TCon):
            return self._constructor(node, (), node.span)
        if isinstance(node, tree.TApply):
            if isinstance(node.head, tree.TCon):
                return self._constructor(node.head, node.arguments, node.span)
            if isinstance(node.head, tree.TVar) and node.head.name == "index":
                return Tensor(self.element(node), SCALAR)
            return self._poison(
                errors_kinds.takes_no_arguments(node.head.span, node.head.span.text)
            )
        if isinstance(node, tree.TRecord):
            return self._poison(errors_kinds.record_type_here(node.span))
        return self._poison(errors_kinds.wrong_kind(node.span, "a type", "a size or a shape"))

    # ---- names -----------------------------------------------------------------------------------------------------

    def _variable(self, node: tree.TVar) -> Type:
        dtype = DTYPES.get(node.name)
        if dtype is not None:
            return Tensor(dtype, SCALAR)
        if node.name == "index":
            return self._poison(errors_kinds.index_without_size(node.span))
        known = self.variables.kinds.get(node.name)
        if known is Kind.ELEMENT:
            return Tensor(TypeVar(node.name), SCALAR)
        if not self._declare(node.name, Kind.TYPE, node.span):
            return _POISONED
        match = _CONSTRAINED.fullmatch(node.name)
        return TypeVar(node.name, Constraint(match[1]) if match else None)

    def _declare(self, name: str, kind: Kind, span: Span) -> bool:
        known = self.variables.kinds.get(name)
        if known is None:
            if not self.variables.open:
                self.report(
                    errors_names.unknown(span, name, _KIND_WORDS[kind], self.variables.kinds)
                )
                return False
            self.variables.kinds[name] = kind
        elif known is not kind:
            self.report(errors_kinds.two_kinds(span, name, _KIND_WORDS[known], _KIND_WORDS[kind]))
            return False
        return True

    def _poison(self, diagnostic: Diagnostic) -> Type:
        self.report(diagnostic)
        return _POISONED

    # ---- applications ----------------------------------------------------------------------------------------------

    def _constructor(self, head: tree.TCon, arguments: tuple[tree.Type, ...], span: Span) -> Type:
        name = ".".join(part.text for part in head.path)
        if name == "Tensor":
            return self._tensor(arguments, span)
        entity = self.lookup(head)
        if entity is None:
            if len(head.path) == 1:
                if name == "Bool" and not arguments:
                    return BOOL
                if name in AMOUNT_UNITS and not arguments:
                    return AMOUNT
            names = [*self.scope.types, *[n for s in self.scope.outer for n in s.types], "Tensor"]
            elsewhere = exposing(name) if len(head.path) == 1 else ()
            return self._poison(errors_names.unknown(head.span, name, "type", names, elsewhere))
        if isinstance(entity, ModelEntity):
            kinds = entity.kinds
        else:
            kinds = entity.parameters
        values = self._arguments(name, kinds, arguments, span)
        if values is None:
            return _POISONED
        if isinstance(entity, AliasEntity):
            return in_type(entity.type, {n: v for (n, _), v in zip(kinds, values, strict=True)})
        symbol = entity.symbol if not hasattr(entity, "name") else entity.name
        if isinstance(entity, ModelEntity) and self.on_model is not None:
            self.on_model(entity, tuple([d for d in values if isinstance(d, Dim)]), span)
        return Named(symbol, values)

    def lookup(self, head: tree.TCon) -> TypeEntity | None:
        name = head.path[-1].text
        if len(head.path) == 1:
            entity = self.scope.type(name)
            if entity is not None:
                self.scope.used.add(_symbol(entity))
            return entity
        module = self.scope.modules.get(".".join(part.text for part in head.path[:-1]))
        if module is None or not module.exports(name):
            return None
        return module.types.get(name)

    def _arguments(
        self,
        name: str,
        kinds: tuple[tuple[str, Kind], ...],
        arguments: tuple[tree.Type, ...],
        span: Span,
    ) -> tuple[TypeArgument, ...] | None:
        """The arguments by kind: type parameters one by one, then the dimensions in one pair of brackets."""
        trees: list[tree.Type | tree.Dim] = []
        dims = [k for _, k in kinds if k is Kind.DIM]
        for argument in arguments:
            if isinstance(argument, tree.TDims) and dims and len(trees) + len(dims) == len(kinds):
                spread = next((i for i in argument.items if isinstance(i, tree.Spread)), None)
                if spread is not None:
                    self.report(errors_kinds.wrong_kind(spread.span, "a dimension", "axes"))
                    return None
                trees.extend(i for i in argument.items if not isinstance(i, tree.Spread))
            else:
                trees.append(argument)
        if len(trees) != len(kinds):
            self.report(errors_kinds.argument_count(span, name, kinds, len(trees)))
            return None
        values: list[TypeArgument] = []
        for item, (_, kind) in zip(trees, kinds, strict=True):
            if kind is Kind.DIM:
                values.append(self.size(item))
            elif isinstance(item, tree.DimInt | tree.DimVar | tree.DimBinary):
                self.report(errors_kinds.wrong_kind(item.span, _KIND_WORDS[kind], "a dimension"))
                return None
            elif kind is Kind.TYPE:
                values.append(self.read(item))
            elif kind is Kind.ELEMENT:
                values.append(self.element(item))
            else:
                values.append(self.shape(item))
        return tuple(values)

    def _tensor(self, arguments: tuple[tree.Type, ...], span: Span) -> Type:
        if len(arguments) != 2:
            kinds = (("dtype", Kind.ELEMENT), ("shape", Kind.SHAPE))
            return self._poison(errors_kinds.argument_count(span, "Tensor", kinds, len(arguments)))
        return Tensor(self.element(arguments[0]), self.shape(arguments[1]))

    # ---- parts of a tensor type ------------------------------------------------------------------------------------

    def element(self, node: tree.Type) -> Element:
        if isinstance(node, tree.TVar):
            dtype = DTYPES.get(node.name)
            if dtype is not None:
                return dtype
            if node.name == "index":
                self.report(errors_kinds.index_without_size(node.span))
                return _POISONED
            return (
                TypeVar(node.name)
                if self._declare(node.name, Kind.ELEMENT, node.span)
                else _POISONED
            )
        if (
            isinstance(node, tree.TApply)
            and isinstance(node.head, tree.TVar)
            and node.head.name == "index"
        ):
            if len(node.arguments) != 1:
                kinds = (("n", Kind.DIM),)
                self.report(
                    errors_kinds.argument_count(node.span, "index", kinds, len(node.arguments))
                )
                return _POISONED
            return Index(self.size(node.arguments[0]))
        self.report(errors_kinds.wrong_kind(node.span, "a dtype", "something else"))
        return _POISONED

    def shape(self, node: tree.Type) -> Shape:
        if isinstance(node, tree.TVar):
            if node.name in DTYPES or not self._declare(node.name, Kind.SHAPE, node.span):
                return Shape((), "!shape")
            return Shape((), node.name)
        if not isinstance(node, tree.TDims):
            self.report(errors_kinds.wrong_kind(node.span, "a shape in brackets", "something else"))
            return Shape((), "!shape")
        lead: str | None = None
        axes: list[Dim] = []
        for place, item in enumerate(node.items):
            if not isinstance(item, tree.Spread):
                axes.append(self.dim(item))
            elif place:
                self.report(errors_kinds.spread_not_first(item.span, item.name))
                return Shape((), "!shape")
            else:
                if not self._declare(item.name, Kind.SHAPE, item.span):
                    return Shape((), "!shape")
                lead = item.name
        return Shape(tuple(axes), lead)

    def size(self, node: tree.Type | tree.Dim) -> Dim:
        """A dimension where a type argument stands: a name, a number, or an expression in brackets."""
        if isinstance(node, tree.TVar):
            return self.dim(tree.DimVar(node.name, span=node.span))
        if isinstance(node, tree.TInt):
            return self.dim(tree.DimInt(node.value, node.written, span=node.span))
        if isinstance(node, tree.DimInt | tree.DimVar | tree.DimBinary):
            return self.dim(node)
        if isinstance(node, tree.TDims) and len(node.items) == 1:
            only = node.items[0]
            if not isinstance(only, tree.Spread):
                return self.dim(only)
        self.report(errors_kinds.wrong_kind(node.span, "a dimension", "a type"))
        return Dim.variable("!dim")

    def dim(self, node: tree.Dim) -> Dim:
        value = self._dim(node)
        number = value.value
        if number is not None and number < 1:
            self.report(errors_shapes.size_below_one(node.span, number))
            return Dim.variable("!dim")
        return value

    def _dim(self, node: tree.Dim) -> Dim:
        if isinstance(node, tree.DimInt):
            return Dim.constant(node.value)
        if isinstance(node, tree.DimVar):
            if node.name in DTYPES or not self._declare(node.name, Kind.DIM, node.span):
                return Dim.variable("!dim")
            return Dim.variable(node.name)
        # Long sums lean to the left: the spine is walked, not recursed into.
        spine: list[tree.DimBinary] = []
        first: tree.Dim = node
        while isinstance(first, tree.DimBinary):
            spine.append(first)
            first = first.left
        left = self._dim(first)
        for part in reversed(spine):
            left = self._dim_binary(part, left, self._dim(part.right))
        return left

    def _dim_binary(self, node: tree.DimBinary, left: Dim, right: Dim) -> Dim:
        if node.operator == "+":
            return left + right
        if node.operator == "-":
            return left - right
        if node.operator == "*":
            return left * right
        if node.operator == "//" and right.value is not None:
            quotient = left.divided(right.value)
            if quotient is None:
                self.report(errors_shapes.does_not_divide(node.span, left, right.value))
                return Dim.variable("!dim")
            return quotient
        self.report(errors_shapes.no_dimension(node.span, node.operator))
        return Dim.variable("!dim")


_KIND_WORDS = {
    Kind.TYPE: "a type",
    Kind.DIM: "a dimension",
    Kind.SHAPE: "a shape",
    Kind.ELEMENT: "a dtype",
}


def scan_kinds(node: tree.Type, scope: ModuleScope, kinds: dict[str, Kind]) -> None:
    """Adds to `kinds` what the places of lower-case names say, so that a bare `t` may stand before `Tensor t s`."""
    if isinstance(node, tree.TArrow):
        scan_kinds(node.parameter, scope, kinds)
        scan_kinds(node.result, scope, kinds)
    elif isinstance(node, tree.TTuple):
        for item in node.items:
            scan_kinds(item, scope, kinds)
    elif isinstance(node, tree.TRecord):
        for part in node.fields:
            scan_kinds(part.type, scope, kinds)
    elif isinstance(node, tree.TDims):
        for dim in node.items:
            _scan_dim(dim, kinds)
    elif isinstance(node, tree.TApply):
        _scan_apply(node, scope, kinds)


def _scan_apply(node: tree.TApply, scope: ModuleScope, kinds: dict[str, Kind]) -> None:
    places: tuple[Kind, ...] = ()
    if isinstance(node.head, tree.TVar) and node.head.name == "index":
        places = (Kind.DIM,)
    elif isinstance(node.head, tree.TCon) and len(node.head.path) == 1:
        name = node.head.path[0].text
        entity = scope.type(name)
        if name == "Tensor":
            places = (Kind.ELEMENT, Kind.SHAPE)
        elif isinstance(entity, ModelEntity):
            places = tuple(kind for _, kind in entity.kinds)
        elif entity is not None:
            places = tuple(kind for _, kind in entity.parameters)
    for place, argument in enumerate(node.arguments):
        kind = places[place] if place < len(places) else Kind.TYPE
        if isinstance(argument, tree.TVar):
            if kind is not Kind.TYPE and argument.name not in DTYPES:
                kinds.setdefault(argument.name, kind)
        else:
            scan_kinds(argument, scope, kinds)


def _scan_dim(dim: tree.Dim | tree.Spread, kinds: dict[str, Kind]) -> None:
    if isinstance(dim, tree.Spread):
        kinds.setdefault(dim.name, Kind.SHAPE)
    elif isinstance(dim, tree.DimVar):
        kinds.setdefault(dim.name, Kind.DIM)
    else:
        while isinstance(dim, tree.DimBinary):
            _scan_dim(dim.right, kinds)
            dim = dim.left
        if isinstance(dim, tree.DimVar):
            kinds.setdefault(dim.name, Kind.DIM)


def _symbol(entity: TypeEntity) -> str:
    return entity.name if hasattr(entity, "name") else entity.symbol
