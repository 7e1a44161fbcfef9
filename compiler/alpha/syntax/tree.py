"""The tree of one module, as written.

Every node carries the span of its text and compares without it, so that `parse (format x) == parse x` is plain
equality. Plain comments are not in the tree: `Module.comments` keeps them with their places for the formatter.
Where an alternative of the grammar is only a bracket, there is no node; precedence is in the shape.
"""

from __future__ import annotations

from fractions import Fraction

from alpha.base.record import field, record
from alpha.base.span import Span


@record(kw_only=True)
class Node:
    span: Span = field(compare=False, repr=False)


@record
class Name(Node):
    """An identifier where it is written: a declared name, a field, a constructor. `text` keeps primes."""

    text: str


@record
class Comment(Node):
    """A plain comment with its dashes; `own_line` if nothing but spaces stands before it on its line."""

    text: str
    own_line: bool


# ---- expressions ---------------------------------------------------------------------------------------------------


@record
class Var(Node):
    """A value name in an expression."""

    name: str


@record
class Con(Node):
    """A constructor, model or module name in an expression."""

    name: str


@record
class Int(Node):
    """`written` keeps `1_024` and `0x1F` for the formatter; equality looks at both."""

    value: int
    written: str


@record
class Float(Node):
    """The exact decimal value, not yet rounded to a dtype."""

    value: Fraction
    written: str


@record
class Quantity(Node):
    """`value` is the number as written, `unit` its unit (`GB/s`); conversion belongs to the checker."""

    value: Fraction
    unit: str
    written: str


@record
class Text(Node):
    """`value` has escapes replaced."""

    value: str
    written: str


@record
class Accessor(Node):
    """`.name` as a function."""

    field: str


@record
class ListExpr(Node):
    items: tuple[Expr, ...]


@record
class TupleExpr(Node):
    items: tuple[Expr, ...]


@record
class Field(Node):
    """A parsed field has a `Body`, as behind every `=`; the checker also makes fields of plain expressions."""

    name: Name
    value: Written


@record
class RecordExpr(Node):
    """`base` is the record that is copied in `{ r | f = e }`, else None."""

    base: Name | None
    fields: tuple[Field, ...]


@record
class Select(Node):
    """`r.f`. `field` may begin with a capital: `M.Con` and `M.N.x` are selections from the module name `Con`."""

    value: Expr
    field: Name


@record
class Slice(Node):
    """`a:b` inside brackets; None is the end of the axis."""

    low: Expr | None
    high: Expr | None


@record
class Bracket(Node):
    """Tight `value[...]`: an index, a slice, or the axes of an operation; the checker decides."""

    value: Expr
    items: tuple[Expr | Slice, ...]


@record
class Apply(Node):
    """`f a b` is one node with two arguments; `x |> f a` is a `Pipe`."""

    function: Expr
    arguments: tuple[Expr, ...]


@record
class Unary(Node):
    """`-` or `not`."""

    operator: str
    operand: Expr


@record
class Binary(Node):
    """One of `^ * / // % @ + - ++ == != < <= > >= and or`. `place` is the operator's own span."""

    operator: str
    left: Expr
    right: Expr
    place: Span = field(compare=False, repr=False)


@record
class Pipe(Node):
    """`value |> function`."""

    value: Expr
    function: Expr


@record
class Fn(Node):
    parameters: tuple[Pattern, ...]
    body: Body


@record
class If(Node):
    condition: Expr
    then: Body
    otherwise: Body


@record
class Arm(Node):
    pattern: Pattern
    body: Body


@record
class Match(Node):
    value: Expr
    arms: tuple[Arm, ...]


@record
class Access(Node):
    """`r.b[k, j]` in an einsum: `path` is the dotted name, each letter a name, each number an `Int`."""

    path: tuple[Name, ...]
    letters: tuple[Expr | Slice, ...]


@record
class Einsum(Node):
    operands: tuple[Access, ...]
    result: ListExpr


@record
class Let(Node):
    pattern: Pattern
    annotation: Type | None
    value: Body


@record
class LetFn(Node):
    name: Name
    parameters: tuple[Pattern, ...]
    value: Body


@record
class Body(Node):
    """Local definitions, then the value. A body without `lets` is just its value."""

    lets: tuple[Let | LetFn, ...]
    value: Expr


Expr = (
    Var | Con | Int | Float | Quantity | Text | Accessor | ListExpr | TupleExpr | RecordExpr | Select | Bracket
    | Apply | Unary | Binary | Pipe | Fn | If | Match | Einsum
)  # fmt: skip

Written = Expr | Body
"""What may stand for a value: an expression, or a body where an opener lets local definitions come first."""

# ---- patterns and parameters ---------------------------------------------------------------------------------------


@record
class PVar(Node):
    name: str


@record
class PWild(Node):
    pass


@record
class PInt(Node):
    value: int
    written: str


@record
class PText(Node):
    value: str
    written: str


@record
class PTuple(Node):
    items: tuple[Pattern, ...]


@record
class PCon(Node):
    """A constructor by its dotted path, with its arguments, possibly none."""

    path: tuple[Name, ...]
    arguments: tuple[Pattern, ...]

    @property
    def name(self) -> Name:
        """The constructor, without the module in front of it."""
        return self.path[-1]


@record
class PAnnotated(Node):
    """`(name : type)`, in parameters only."""

    name: Name
    type: Type


Pattern = PVar | PWild | PInt | PText | PTuple | PCon | PAnnotated

# ---- types and shapes ----------------------------------------------------------------------------------------------


@record
class DimInt(Node):
    value: int
    written: str


