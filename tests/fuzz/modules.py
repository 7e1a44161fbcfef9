"""A whole random package: known values with proofs, functions, a model with a stack, a learner, a policy, its data."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from fuzz.sizes import name, number
from fuzz.terms import Scope, Tensor, Terms

ROWS, BATCH = 12, 4


@dataclass
class Package:
    """The files of a drawn package by their paths; `taken` counts the ways expressions were made."""

    files: dict[str, str]
    taken: dict[str, int] = field(default_factory=dict)


def package(seed: int) -> Package:
    """The package of a seed. It is well typed by construction."""
    return _Writer(Random(seed)).package()


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.taken: dict[str, int] = {}
        self.terms = Terms(random, self.taken)
        self.measured = random.random() < 0.5

    def package(self) -> Package:
        inputs = self.random.choice([1, 3, 4, 8, 16, 17])
        labels = self.random.choice([2, 3, 10])
        rows = [
            ",".join(
                [f"{self.random.uniform(-2, 2):.3f}" for _ in range(inputs)]
                + [str(self.random.randrange(labels))]
            )
            for _ in range(ROWS)
        ]
        text = "\n\n".join(
            part.strip("\n")
            for part in (
                "module Drawn.Run",
                "import Alpha.Nn (dropout, gelu, geluTanh, layerNorm, rmsNorm, silu)\n"
                "import Alpha.Optim (adamW, adamWDefaults, lion, momentum, sgd)\n"
                "import Alpha.Schedule (constant)",
                self.known(),
                self.functions(),
                self.models(inputs, labels),
                self.learner(inputs, labels),
                self.policy(inputs),
            )
        )
        return Package(
            {"Drawn/Run.alpha": text + "\n", "Drawn/rows.csv": "\n".join(rows) + "\n"}, self.taken
        )

    # ---- known values ----------------------------------------------------------------------------------------------

    def known(self) -> str:
        """Variants, records, lists and arithmetic, with the values that Python finds."""
        items = [self.random.randint(-9, 9) for _ in range(self.random.randint(1, 5))]
        low = self.random.randint(-5, 5)
        total = sum(item * item for item in items if item > low)
        text, value = self.integer(3)
        pair = self.random.randint(0, 40)
        return f"""
type Choice = Left Int | Right {{ amount : Int, tag : Text }} | Neither

valueOf : Choice -> Int
valueOf choice =
  match choice with
    Left {self.random.randint(0, 5)} -> -1
    Left n -> n
    Right r -> r.amount * 2
    Neither -> 0

items : List Int
items = [{", ".join(map(str, items))}]

squares : Int
squares = items |> filter (fn n -> n > {low}) |> map (fn n -> n * n) |> fold 0 (fn sum n -> sum + n)

proof theSquares = squares == {total}

proof arithmetic = {text} == {value}

proof choice = valueOf (Right {{ amount = {pair}, tag = "x" }}) == {2 * pair}
"""

    def integer(self, depth: int) -> tuple[str, int]:
        """An Int expression and its value."""
        if depth == 0 or self.random.random() < 0.2:
            value = self.random.randint(-12, 12)
            return (f"({value})" if value < 0 else str(value)), value
        left, a = self.integer(depth - 1)
        right, b = self.integer(depth - 1)
        operator = self.random.choice(["+", "-", "*", "//", "%"])
        if operator in ("//", "%"):
            right, b = (right, b) if b else ("5", 5)
            return f"({left} {operator} {right})", a // b if operator == "//" else a % b
        value = {"+": a + b, "-": a - b, "*": a * b}[operator]
        return f"({left} {operator} {right})", value

    # ---- functions of any size -------------------------------------------------------------------------------------

    def functions(self) -> str:
        """Functions whose sizes are names, each used at several sizes."""
        n, m = name("n", 3), name("m", 4)
        scope = Scope([("x", Tensor("f32", (n, m))), ("w", Tensor("f32", (m,)))])
        body = self.terms.real((n, m), scope, 2)
        last = Scope([("x", Tensor("f32", (name("k", 5),)))])
        row = self.terms.real((name("k", 5),), last, 1)
        joined = (n + n * number(2)).written(self.random)
        return f"""
mixed : Tensor f32 [n, m] -> Tensor f32 [m] -> Tensor f32 [n, m]
mixed x w = {body}

rowwise : Tensor f32 [k] -> Tensor f32 [k]
rowwise x = {row}

tripled : Tensor f32 [n, m] -> Tensor f32 [{joined}, m]
tripled x = concat[0] [x, x, x]

