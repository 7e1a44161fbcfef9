"""The law of the core, checked after every step that makes or changes it.

LAW lists the invariants; the code below checks exactly those. Types are derived again from the parts of each term and
compared with the type it carries. Sizes agree when they are not known to differ, because the equations behind `where`
that make them equal belong to the checker.
"""

from __future__ import annotations

from collections.abc import Mapping

from alpha.base.dtype import Dtype
from alpha.core import term
from alpha.core.dim import Answer, Dim, equal
from alpha.core.substitute import in_type, instantiate
from alpha.core.term import Program, Term
from alpha.core.type_text import type_text
from alpha.core.types import (
    Function,
    Index,
    Named,
    Scheme,
    Shape,
    Tensor,
    TupleType,
    Type,
    TypeArgument,
)
from alpha.core.walk import children

LAW = {
    "closed": "every variable is bound around its use, every symbol is defined in the program",
    "arguments": "a use passes one argument for each variable of its scheme",
    "derived": "the type of every term is the one its parts give",
    "applied": "a function is applied to arguments of its parameter types",
    "branches": "branches and arms have the type of the whole, and a condition is a Bool",
    "fields": "records hold exactly the fields of their type, selections name one of them",
    "named": "no type holds an unknown of inference",
}

_BOOL = Tensor(Dtype.BOOL, Shape(()))
_INT = Named("Int")


class CoreError(AssertionError):
    """A broken invariant: always a fault of the compiler. `law` is a key of `LAW`."""

    def __init__(self, law: str, where: object, message: str) -> None:
        super().__init__(f"core law {law!r} is broken at {where}: {message}")
        self.law = law


def verify(program: Program) -> None:
    """Raises `CoreError` if `program` breaks the law."""
    checker = _Checker(program)
    for module in program.modules:
        for definition in module.definitions:
            if definition.value is not None:
                checker.check(definition.value, {})
                checker.same(definition.value, definition.scheme.type, "derived")
        for model in module.models:
            for parameter in model.parameters:
                if parameter.initialiser is not None:
                    checker.check(parameter.initialiser, {})
                    checker.same(parameter.initialiser, Named("Init"), "derived")
        for optimizer in module.optimizers:
            checker.check(optimizer.update, {})
        for learner in module.learners:
            for function in (learner.loss, learner.step, learner.predict):
                if function is not None:
                    checker.check(function, {})
        for policy in module.policies:
            for _, entry in policy.entries:
                checker.check(entry, {})
        for proof in module.proofs:
            checker.check(proof.term, {})


Environment = Mapping[str, Type | Scheme]


