"""The tree of one module, as written.

Every node carries the span of its text and compares without it, so that `parse (format x) == parse x` is plain
equality. Plain comments are not in the tree: `Module.comments` keeps them with their places for the formatter.
Where an alternative of the grammar is only a bracket, there is no node; precedence is in the shape.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from alpha.base.span import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier where it is written: a declared name, a field, a constructor. `text` keeps primes."""

    text: str


@dataclass(frozen=True, slots=True)
class Comment(Node):
    """A plain comment with its dashes; `own_line` if nothing but spaces stands before it on its line."""

    text: str
    own_line: bool


# ---- expressions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Var(Node):
    """A value name in an expression."""

    name: str


@dataclass(frozen=True, slots=True)
class Con(Node):
    """A constructor, model or module name in an expression."""

    name: str


@dataclass(frozen=True, slots=True)
class Int(Node):
    """`written` keeps `1_024` and `0x1F` for the formatter; equality looks at both."""

    value: int
    written: str


@dataclass(frozen=True, slots=True)
class Float(Node):
    """The exact decimal value, not yet rounded to a dtype."""

    value: Fraction
    written: str


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """`value` is the number as written, `unit` its unit (`GB/s`); conversion belongs to the checker."""

    value: Fraction
    unit: str
    written: str


@dataclass(frozen=True, slots=True)
class Text(Node):
    """`value` has escapes replaced."""

    value: str
    written: str


@dataclass(frozen=True, slots=True)
class Accessor(Node):
    """`.name` as a function."""

    field: str