centred : Tensor f32 [...lead, n] -> Tensor f32 [...lead, n]
centred x = x - repeat[-1] n (mean[-1] x)
"""

    FUNCTIONS = ("centred", "rmsNorm", "layerNorm")

    # ---- models ----------------------------------------------------------------------------------------------------

    def models(self, inputs: int, labels: int) -> str:
        width, heads = self.random.choice([2, 4, 6, 8, 16]), 2
        self.width = width
        batch, inner = name("batch", BATCH), name("width", width)
        layer = Scope(
            [
                ("x", Tensor("f32", (batch, inner))),
                ("gain", Tensor("f32", (inner,))),
                ("mix", Tensor("f32", (inner, inner))),
            ],
            [],
            list(self.FUNCTIONS),
        )
        body = self.terms.real((batch, inner), layer, self.random.randint(1, 2))
        depth = self.random.randint(1, 4)
        outer = Scope(
            [
                ("x", Tensor("f32", (batch, name("inputs", inputs)))),
                ("h", Tensor("f32", (batch, inner))),
                ("first", Tensor("f32", (name("inputs", inputs), inner))),
                ("scale", Tensor("f32", ())),
            ],
            ["keyA", "keyB"],
            list(self.FUNCTIONS),
        )
        result = self.terms.real((batch, name("classes", labels)), outer, 3)
        init = self.random.choice(["glorot", "he", "normal 0.2", "uniform 0.3"])
        return f"""
model Layer [width, half] where width = 2 * half =
  param gain : Tensor f32 [width]        = {self.random.choice(["ones", "zeros", "filled 0.5"])}
  param mix  : Tensor f32 [width, width] = {init}

  forward : Tensor f32 [batch, width] -> Tensor f32 [batch, width]
  forward x = 0.5 * x @ mix + gain * {body}

model Net [inputs, width, half, classes, depth] where width = {heads} * half =
  param first  : Tensor f32 [inputs, width]  = {init}
  param layers : Stack depth (Layer [width, half])
  param scale  : f32                         = ones
  param last   : Tensor f32 [width, classes] = normal 0.1

  forward : Key -> Tensor f32 [batch, inputs] -> Tensor f32 [batch, classes]
  forward key x =
    let (keyA, keyB) = split key
    let h = x @ first * scale |> through layers (fn i layer a -> layer.forward a + 0.1 * cast f32 i)
    h @ last + {result}

network : Model (Net [{inputs}, {width}, {width // 2}, {labels}, {depth}])
network = Net {{ inputs = {inputs}, width = {width}, half = {width // 2}, classes = {labels}, depth = {depth} }}
"""

    # ---- the learner and its run -----------------------------------------------------------------------------------

    def learner(self, inputs: int, labels: int) -> str:
        optimizer = self.random.choice(
            ["sgd", "adamW adamWDefaults", "momentum { momentum = 0.9, decay = 1e-3 }",
             "lion { beta1 = 0.9, beta2 = 0.99, decay = 0.01 }"]
        )  # fmt: skip
        batch, classes = name("batch", BATCH), number(labels)
        scope = Scope(
            [
                ("b.x", Tensor("f32", (batch, number(inputs)))),
                ("b.label", Tensor("index", (batch,), classes)),
                ("y", Tensor("f32", (batch, classes))),
            ],
            [],
            list(self.FUNCTIONS),
        )
        extra = self.terms.real((), scope, 2)
        metric = self.terms.real((), scope, 2)
        served = Scope([("x", Tensor("f32", (batch, number(inputs))))], [], list(self.FUNCTIONS))
        output = self.terms.real((batch, classes), served, 1)
        step = ""
        if self.random.random() < 0.4:
            step = """
  step net slots t key b =
    let (value, g) = valueAndGrad (fn n x -> loss n key x) net b
    let (net', slots') = optimizer.apply t net slots (clipByGlobalNorm 1.0 g)
    { net = net', slots = slots', loss = value }
"""
        measured = serving = ""
        if self.measured:
            measured = f"""
  metric drawn net b =
    let y = net.forward (keyFrom 7) b.x
    {metric} + mean[batch] (cast f32 (argmax[-1] y == b.label))
"""
        if self.random.random() < 0.3:
            serving = f"""
  predict net (x : Tensor f32 [batch, {inputs}]) = net.forward (keyFrom 1) x + {output}
"""
        return f"""
type Batch [batch] = {{ x : Tensor f32 [batch, {inputs}], label : Tensor (index {labels}) [batch] }}

learner learning =
  model     = network
  optimizer = {optimizer}

  loss net key (b : Batch [batch]) =
    let y = net.forward key b.x
    mean (crossEntropy y b.label) + 0.01 * {extra}
{step}
{measured}{serving}
"""

    def policy(self, inputs: int) -> str:
        scalars = '"loss", "drawn"' if self.measured else '"loss"'
        columns = ", ".join(map(str, range(inputs)))
        return f"""
policy baseline =
  learner       = learning
  data          = csv
    {{ file = "Drawn/rows.csv"
    , header = False
    , fields = [{{ name = "x", columns = [{columns}] }}, {{ name = "label", columns = [{inputs}] }}]
    }}
  bundle        = True
  holdOut       = {BATCH}
  batch         = {BATCH}
  steps         = 3
  seed          = {self.random.randrange(2**64)}
  rate          = constant {self.random.choice(["1e-2", "1e-3", "0.1"])}
  shuffle       = {self.random.choice(["EachEpoch", "InOrder"])}
  evaluateEvery = 3
  checkpoint    = {{ every = 3, keep = 1, folder = "run" }}
  report        = {{ every = 1, scalars = [{scalars}], to = [JsonLines] }}
  stop          = []
"""