class _Checker:
    def __init__(self, program: Program) -> None:
        self.schemes: dict[str, Scheme] = {}
        self.fields: dict[str, tuple[tuple[str, ...], dict[str, Type]]] = {}
        self.constructors: dict[str, tuple[str, ...]] = {}
        self.variants: dict[str, tuple[str, tuple[str, ...], tuple[Type, ...]]] = {}
        self.models: dict[str, term.Model] = {}
        for module in program.modules:
            for definition in module.definitions:
                self.schemes[definition.symbol] = definition.scheme
            for model in module.models:
                self.models[model.symbol] = model
            for type_ in module.types:
                names = tuple(name for name, _ in type_.parameters)
                if isinstance(type_, term.RecordType):
                    self.fields[type_.name] = (names, dict(type_.fields))
                else:
                    for constructor, types in type_.variants:
                        self.variants[constructor] = (type_.name, names, types)

    # ---- comparing -------------------------------------------------------------------------------------------------

    def same(self, item: Term, expected: Type, law: str) -> None:
        if not agree(item.type, expected):
            found, wanted = type_text(item.type), type_text(expected)
            raise CoreError(law, item.span, f"found {found}, derived {wanted}")

    # ---- walking ---------------------------------------------------------------------------------------------------

    def check(self, root: Term, environment: Environment) -> None:
        """Every term inside `root`, without recursion; environments travel with the terms."""
        pending: list[tuple[Term, Environment]] = [(root, environment)]
        while pending:
            item, names = pending.pop()
            if "?" in type_text(item.type):
                raise CoreError("named", item.span, type_text(item.type))
            self._term(item, names)
            for place, part in enumerate(children(item)):
                pending.append((part, self._inside(item, place, names)))

    def _inside(self, item: Term, place: int, names: Environment) -> Environment:
        """The variables in scope in one of the terms inside `item`."""
        if isinstance(item, term.Lambda):
            return {**names, **bound(item.parameters)}
        if isinstance(item, term.Let) and place == 1:
            return {**names, **bound((item.pattern,))}
        if isinstance(item, term.LetGeneral) and place == 1:
            return {**names, item.name: item.scheme}
        if isinstance(item, term.Match) and place > 0:
            return {**names, **bound((item.arms[place - 1].pattern,))}
        return names

    def _term(self, item: Term, names: Environment) -> None:
        if isinstance(item, term.Local):
            self._local(item, names)
        elif isinstance(item, term.Global):
            scheme = self.schemes.get(item.symbol)
            if scheme is not None:
                self._passed(item, scheme, item.arguments)
        elif isinstance(item, term.DimValue):
            self.same(item, _INT, "derived")
        elif isinstance(item, term.Lambda):
            self._lambda(item)
        elif isinstance(item, term.Apply):
            self._apply(item)
        elif isinstance(item, term.Let | term.LetGeneral):
            self.same(item, item.body.type, "derived")
            if isinstance(item, term.LetGeneral):
                self.same(item.value, item.scheme.type, "derived")
            elif isinstance(item.pattern, term.Bind | term.Ignore):
                self.same(item.value, item.pattern.type, "derived")
        elif isinstance(item, term.If):
            self.same(item.condition, _BOOL, "branches")
            self.same(item.then, item.type, "branches")
            self.same(item.otherwise, item.type, "branches")
        elif isinstance(item, term.Match):
            for arm in item.arms:
                self.same(arm.body, item.type, "branches")
        elif isinstance(item, term.ListTerm):
            for part in item.items:
                self.same(item, Named("List", (part.type,)), "derived")
        elif isinstance(item, term.TupleTerm):
            self.same(item, TupleType(tuple(part.type for part in item.items)), "derived")
        elif isinstance(item, term.RecordTerm | term.Update):
            self._record(item)
        elif isinstance(item, term.Select):
            self._select(item)
        elif isinstance(item, term.Constructor):
            self._constructor(item)

    def _local(self, item: term.Local, names: Environment) -> None:
        known = names.get(item.name)
        if known is None:
            raise CoreError("closed", item.span, item.name)
        if isinstance(known, Scheme):
            self._passed(item, known, item.arguments)
        else:
            self.same(item, known, "derived")

    def _passed(self, item: Term, scheme: Scheme, arguments: tuple[TypeArgument, ...]) -> None:
        if len(arguments) != len(scheme.variables):
            raise CoreError("arguments", item.span, f"{len(arguments)} of {len(scheme.variables)}")
        self.same(item, instantiate(scheme, arguments), "derived")

    def _lambda(self, item: term.Lambda) -> None:
        type_: Type = item.type
        for parameter in item.parameters:
            if not isinstance(type_, Function):
                raise CoreError("derived", item.span, type_text(item.type))
            if isinstance(parameter, term.Bind | term.Ignore) and not agree(
                parameter.type, type_.parameter
            ):
                raise CoreError("derived", item.span, type_text(parameter.type))
            type_ = type_.result
        self.same(item.body, type_, "derived")

    def _apply(self, item: term.Apply) -> None:
        type_: Type = item.function.type
        for argument in item.arguments:
            if not isinstance(type_, Function):
                raise CoreError("applied", item.span, type_text(item.function.type))
            self.same(argument, type_.parameter, "applied")
            type_ = type_.result
        self.same(item, type_, "derived")

    def _record(self, item: term.RecordTerm | term.Update) -> None:
        types = self._fields(item.type)
        given = [name for name, _ in item.fields]
        if isinstance(item, term.RecordTerm) and set(given) != set(types):
            raise CoreError("fields", item.span, ", ".join(given))
        for name, value in item.fields:
            if name not in types:
                raise CoreError("fields", item.span, name)
            self.same(value, types[name], "derived")

    def _fields(self, type_: Type) -> dict[str, Type]:
        if not isinstance(type_, Named) or type_.name not in self.fields:
            raise CoreError("fields", "a record", type_text(type_))
        names, types = self.fields[type_.name]
        arguments = dict(zip(names, type_.arguments, strict=True))
        return {name: in_type(t, arguments) for name, t in types.items()}

    def _select(self, item: term.Select) -> None:
        owner = item.value.type
        if not isinstance(owner, Named):
            raise CoreError("fields", item.span, type_text(owner))
        if owner.name in self.fields:
            types = self._fields(owner)
        elif owner.name in self.models:
            model = self.models[owner.name]
            arguments = dict(zip(model.dims, owner.arguments, strict=True))
            types = {p.name: in_type(p.type, arguments) for p in model.parameters}
        else:
            return
        if item.field not in types:
            raise CoreError("fields", item.span, item.field)
        self.same(item, types[item.field], "derived")

    def _constructor(self, item: term.Constructor) -> None:
        known = self.variants.get(item.name)
        if known is None:
            return
        owner, names, types = known
        result: Type = item.type
        for _ in types:
            result = result.result if isinstance(result, Function) else result
        if not isinstance(result, Named) or result.name != owner:
            raise CoreError("derived", item.span, type_text(item.type))
        arguments = dict(zip(names, result.arguments, strict=True))
        type_: Type = result
        for part in reversed(types):
            type_ = Function(in_type(part, arguments), type_)
        self.same(item, type_, "derived")


def bound(patterns: tuple[term.Pattern, ...]) -> dict[str, Type]:
    """The variables that patterns bind, with their types."""
    found: dict[str, Type] = {}
    pending = list(patterns)
    while pending:
        item = pending.pop()
        if isinstance(item, term.Bind):
            found[item.name] = item.type
        elif isinstance(item, term.MatchTuple):
            pending.extend(item.items)
        elif isinstance(item, term.MatchConstructor):
            pending.extend(item.arguments)
    return found


def agree(left: TypeArgument, right: TypeArgument) -> bool:
    """Whether two types are the same, up to sizes that are not known to differ."""
    if left is right:
        return True
    if isinstance(left, Dim) and isinstance(right, Dim):
        return equal(left, right) is not Answer.NO
    if isinstance(left, Shape) and isinstance(right, Shape):
        return (
            left.lead == right.lead
            and len(left.axes) == len(right.axes)
            and all(agree(a, b) for a, b in zip(left.axes, right.axes, strict=True))
        )
    if isinstance(left, Index) and isinstance(right, Index):
        return agree(left.size, right.size)
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return agree(left.element, right.element) and agree(left.shape, right.shape)
    if isinstance(left, Function) and isinstance(right, Function):
        return agree(left.parameter, right.parameter) and agree(left.result, right.result)
    if isinstance(left, TupleType) and isinstance(right, TupleType):
        return len(left.items) == len(right.items) and all(
            agree(a, b) for a, b in zip(left.items, right.items, strict=True)
        )
    if isinstance(left, Named) and isinstance(right, Named):
        return left.name == right.name and all(
            agree(a, b) for a, b in zip(left.arguments, right.arguments, strict=True)
        )
    return left == right