@record
class DimVar(Node):
    name: str


@record
class DimBinary(Node):
    """`+ - * // % @` as the grammar accepts them; the checker refuses what is no dimension."""

    operator: str
    left: Dim
    right: Dim


Dim = DimInt | DimVar | DimBinary


@record
class Spread(Node):
    """`...lead`."""

    name: str


@record
class TDims(Node):
    """A bracketed list of dimensions in a type."""

    items: tuple[Dim | Spread, ...]


@record
class TVar(Node):
    """A lower-case name: a type variable, a dtype, `index`, or a dimension name, by its place."""

    name: str


@record
class TCon(Node):
    """A type by its dotted path (`List`, `Nn.Box`)."""

    path: tuple[Name, ...]


@record
class TInt(Node):
    """A number among type arguments: `index 10`."""

    value: int
    written: str


@record
class TApply(Node):
    """`Tensor f32 [n]`: head and arguments; at least one argument."""

    head: Type
    arguments: tuple[Type, ...]


@record
class TArrow(Node):
    parameter: Type
    result: Type


@record
class TTuple(Node):
    items: tuple[Type, ...]


@record
class TField(Node):
    name: Name
    type: Type


@record
class TRecord(Node):
    fields: tuple[TField, ...]


Type = TVar | TCon | TInt | TDims | TApply | TArrow | TTuple | TRecord


@record
class Equation(Node):
    """`n = a * b` behind `where`."""

    name: Name
    dim: Dim


# ---- declarations --------------------------------------------------------------------------------------------------
# `docs` holds the lines of the doc comment above the declaration or item, each without `--|` and one space.


@record(kw_only=True)
class Documented(Node):
    docs: tuple[str, ...] = ()


@record
class Variant(Node):
    name: Name
    arguments: tuple[Type, ...]


@record
class TypeDecl(Documented):
    """`body` is a record or the variants. `dims` are the bracketed dimension parameters."""

    name: Name
    parameters: tuple[Name, ...]
    dims: TDims | None
    body: TRecord | tuple[Variant, ...]


@record
class AliasDecl(Documented):
    name: Name
    parameters: tuple[Name, ...]
    dims: TDims | None
    type: Type


@record
class Signature(Documented):
    name: Name
    type: Type
    where: tuple[Equation, ...]


@record
class Define(Documented):
    name: Name
    parameters: tuple[Pattern, ...]
    body: Body


@record
class SourceDecl(Documented):
    name: Name
    body: Body


@record
class ProofDecl(Documented):
    """`kind` is `proof` or `test`."""

    kind: str
    name: Name
    body: Body


@record
class RejectsDecl(Documented):
    code: str
    name: Name
    body: Body


@record
class Fact(Documented):
    """`kind` is `supply`, `estimate` or `identity`; `name` is kebab-case."""

    kind: str
    name: Name
    amount: Expr
    grade: Name
    source: Expr


@record
class Include(Documented):
    name: Name


@record
class FactsDecl(Documented):
    name: Name
    facts: tuple[Fact, ...]


@record
class ProfileDecl(Documented):
    name: Name
    type: Type
    items: tuple[Fact | Include, ...]


@record
class Parameter(Documented):
    """`param a, b : type = init`."""

    names: tuple[Name, ...]
    type: Type
    initialiser: Expr | None


@record
class ModelDecl(Documented):
    name: Name
    dims: TDims
    where: tuple[Equation, ...]
    items: tuple[Parameter | Signature | Define, ...]


@record
class Slot(Documented):
    name: Name
    value: Expr


@record
class OptimizerDecl(Documented):
    name: Name
    parameters: tuple[Pattern, ...]
    items: tuple[Slot | Signature | Define, ...]


@record
class Metric(Documented):
    name: Name
    parameters: tuple[Pattern, ...]
    body: Body


@record
class LearnerDecl(Documented):
    name: Name
    items: tuple[Metric | Signature | Define, ...]


@record
class PolicyDecl(Documented):
    name: Name
    entries: tuple[Define, ...]


@record
class PairingDecl(Documented):
    name: Name
    entries: tuple[Define, ...]


@record
class Region(Documented):
    name: Name
    type: Type
    size: Expr


@record
class Recipe(Documented):
    name: Name
    program: Expr
    regions: ListExpr


@record
class HostScalar(Documented):
    name: Name
    type: Type
    value: Expr


@record
class Contract(Documented):
    name: Name
    body: Body


@record
class Write(Node):
    names: tuple[Name, ...]


@record
class Read(Node):
    names: tuple[Name, ...]
    every: Expr | None


@record
class Submit(Node):
    recipe: Name
    after: Name | None


@record
class Repeat(Node):
    count: Expr
    every: Expr | None
    acts: tuple[Act, ...]


@record
class Reissue(Node):
    on: Name
    within: Quantity
    most: Int


Act = Write | Read | Submit | Repeat | Reissue


@record
class Schedule(Documented):
    acts: tuple[Act, ...]


@record
class HostDecl(Documented):
    name: Name
    type: Type
    items: tuple[Region | Recipe | HostScalar | Contract | Schedule | Define, ...]


@record
class Import(Documented):
    path: tuple[Name, ...]
    alias: Name | None
    names: tuple[Name, ...]


Decl = (
    TypeDecl | AliasDecl | Signature | Define | SourceDecl | ProofDecl | RejectsDecl | FactsDecl | ProfileDecl
    | ModelDecl | OptimizerDecl | LearnerDecl | PolicyDecl | PairingDecl | HostDecl
)  # fmt: skip


@record
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
