"""Terms and declarations of the core.

Types are passed: a polymorphic `Global` or `Local` carries the arguments for its scheme's variables, so the evaluator
always knows the number behind a dimension name and the dtype behind a literal. Models, optimizers and learners are
elaborated into functions:

* a function `f` of `model M [dims] = ...` is the definition `Module.M.f` whose first parameter is `self : M [dims]`;
  a parameter `w` in its body is `Select(self, w)`; `net.f x` is `Apply(Global(Module.M.f, dims), (net, x))`;
* `update` of `optimizer o (config)` is a function of (config ..., slot values ..., t, p, g), generic in the shape `s`;
* an operation, with or without axes, is an `Intrinsic`, applied with `Apply`; operators are intrinsics too, named in
  `graph.ops` for those that have a tensor form (`add`, `matmul`, ...), and the evaluator selects by its operands.
"""

from __future__ import annotations

from fractions import Fraction

from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.core.dim import Dim
from alpha.core.types import Scheme, Type, TypeArgument


@record(kw_only=True)
class Typed:
    """Every term has a span, and a type re-derivable by the verifier."""

    span: Span = field(compare=False, repr=False)
    type: Type


# ---- patterns ------------------------------------------------------------------------------------------------------


@record
class Bind:
    name: str
    type: Type


@record
class Ignore:
    type: Type


@record
class MatchLiteral:
    value: int | str


@record
class MatchTuple:
    items: tuple[Pattern, ...]


@record
class MatchConstructor:
    """`constructor` is the qualified name (`Alpha.Admission.Exactly`; built-in ones bare: `Some`, `True`)."""

    constructor: str
    arguments: tuple[Pattern, ...]


Pattern = Bind | Ignore | MatchLiteral | MatchTuple | MatchConstructor

# ---- terms ---------------------------------------------------------------------------------------------------------


@record
class Amount:
    """An exact quantity: `value` in base units, `unit` the exponents of (byte, second, flop).

    `feature` marks `present` and `absent`, which have no unit and do not mix with counts.
    """

    value: Fraction
    unit: tuple[int, int, int] = (0, 0, 0)
    feature: bool = False


@record
class Local(Typed):
    """A variable bound by a pattern, or a generalised local function with its `arguments`."""

    name: str
    arguments: tuple[TypeArgument, ...] = ()


@record
class Global(Typed):
    """A definition of this or another module by its qualified name (`Digits.Model.classifier`)."""

    symbol: str
    arguments: tuple[TypeArgument, ...] = ()


@record
class Constructor(Typed):
    """A constructor as a value: a variant without arguments, else a function of them. Naming as in patterns."""

    name: str


@record
class Literal(Typed):
    """`type` says what it is: Int, Text, Amount, a scalar tensor, or a variable that a type argument fixes.

    A float literal is its exact decimal value; it is rounded to its dtype when evaluated.
    """

    value: int | Fraction | str | Amount


@record
class DimValue(Typed):
    """A dimension name, or an expression over dimension names, used as an `Int`."""

    dim: Dim


@record
class EinsumSpec:
    """Letters by operand and of the result. A number in an operand's place selects that index."""

    operands: tuple[tuple[str | int, ...], ...]
    result: tuple[str, ...]


@record
class Intrinsic(Typed):
    """An operation of the language as a function value.

    `axes`: from 0, or negative from the end, resolved in the definition; None where no brackets were written (all
    axes). `shape`: the shape literal of `reshape` and `fill`. `einsum`: its letters. `arguments`: those of the
    scheme of its signature, in the order in which its variables first occur there.
    """

    name: str
    axes: tuple[int, ...] | None = None
    shape: tuple[Dim, ...] | None = None
    einsum: EinsumSpec | None = None
    arguments: tuple[TypeArgument, ...] = ()


@record
class Lambda(Typed):
    parameters: tuple[Pattern, ...]
    body: Term


@record
class Apply(Typed):
    """Fewer arguments than the function takes make a partial application."""

    function: Term
    arguments: tuple[Term, ...]


@record
class Let(Typed):
    pattern: Pattern
    value: Term
    body: Term


@record
class LetGeneral(Typed):
    """A local function, generalised over `scheme.variables`."""

    name: str
    scheme: Scheme
    value: Term
    body: Term


@record
class If(Typed):
    condition: Term
    then: Term
    otherwise: Term


@record
class Arm:
    pattern: Pattern
    body: Term


@record
class Match(Typed):
    """Exhaustive; the first arm that fits is taken."""

    value: Term
    arms: tuple[Arm, ...]


@record
class ListTerm(Typed):
    items: tuple[Term, ...]


@record
class TupleTerm(Typed):
    items: tuple[Term, ...]


@record
class RecordTerm(Typed):
    """Fields in the order written, which is the order of evaluation; names are unique."""

    fields: tuple[tuple[str, Term], ...]


@record
class Update(Typed):
    base: Term
    fields: tuple[tuple[str, Term], ...]


