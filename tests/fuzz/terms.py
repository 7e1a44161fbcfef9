"""Random expressions of a wanted tensor type. Each method of `Terms` is one way to make a tensor of that type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from fuzz.sizes import Size, number

Shape = tuple[Size, ...]


@dataclass(frozen=True)
class Tensor:
    """The type of a drawn expression; `bound` is n of `index n`."""

    dtype: str
    shape: Shape
    bound: Size | None = None

    def written(self, random: Random) -> str:
        element = self.dtype
        if self.bound is not None:
            element = f"(index {_factor(self.bound.written(random))})"
        if not self.shape and self.bound is None:
            return element
        return f"Tensor {element} [{', '.join(size.written(random) for size in self.shape)}]"


@dataclass
class Scope:
    """What an expression may use: variables by name, keys that nothing has used yet, functions of one tensor."""

    variables: list[tuple[str, Tensor]]
    keys: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    """Of type `Tensor f32 [...lead, n] -> Tensor f32 [...lead, n]`."""


UNARY = ("exp", "log", "tanh", "sigmoid", "erf", "sin", "cos", "rsqrt", "sqrt", "relu", "sign", "floor", "round",
         "abs", "gelu", "geluTanh", "silu")  # fmt: skip
ROWS = ("softmax", "logSoftmax")
REDUCTIONS = ("sum", "mean", "max", "min", "logSumExp")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LARGEST = 3_000
"""Elements of a drawn tensor."""


def count(shape: Shape) -> int:
    total = 1
    for size in shape:
        total *= size.value
    return total


def _factor(text: str) -> str:
    return f"({text})" if " " in text else text


class Terms:
    """Draws expressions. `taken` counts how often each way was used, so that a run can show that all were."""

    def __init__(self, random: Random, taken: dict[str, int]) -> None:
        self.random = random
        self.taken = taken
        self._names = 0

    def fresh(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def size(self) -> Size:
        return number(self.random.choice([1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 19]))

    def shape(self, shape: Shape) -> str:
        return f"[{', '.join(size.written(self.random) for size in shape)}]"

    # ---- floats --------------------------------------------------------------------------------------------------

    def real(self, shape: Shape, scope: Scope, depth: int) -> str:
        """An f32 expression in brackets, or a name."""
        ways: list[Callable[[Shape, Scope, int], str | None]] = [self._variable, self._widened]
        if depth > 0:
            ways = list(self.ways)
            self.random.shuffle(ways)
        for way in ways:
            text = way(shape, scope, depth - 1)
            if text is not None:
                name = way.__name__.strip("_")
                self.taken[name] = self.taken.get(name, 0) + 1
                return text
        return self._literal(shape, scope, depth)

    @property
    def ways(self) -> tuple[Callable[[Shape, Scope, int], str | None], ...]:
        return (
            self._variable, self._variable, self._unary, self._unary, self._binary, self._binary, self._broadcast,
            self._fma, self._select, self._power, self._extreme, self._clamp, self._reduction, self._reduction,
            self._row, self._matmul, self._batched, self._einsum, self._einsum3, self._reshape, self._transpose,
            self._repeat, self._concat, self._slice, self._pick_row, self._pad, self._gather, self._cross_entropy,
            self._one_hot, self._causal, self._cast, self._narrow, self._let, self._function, self._pipe, self._lambda,
            self._iterate, self._draw, self._stop, self._norm, self._grad, self._if, self._image,
            self._convolution, self._pool,
        )  # fmt: skip

    def _variable(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        fits = [name for name, type_ in scope.variables if type_ == Tensor("f32", shape)]
        return self.random.choice(fits) if fits else None

    def _widened(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        """A variable with fewer axes, widened by a literal."""
        fits = [
            name
            for name, type_ in scope.variables
            if type_.dtype == "f32" and type_.shape == shape[len(shape) - len(type_.shape) :]
        ]
        if not fits or self.random.random() < 0.2:
            return None
        return f"({self._literal(shape, scope, depth)} * {self.random.choice(fits)})"

    def _literal(self, shape: Shape, scope: Scope, depth: int) -> str:
        value = self.random.choice(["0.5", "1.0", "2.0", "0.0", "3.25", "1e-3", "0.125"])
        return f"(fill {self.shape(shape)} {value})" if shape else value

    def _unary(self, shape: Shape, scope: Scope, depth: int) -> str:
        return f"({self.random.choice(UNARY)} {self.real(shape, scope, depth)})"

    def _binary(self, shape: Shape, scope: Scope, depth: int) -> str:
        operator = self.random.choice(["+", "-", "*", "/"])
        left, right = (self.real(shape, scope, depth) for _ in range(2))
        return f"({left} {operator} {right})"

    def _broadcast(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if not shape:
            return None
        inner = shape[self.random.randint(1, len(shape)) :]
        operands = [self.real(shape, scope, depth), self.real(inner, scope, depth)]
        self.random.shuffle(operands)
        return f"({operands[0]} {self.random.choice(['+', '-', '*', '/'])} {operands[1]})"

    def _fma(self, shape: Shape, scope: Scope, depth: int) -> str:
        return f"(fma {' '.join(self.real(shape, scope, depth) for _ in range(3))})"

    def _select(self, shape: Shape, scope: Scope, depth: int) -> str:
        condition = self.condition(shape, scope, depth)
        return f"(select {condition} {self.real(shape, scope, depth)} {self.real(shape, scope, depth)})"

    def _power(self, shape: Shape, scope: Scope, depth: int) -> str:
        exponent = self.random.choice(["2", "3", "5", "0", "1", "(-1)", "(-2)"])
        return f"({self.real(shape, scope, depth)} ^ {exponent})"

    def _extreme(self, shape: Shape, scope: Scope, depth: int) -> str:
        name = self.random.choice(["maximum", "minimum"])
        return f"({name} {self.real(shape, scope, depth)} {self.real(shape, scope, depth)})"

    def _clamp(self, shape: Shape, scope: Scope, depth: int) -> str:
        return f"(clamp (-1.5) 2.5 {self.real(shape, scope, depth)})"

    def _reduction(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        axis, size = self.random.randint(0, len(shape)), self.size()
        inner = (*shape[:axis], size, *shape[axis:])
        if count(inner) > LARGEST:
            return None
        name = self.random.choice(REDUCTIONS)
        place = axis if self.random.random() < 0.5 else axis - len(inner)
        bracket = "" if len(inner) == 1 and self.random.random() < 0.5 else f"[{place}]"
        return f"({name}{bracket} {self.real(inner, scope, depth)})"

    def _row(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if not shape:
            return None
        axis = self.random.randrange(len(shape))
        return f"({self.random.choice(ROWS)}[{axis}] {self.real(shape, scope, depth)})"

    def _matmul(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if not shape:
            return None
        inner = self.size()
        if self.random.random() < 0.3:
            left = self.real((*shape, inner), scope, depth)
            return f"({left} @ {self.real((inner,), scope, depth)})"
        if len(shape) < 2:
            return None
        left = self.real((*shape[:-1], inner), scope, depth)
        return f"({left} @ {self.real((inner, shape[-1]), scope, depth)})"

    def _batched(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        inner = self.size()
        left, right = (*shape[:-1], inner), (*shape[:-2], inner, *shape[-1:])
        if len(shape) < 3 or max(count(left), count(right)) > LARGEST:
            return None
        return f"({self.real(left, scope, depth)} @ {self.real(right, scope, depth)})"

    def _einsum(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        return self._contraction(shape, scope, depth, 2)

    def _einsum3(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        return self._contraction(shape, scope, depth, self.random.choice([1, 3]))

    def _contraction(self, shape: Shape, scope: Scope, depth: int, operands: int) -> str | None:
        letters = dict(zip("abcd", shape, strict=False))
        if len(letters) < len(shape):
            return None
        summed = dict(
            zip("klm", (self.size() for _ in range(self.random.randint(1, 2))), strict=False)
        )
        everything = letters | summed
        chosen: list[list[str]] = [[] for _ in range(operands)]
        for letter in everything:
            homes = self.random.sample(range(operands), self.random.randint(1, min(2, operands)))
            for home in homes:
                chosen[home].append(letter)
        if len(everything) > 5 or count(tuple(everything.values())) > 60_000:
            return None
        names, values, operand = [], [], []
        for home in chosen:
            self.random.shuffle(home)
            inner = tuple(everything[letter] for letter in home)
            if not home or count(inner) > LARGEST:
                return None
            names.append(self.fresh())
            values.append(self.real(inner, scope, depth))
            operand.append(f"{names[-1]}[{', '.join(home)}]")
        result = f"einsum {', '.join(operand)} to [{', '.join(letters)}]"
        return self.bound(names, values, result)

    def _reshape(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if len(shape) < 2:
            return None
        place = self.random.randrange(len(shape) - 1)
        merged = (*shape[:place], shape[place] * shape[place + 1], *shape[place + 2 :])
        return f"(reshape {self.shape(shape)} {self.real(merged, scope, depth)})"

    def _transpose(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if len(shape) < 2:
            return None
        order = list(range(len(shape)))
        self.random.shuffle(order)
        inner = [shape[0]] * len(shape)
        for place, axis in enumerate(order):
            inner[axis] = shape[place]
        written = f"[{', '.join(map(str, order))}]"
        if len(shape) == 2 and order == [1, 0]:
            written = ""
        return f"(transpose{written} {self.real(tuple(inner), scope, depth)})"

    def _repeat(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if not shape:
            return None
        axis = self.random.randrange(len(shape))
        size = _factor(shape[axis].written(self.random))
        inner = (*shape[:axis], *shape[axis + 1 :])
        return f"(repeat[{axis}] {size} {self.real(inner, scope, depth)})"

    def _concat(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        places = [place for place, size in enumerate(shape) if size.known and size.value > 1]
        if not places:
            return None
        axis = self.random.choice(places)
        first = self.random.randint(1, shape[axis].value - 1)
        parts = [
            self.real((*shape[:axis], number(size), *shape[axis + 1 :]), scope, depth)
            for size in (first, shape[axis].value - first)
        ]
        return f"(concat[{axis}] [{', '.join(parts)}])"

    def _slice(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if not shape:
            return None
        axis = self.random.randrange(len(shape))
        low, high = self.random.randint(0, 2), self.random.randint(0, 2)
        inner = (*shape[:axis], shape[axis] + number(low + high), *shape[axis + 1 :])
        begin = str(low) if low or self.random.random() < 0.5 else ""
        end = f"-{high}" if high else ""
        places = [":"] * axis + [f"{begin}:{end}"]
        return f"({self.real(inner, scope, depth)}[{', '.join(places)}])"

    def _pick_row(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        axis, size = self.random.randint(0, len(shape)), self.size()
        inner = (*shape[:axis], size, *shape[axis:])
        if count(inner) > LARGEST:
            return None
        place = self.random.choice([0, -1, size.value // 2])
        return f"({self.real(inner, scope, depth)}[{', '.join([':'] * axis + [str(place)])}])"

    def _pad(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        places = [place for place, size in enumerate(shape) if size.known and size.value > 2]
        if not places:
            return None
        axis = self.random.choice(places)
        low, high = self.random.choice([(1, 0), (0, 1), (1, 1)])
        inner = (*shape[:axis], number(shape[axis].value - low - high), *shape[axis + 1 :])
        return f"(pad[{axis}] {low} {high} {self.real(inner, scope, depth)})"

    def _gather(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        split = self.random.randint(0, len(shape))
        rows, table = shape[:split], (self.size(), *shape[split:])
        if count(table) > LARGEST:
            return None
        return (
            f"(gather {self.real(table, scope, depth)} {self.index(rows, table[0], scope, depth)})"
        )

    def _cross_entropy(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        size = self.size()
        if count((*shape, size)) > LARGEST:
            return None
        logits = self.real((*shape, size), scope, depth)
        return f"(crossEntropy {logits} {self.index(shape, size, scope, depth)})"

    def _one_hot(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if not shape:
            return None
        return f"(stopGradient (oneHot {self.index(shape[:-1], shape[-1], scope, depth)}))"

    def _causal(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        """Rows of attention weights, or their sums where the shape has no two equal last axes."""
        if not shape:
            return None
        square = (*shape, shape[-1])
        if len(shape) > 1 and shape[-1] == shape[-2]:
            return f"(softmax[-1] (causal {self.real(shape, scope, depth)}))"
        if count(square) > LARGEST:
            return None
        return f"(sum[-2] (softmax[-1] (causal {self.real(square, scope, depth)})))"

    def _cast(self, shape: Shape, scope: Scope, depth: int) -> str:
        return f"(stopGradient (cast f32 {self.whole(shape, scope, depth)}))"

    def _narrow(self, shape: Shape, scope: Scope, depth: int) -> str:
        dtype = self.random.choice(["bf16", "f16"])
        inner = f"(cast {dtype} {self.real(shape, scope, depth)})"
        if self.random.random() < 0.5:
            name = self.fresh()
            inner = self.bound([name], [inner], f"{name} * {name}")
        return f"(cast f32 {inner})"

    def _let(self, shape: Shape, scope: Scope, depth: int) -> str:
        name = self.fresh()
        other = shape if self.random.random() < 0.5 else self.some_shape(scope)
        value = self.real(other, scope, depth)
        inner = Scope([*scope.variables, (name, Tensor("f32", other))], scope.keys, scope.functions)
        return self.bound([name], [value], self.real(shape, inner, depth))

    def _function(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if not shape or not scope.functions:
            return None
        return f"({self.random.choice(scope.functions)} {self.real(shape, scope, depth)})"

    def _pipe(self, shape: Shape, scope: Scope, depth: int) -> str:
        return f"({self.real(shape, scope, depth)} |> {self.random.choice(UNARY)} |> abs)"

    def _lambda(self, shape: Shape, scope: Scope, depth: int) -> str:
        name = self.fresh()
        inner = Scope([*scope.variables, (name, Tensor("f32", shape))], [], scope.functions)
        body = self.real(shape, inner, depth)
        return f"((fn ({name}, _) -> {body}) ({self.real(shape, scope, depth)}, 1))"

    def _iterate(self, shape: Shape, scope: Scope, depth: int) -> str:
        name = self.fresh()
        inner = Scope([*scope.variables, (name, Tensor("f32", shape))], [], scope.functions)
        body = self.real(shape, inner, min(depth, 2))
        turns = self.random.randint(1, 4)
        return f"(iterate {turns} (fn {name} -> {name} * 0.5 + {body}) {self.real(shape, scope, depth)})"

    def _draw(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if not scope.keys:
            return None
        key = scope.keys.pop()
        if self.random.random() < 0.3:
            return f"(dropout 0.25 {key} {self.real(shape, Scope(scope.variables, [], scope.functions), depth)})"
        name = self.random.choice(["uniformLike", "normalLike"])
        return (
            f"({name} {key} {self.real(shape, Scope(scope.variables, [], scope.functions), depth)})"
        )

    def _stop(self, shape: Shape, scope: Scope, depth: int) -> str:
        return f"(stopGradient {self.real(shape, scope, depth)})"

    def _norm(self, shape: Shape, scope: Scope, depth: int) -> str:
        inner = self.real(shape, scope, depth)
        return f"(clipByGlobalNorm 1.0 {inner})" if shape else f"(globalNorm {inner})"

    def _grad(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if self.random.random() < 0.5:
            return None
        name = self.fresh()
        inner = Scope([*scope.variables, (name, Tensor("f32", shape))], [], scope.functions)
        body = self.real((), inner, min(depth, 1))
        square = f"sum ({name} * {name})" if shape else f"{name} * {name}"
        return f"(grad (fn {name} _ -> {body} + {square}) {self.real(shape, scope, depth)} 0)"

    def _if(self, shape: Shape, scope: Scope, depth: int) -> str:
        condition = self.random.choice(["1 < 2", "length [1, 2] == 3", "True and not False"])
        first, second = self.real(shape, scope, depth), self.real(shape, scope, depth)
        return f"(if {condition} then {first} else {second})"

    def _image(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        """A reduction over the height and width of what `conv2d` or a pool makes."""
        if len(shape) != 2:
            return None
        high, wide = (number(self.random.choice([1, 2, 3, 4, 5])) for _ in range(2))
        inner = (shape[0], high, wide, shape[1])
        make = self.random.choice([self._convolution, self._pool])
        image = make(inner, scope, depth)
        if image is None:
            return None
        taken = make.__name__.strip("_")
        self.taken[taken] = self.taken.get(taken, 0) + 1
        return f"({self.random.choice(REDUCTIONS)}[1, 2] {image})"

    def _convolution(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        if len(shape) != 4 or not (shape[1].known and shape[2].known):
            return None
        kernel, padding, channels = (
            self.random.choice([1, 2, 3]),
            0,
            number(self.random.randint(1, 3)),
        )
        if kernel > 1 and min(shape[1].value, shape[2].value) > kernel:
            padding = self.random.randint(0, kernel - 1)
        rows = [number(size.value - 2 * padding + kernel - 1) for size in shape[1:3]]
        inner = (shape[0], *rows, channels)
        if min(size.value for size in inner) < 1 or count(inner) > LARGEST:
            return None
        weights = (number(kernel), number(kernel), channels, shape[3])
        return f"(conv2d {padding} {self.real(inner, scope, depth)} {self.real(weights, scope, depth)})"

    def _pool(self, shape: Shape, scope: Scope, depth: int) -> str | None:
        factor = number(self.random.choice([1, 2, 3]))
        if len(shape) != 4:
            return None
        inner = (shape[0], shape[1] * factor, shape[2] * factor, shape[3])
        if count(inner) > LARGEST:
            return None
        name = self.random.choice(["maxPool", "meanPool"])
        return f"({name} {factor.value} {self.real(inner, scope, depth)})"

    # ---- other dtypes ----------------------------------------------------------------------------------------------

    def condition(self, shape: Shape, scope: Scope, depth: int) -> str:
        """A bool expression."""
        if depth > 0 and self.random.random() < 0.3:
            left, right = (self.condition(shape, scope, depth - 1) for _ in range(2))
            return self.random.choice(
                [f"({left} and {right})", f"({left} or {right})", f"(not {left})"]
            )
        operator = self.random.choice(COMPARISONS)
        return f"({self.real(shape, scope, depth - 1)} {operator} {self.real(shape, scope, depth - 1)})"

    def index(self, shape: Shape, size: Size, scope: Scope, depth: int) -> str:
        """An `index size` expression."""
        fits = [name for name, type_ in scope.variables if type_ == Tensor("index", shape, size)]
        if fits and self.random.random() < 0.8:
            return self.random.choice(fits)
        if len(shape) == 1 and shape[0] == size and self.random.random() < 0.5:
            return f"(positions {_factor(size.written(self.random))})"
        axis = self.random.randint(0, len(shape))
        inner = (*shape[:axis], size, *shape[axis:])
        name = self.random.choice(["argmax", "argmin"])
        small = Scope(scope.variables, [], scope.functions)
        return f"({name}[{axis}] {self.real(inner, small, 0 if count(inner) > LARGEST else depth - 1)})"

    def whole(self, shape: Shape, scope: Scope, depth: int) -> str:
        """An integer or bool expression, ready to be cast."""
        match self.random.randint(0, 4):
            case 0:
                return self.condition(shape, scope, depth)
            case 1:
                return f"(cast i32 {self.real(shape, scope, depth)} {self.random.choice(['//', '%'])} 3)"
            case 2:
                return f"(cast u8 {self.real(shape, scope, depth)} + 250)"
            case 3:
                return f"(abs (cast i32 {self.real(shape, scope, depth)}) * 7)"
            case _:
                return self.index(shape, self.size(), scope, depth)

    # ---- parts -----------------------------------------------------------------------------------------------------

    def some_shape(self, scope: Scope) -> Shape:
        known = [type_.shape for _, type_ in scope.variables]
        if known and self.random.random() < 0.6:
            return self.random.choice(known)
        return tuple(self.size() for _ in range(self.random.randint(0, 2)))

    def bound(self, names: list[str], values: list[str], result: str) -> str:
        """`result` with local names: a function that is applied at once."""
        return f"((fn {' '.join(names)} -> {result}) {' '.join(values)})"