@dataclass(frozen=True, slots=True)
class ListExpr(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class TupleExpr(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Field(Node):
    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class RecordExpr(Node):
    """`base` is the record that is copied in `{ r | f = e }`, else None."""

    base: Name | None
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`r.f`. `field` may begin with a capital: `M.Con` and `M.N.x` are selections from the module name `Con`."""

    value: Expr
    field: Name


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """`a:b` inside brackets; None is the end of the axis."""

    low: Expr | None
    high: Expr | None


@dataclass(frozen=True, slots=True)
class Bracket(Node):
    """Tight `value[...]`: an index, a slice, or the axes of an operation; the checker decides."""

    value: Expr
    items: tuple[Expr | Slice, ...]


@dataclass(frozen=True, slots=True)
class Apply(Node):
    """`f a b` is one node with two arguments; `x |> f a` is a `Pipe`."""

    function: Expr
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`-` or `not`."""

    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """One of `^ * / // % @ + - ++ == != < <= > >= and or`. `place` is the operator's own span."""

    operator: str
    left: Expr
    right: Expr
    place: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pipe(Node):
    """`value |> function`."""

    value: Expr
    function: Expr


@dataclass(frozen=True, slots=True)
class Fn(Node):
    parameters: tuple[Pattern, ...]
    body: Body


@dataclass(frozen=True, slots=True)
class If(Node):
    condition: Expr
    then: Body
    otherwise: Body


@dataclass(frozen=True, slots=True)
class Arm(Node):
    pattern: Pattern
    body: Body


@dataclass(frozen=True, slots=True)
class Match(Node):
    value: Expr
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Access(Node):
    """`r.b[k, j]` in an einsum: `path` is the dotted name, each letter a name, each number an `Int`."""

    path: tuple[Name, ...]
    letters: tuple[Expr | Slice, ...]


@dataclass(frozen=True, slots=True)
class Einsum(Node):
    operands: tuple[Access, ...]
    result: ListExpr


@dataclass(frozen=True, slots=True)
class Let(Node):
    pattern: Pattern
    annotation: Type | None
    value: Body


@dataclass(frozen=True, slots=True)
class LetFn(Node):
    name: Name
    parameters: tuple[Pattern, ...]
    value: Body


@dataclass(frozen=True, slots=True)
class Body(Node):
    """Local definitions, then the value. A body without `lets` is just its value."""

    lets: tuple[Let | LetFn, ...]
    value: Expr


Expr = (
    Var | Con | Int | Float | Quantity | Text | Accessor | ListExpr | TupleExpr | RecordExpr | Select | Bracket
    | Apply | Unary | Binary | Pipe | Fn | If | Match | Einsum
)  # fmt: skip

# ---- patterns and parameters ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PVar(Node):
    name: str


@dataclass(frozen=True, slots=True)
class PWild(Node):
    pass


@dataclass(frozen=True, slots=True)
class PInt(Node):
    value: int
    written: str


@dataclass(frozen=True, slots=True)
class PText(Node):
    value: str
    written: str


@dataclass(frozen=True, slots=True)
class PTuple(Node):
    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class PCon(Node):
    """A constructor with its arguments, possibly none."""

    name: Name
    arguments: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class PAnnotated(Node):
    """`(name : type)`, in parameters only."""

    name: Name
    type: Type


Pattern = PVar | PWild | PInt | PText | PTuple | PCon | PAnnotated

# ---- types and shapes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DimInt(Node):
    value: int
    written: str


@dataclass(frozen=True, slots=True)
class DimVar(Node):
    name: str


@dataclass(frozen=True, slots=True)
class DimBinary(Node):
    """`+ - * // % @` as the grammar accepts them; the checker refuses what is no dimension."""

    operator: str
    left: Dim
    right: Dim


Dim = DimInt | DimVar | DimBinary


@dataclass(frozen=True, slots=True)
class Spread(Node):
    """`...lead`."""

    name: str


@dataclass(frozen=True, slots=True)
class TDims(Node):
    """A bracketed list of dimensions in a type."""

    items: tuple[Dim | Spread, ...]


@dataclass(frozen=True, slots=True)
class TVar(Node):
    """A lower-case name: a type variable, a dtype, `index`, or a dimension name, by its place."""

    name: str


@dataclass(frozen=True, slots=True)
class TCon(Node):
    """A type by its dotted path (`List`, `Nn.Box`)."""

    path: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class TInt(Node):
    """A number among type arguments: `index 10`."""

    value: int
    written: str


@dataclass(frozen=True, slots=True)
class TApply(Node):
    """`Tensor f32 [n]`: head and arguments; at least one argument."""

    head: Type
    arguments: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class TArrow(Node):
    parameter: Type
    result: Type


@dataclass(frozen=True, slots=True)
class TTuple(Node):
    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class TField(Node):
    name: Name
    type: Type


@dataclass(frozen=True, slots=True)
class TRecord(Node):
    fields: tuple[TField, ...]


Type = TVar | TCon | TInt | TDims | TApply | TArrow | TTuple | TRecord


@dataclass(frozen=True, slots=True)
class Equation(Node):
    """`n = a * b` behind `where`."""

    name: Name
    dim: Dim


# ---- declarations --------------------------------------------------------------------------------------------------
# `docs` holds the lines of the doc comment above the declaration or item, each without `--|` and one space.


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented(Node):
    docs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant(Node):
    name: Name
    arguments: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class TypeDecl(Documented):
    """`body` is a record or the variants. `dims` are the bracketed dimension parameters."""

    name: Name
    parameters: tuple[Name, ...]
    dims: TDims | None
    body: TRecord | tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class AliasDecl(Documented):
    name: Name
    parameters: tuple[Name, ...]
    dims: TDims | None
    type: Type


@dataclass(frozen=True, slots=True)
class Signature(Documented):
    name: Name
    type: Type
    where: tuple[Equation, ...]


@dataclass(frozen=True, slots=True)
class Define(Documented):
    name: Name
    parameters: tuple[Pattern, ...]
    body: Body


@dataclass(frozen=True, slots=True)
class SourceDecl(Documented):
    name: Name
    body: Body


@dataclass(frozen=True, slots=True)
class ProofDecl(Documented):
    """`kind` is `proof` or `test`."""

    kind: str
    name: Name
    body: Body


@dataclass(frozen=True, slots=True)
class RejectsDecl(Documented):
    code: str
    name: Name
    body: Body


@dataclass(frozen=True, slots=True)
class Fact(Documented):
    """`kind` is `supply`, `estimate` or `identity`; `name` is kebab-case."""

    kind: str
    name: Name
    amount: Expr
    grade: Name
    source: Expr


@dataclass(frozen=True, slots=True)
class Include(Documented):
    name: Name


@dataclass(frozen=True, slots=True)
class FactsDecl(Documented):
    name: Name
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class ProfileDecl(Documented):
    name: Name
    type: Type
    items: tuple[Fact | Include, ...]


@dataclass(frozen=True, slots=True)
class Parameter(Documented):
    """`param a, b : type = init`."""

    names: tuple[Name, ...]
    type: Type
    initialiser: Expr | None


@dataclass(frozen=True, slots=True)
class ModelDecl(Documented):
    name: Name
    dims: TDims
    where: tuple[Equation, ...]
    items: tuple[Parameter | Signature | Define, ...]


@dataclass(frozen=True, slots=True)
class Slot(Documented):
    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class OptimizerDecl(Documented):
    name: Name
    parameters: tuple[Pattern, ...]
    items: tuple[Slot | Signature | Define, ...]


@dataclass(frozen=True, slots=True)
class Metric(Documented):
    name: Name
    parameters: tuple[Pattern, ...]
    body: Body


@dataclass(frozen=True, slots=True)
class LearnerDecl(Documented):
    name: Name
    items: tuple[Metric | Signature | Define, ...]


@dataclass(frozen=True, slots=True)
class PolicyDecl(Documented):
    name: Name
    entries: tuple[Define, ...]


@dataclass(frozen=True, slots=True)
class PairingDecl(Documented):
    name: Name
    entries: tuple[Define, ...]


@dataclass(frozen=True, slots=True)
class Region(Documented):
    name: Name
    type: Type
    size: Expr


@dataclass(frozen=True, slots=True)
class Recipe(Documented):
    name: Name
    program: Expr
    regions: ListExpr


@dataclass(frozen=True, slots=True)
class HostScalar(Documented):
    name: Name
    type: Type
    value: Expr


@dataclass(frozen=True, slots=True)
class Contract(Documented):
    name: Name
    body: Body


@dataclass(frozen=True, slots=True)
class Write(Node):
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Read(Node):
    names: tuple[Name, ...]
    every: Expr | None


@dataclass(frozen=True, slots=True)
class Submit(Node):
    recipe: Name
    after: Name | None


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    count: Expr
    every: Expr | None
    acts: tuple[Act, ...]


@dataclass(frozen=True, slots=True)
class Reissue(Node):
    on: Name
    within: Quantity
    most: Int


Act = Write | Read | Submit | Repeat | Reissue


@dataclass(frozen=True, slots=True)
class Schedule(Documented):
    acts: tuple[Act, ...]


@dataclass(frozen=True, slots=True)
class HostDecl(Documented):
    name: Name
    type: Type
    items: tuple[Region | Recipe | HostScalar | Contract | Schedule | Define, ...]


@dataclass(frozen=True, slots=True)
class Import(Documented):
    path: tuple[Name, ...]
    alias: Name | None
    names: tuple[Name, ...]


Decl = (
    TypeDecl | AliasDecl | Signature | Define | SourceDecl | ProofDecl | RejectsDecl | FactsDecl | ProfileDecl
    | ModelDecl | OptimizerDecl | LearnerDecl | PolicyDecl | PairingDecl | HostDecl
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module(Documented):
    """One file. `exposing` is None when everything is public; `budget` None for the default."""

    path: tuple[Name, ...]
    exposing: tuple[Name, ...] | None
    budget: int | None
    items: tuple[Import | Decl, ...]
    comments: tuple[Comment, ...] = field(compare=False)

    @property
    def name(self) -> str:
        return ".".join(part.text for part in self.path)