@record
class Select(Typed):
    """A field of a record, a parameter of a bundle, or an entry of a policy or profile."""

    value: Term
    field: str


@record
class At:
    """One index of an axis: the axis disappears. Nonnegative once the dimension is known; -1 is written as `n - 1`."""

    place: Dim


@record
class Range:
    low: Dim
    high: Dim


@record
class Subscript(Typed):
    """`x[...]`: one item for each leading axis written; None keeps a whole axis."""

    value: Term
    items: tuple[At | Range | None, ...]


@record
class ModelValue(Typed):
    """`Mlp { inputs = 64, ... }`: the model with its dimensions fixed, of type `Model (Mlp [..])`."""

    model: str
    dims: tuple[Dim, ...]


Term = (
    Local | Global | Constructor | Literal | DimValue | Intrinsic | Lambda | Apply | Let | LetGeneral | If | Match
    | ListTerm | TupleTerm | RecordTerm | Update | Select | Subscript | ModelValue
)  # fmt: skip

# ---- declarations --------------------------------------------------------------------------------------------------


@record
class Definition:
    """`value` is None for an intrinsic of the library. A function is a `Lambda` over all written parameters."""

    symbol: str
    scheme: Scheme
    value: Term | None
    span: Span = field(compare=False, repr=False)


@record
class RecordType:
    name: str
    parameters: tuple[tuple[str, object], ...]
    fields: tuple[tuple[str, Type], ...]


@record
class VariantType:
    """`variants` maps each constructor's qualified name to its argument types."""

    name: str
    parameters: tuple[tuple[str, object], ...]
    variants: tuple[tuple[str, tuple[Type, ...]], ...]


@record
class ModelParameter:
    """`initialiser` is a term of type `Init`; None for a nested bundle or a stack."""

    name: str
    type: Type
    initialiser: Term | None
    span: Span = field(compare=False, repr=False)


@record
class Model:
    """`dims` are the names of its dimension parameters; `where` the equations, each solving one name."""

    symbol: str
    dims: tuple[str, ...]
    where: tuple[tuple[str, Dim], ...]
    parameters: tuple[ModelParameter, ...]
    span: Span = field(compare=False, repr=False)


@record
class Optimizer:
    """`parameters` are the configuration's binders; slot initialisers have type `Init`.

    `update` is a Lambda of (configuration ..., slots ..., t, p, g), generic in the shape variable `shape`; its result
    is a `RecordTerm`-typed value whose fields are the slots and `p`.
    """

    symbol: str
    parameters: tuple[Pattern, ...]
    slots: tuple[tuple[str, Term], ...]
    shape: str
    update: Lambda
    span: Span = field(compare=False, repr=False)


@record
class Learner:
    """Functions are Lambdas; `batch` names the one free dimension, in scope in all of them.

    `keyed` says whether `loss` (and `step`) takes a key after its net (after `t`).
    `batch_type` is the record type of a batch, `predict_input` the type of predict's second parameter.
    """

    symbol: str
    model: Term
    optimizer: Term
    batch: str
    batch_type: Type
    keyed: bool
    loss: Lambda
    step: Lambda | None
    metrics: tuple[tuple[str, Lambda], ...]
    predict: Lambda | None
    predict_input: Type | None
    span: Span = field(compare=False, repr=False)


@record
class Policy:
    """`entries` as written, each checked against the type of its entry."""

    symbol: str
    entries: tuple[tuple[str, Term], ...]
    span: Span = field(compare=False, repr=False)


@record
class Pairing:
    symbol: str
    entries: tuple[tuple[str, Term], ...]
    span: Span = field(compare=False, repr=False)


@record
class Fact:
    """`kind` is `supply`, `estimate` or `identity`; `grade` is `Architectural`, `Measured` or `Modelled`."""

    kind: str
    name: str
    amount: Term
    grade: str
    source: Term
    span: Span = field(compare=False, repr=False)


@record
class Profile:
    """A value of the record type `type`; inclusions are already expanded, in place."""

    symbol: str
    type: Type
    facts: tuple[Fact, ...]
    span: Span = field(compare=False, repr=False)


@record
class Proof:
    """`kind` is `proof`, `test`, or `rejects CODE` where only evaluation can see the code."""

    symbol: str
    kind: str
    term: Term
    span: Span = field(compare=False, repr=False)


@record
class Module:
    """One checked module. `imports` are the names of the modules it needs, without the prelude.

    `source` declarations are definitions of type `Source`.
    """

    name: str
    imports: tuple[str, ...]
    budget: int | None
    types: tuple[RecordType | VariantType, ...]
    definitions: tuple[Definition, ...]
    models: tuple[Model, ...]
    optimizers: tuple[Optimizer, ...]
    learners: tuple[Learner, ...]
    policies: tuple[Policy, ...]
    profiles: tuple[Profile, ...]
    pairings: tuple[Pairing, ...]
    proofs: tuple[Proof, ...]


@record
class Program:
    """Checked modules, each after those it imports."""

    modules: tuple[Module, ...]
