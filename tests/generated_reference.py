"""The reference pages that follow from the compiler's tables: operations, library, and the words of the language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from alpha.base.dtype import Dtype
from alpha.check.operations import ORDINARY_DTYPES, SPECIAL
from alpha.graph.ops import TABLE
from alpha.syntax.lexer import HARD_KEYWORDS
from alpha.syntax.numbers import SPACED_UNITS, TIGHT_UNITS

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "compiler/alpha/library/Alpha"

OPERATIONS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Arithmetic": (
        ("a + b", "add", "`Tensor t s` twice"),
        ("a - b", "sub", "`Tensor t s` twice"),
        ("a * b", "mul", "`Tensor t s` twice"),
        ("a / b", "div", "`Tensor d s` twice"),
        ("-a", "neg", "`Tensor t s`"),
        ("x ^ n", "pow", "`Tensor d s`, a known `Int`"),
        ("x ^ n", "powStep", "`Tensor d s`, `u32`"),
        ("a // b", "floorDiv", "integers, a known `b`"),
        ("a % b", "rem", "integers, a known `b`"),
        ("fma a b c", "fma", "`Tensor d s` three times"),
        ("abs a", "abs", "`Tensor t s`"),
        ("sign x", "sign", "`Tensor d s`"),
        ("floor x", "floor", "`Tensor d s`"),
        ("round x", "round", "`Tensor d s`"),
        ("maximum a b", "maximum", "`Tensor t s` twice"),
        ("minimum a b", "minimum", "`Tensor t s` twice"),
        ("clamp low high x", "", "two known scalars, `Tensor t s`"),
        ("cast d x", "cast", "`Tensor t s`; the result is `Tensor d s`"),
    ),
    "Elementary functions": (
        ("sqrt x", "sqrt", "`Tensor d s`"),
        ("rsqrt x", "rsqrt", "`Tensor d s`"),
        ("exp x", "exp", "`Tensor d s`"),
        ("log x", "log", "`Tensor d s`"),
        ("tanh x", "tanh", "`Tensor d s`"),
        ("sigmoid x", "sigmoid", "`Tensor d s`"),
        ("erf x", "erf", "`Tensor d s`"),
        ("sin x", "sin", "`Tensor d s`"),
        ("cos x", "cos", "`Tensor d s`"),
        ("relu x", "relu", "`Tensor d s`"),
    ),
    "Comparison and choice": (
        ("a == b", "equal", "`Tensor t s` twice; the result is `Tensor bool s`"),
        ("a != b", "notEqual", "likewise"),
        ("a < b", "less", "likewise"),
        ("a <= b", "lessEqual", "likewise"),
        ("a > b", "greater", "likewise"),
        ("a >= b", "greaterEqual", "likewise"),
        ("a and b", "and", "`Tensor bool s` twice"),
        ("a or b", "or", "`Tensor bool s` twice"),
        ("not a", "not", "`Tensor bool s`"),
        ("select c a b", "select", "`Tensor bool s`, `Tensor t s` twice"),
    ),
    "Reductions and rows": (
        ("sum[axes] x", "sum", "`Tensor t s`; the result lacks the axes"),
        ("mean[axes] x", "mean", "`Tensor d s`; likewise"),
        ("max[axes] x", "max", "`Tensor t s`; likewise"),
        ("min[axes] x", "min", "`Tensor t s`; likewise"),
        ("argmax[axis] x", "argmax", "`Tensor t s`; the result is `index n`, n the axis's size"),
        ("argmin[axis] x", "argmin", "likewise"),
        ("softmax[axis] x", "softmax", "`Tensor d s`"),
        ("logSoftmax[axis] x", "logSoftmax", "`Tensor d s`"),
        ("logSumExp[axes] x", "logSumExp", "`Tensor d s`; the result lacks the axes"),
        (
            "crossEntropy x l",
            "crossEntropy",
            "`Tensor d [...s, n]`, `Tensor (index n) s`; the result is `Tensor d s`",
        ),
    ),
    "Contractions": (
        (
            "a @ b",
            "contract",
            "`[...s, k]` and `[k, j]`, or `[k]`; or `[...s, i, k]` and `[...s, k, j]`",
        ),
        ("einsum a[i, k], b[k, j] to [i, j]", "contract", "any axes; numbers select"),
        (
            "conv2d p x w",
            "conv2d",
            "known `0 <= p < kh, kw`, `Tensor d [n, h, w, i]`, `Tensor d [kh, kw, i, o]`;"
            " the result is `Tensor d [n, h + 2 * p - kh + 1, w + 2 * p - kw + 1, o]`",
        ),
        (
            "maxPool k x",
            "",
            "known `k`, `Tensor t [n, h, w, c]`; the result is `Tensor t [n, h // k, w // k, c]`",
        ),
        ("meanPool k x", "", "likewise, `Tensor d`"),
        (
            "matmulTensorCoreBf16 a b",
            "matmulTensorCoreBf16",
            "`Tensor bf16 [i, k]`, `Tensor bf16 [k, j]`; the result is `Tensor f32 [i, j]`",
        ),
        ("matmulTensorCoreF16 a b", "matmulTensorCoreF16", "likewise, of f16"),
        ("matmulTensorCoreTf32 a b", "matmulTensorCoreTf32", "likewise, of f32"),
    ),
    "Shape and movement": (
        ("x[1, a:b, :]", "slice", "`Tensor t s`; a number drops its axis"),
        ("reshape [n, 4] x", "reshape", "as many elements"),
        ("transpose[1, 0] x", "transpose", "`Tensor t s`; of rank 2 without brackets"),
        ("repeat[k] n x", "repeat", "`Tensor t s`; axis k of the result is new"),
        ("concat[k] [a, b]", "concat", "equal but for axis k"),
        ("pad[k] low high x", "pad", "`Tensor t s`, two known sizes"),
        (
            "gather table ids",
            "gather",
            "`Tensor t [n, ...s]`, `Tensor (index n) r`; the result is `[...r, ...s]`",
        ),
        ("oneHot ids", "oneHot", "`Tensor (index n) s`; the result is `Tensor f32 [...s, n]`"),
        ("causal x", "causal", "`Tensor d [...s, n, n]`"),
        ("fill [n] c", "", "a shape, a known scalar"),
        ("positions n", "positions", "a size; the result is `Tensor (index n) [n]`"),
    ),
    "Randomness": (
        ("split k", "deriveKey", "`Key -> (Key, Key)`"),
        ("derive k i", "deriveKey", "`Key -> u32 -> Key`"),
        ("keyFrom n", "key", "`Int -> Key`"),
        ("uniformLike k x", "uniform", "`Key -> Tensor d s -> Tensor f32 s`"),
        ("normalLike k x", "normal", "`Key -> Tensor d s -> Tensor f32 s`"),
    ),
    "Structure": (
        ("through blocks f x", "", "`Stack n m -> (u32 -> m -> a -> a) -> a -> a`"),
        ("iterate n f x", "", "`Int -> (a -> a) -> a -> a`"),
        ("grad f p x", "", "`(p -> a -> f32) -> p -> a -> p`"),
        ("valueAndGrad f p x", "", "`(p -> a -> f32) -> p -> a -> (f32, p)`"),
        ("stopGradient x", "stopGradient", "`a -> a`"),
        ("globalNorm p", "", "`m -> f32`"),
        ("clipByGlobalNorm c p", "", "`f32 -> m -> m`"),
        ("countParams model", "", "`Model m -> Int`"),
    ),
}
"""Families of (how it is written, the row of the graph's table that carries it or "", its operands)."""

BY_FORMULA = {
    "clamp": ("`minimum high (maximum low x)`", "by that form"),
    "maxPool": ("`max` over each window of `k` by `k`, row-major", "as `max`"),
    "meanPool": ("`mean` over each window of `k` by `k`, row-major", "as `mean`"),
    "fill": ("`c` in every place", "none"),
    "grad": ("[a program of its own](numerics.md#gradients)", "by its operations"),
    "valueAndGrad": ("likewise, with the value of `f`", "by its operations"),
    "globalNorm": (
        "`sqrt` of the sums `sum (g * g)` of each parameter, added in parameter order",
        "by that form",
    ),
    "clipByGlobalNorm": (
        "with `n = globalNorm p`, each tensor times `select (n > c) (c / n) 1`",
        "by that form",
    ),
    "through": (
        "`f 0` of the first layer, then `f 1` of the second, ...: a loop",
        "a loop backwards",
    ),
    "iterate": ("`f` applied `n` times: a loop", "a loop backwards"),
    "countParams": ("the number of elements of all parameters", ""),
}
"""What an operation without a row of its own computes, and its gradient."""


def _defined(name: str) -> str:
    """The dtypes that a checked operation is defined on."""
    row = SPECIAL.get(name)
    dtypes = row.dtypes if row is not None else ORDINARY_DTYPES.get(name)
    if dtypes is None:
        return ""
    return ", ".join(dtype.value for dtype in Dtype if dtype in dtypes)


def _formula(doc: str | None) -> str:
    """The formula that the docstring of a gradient begins with."""
    return " ".join((doc or "").split("\n\n")[0].split())


def _linked(text: str) -> str:
    """A formula as a cell: sections of the specification become links, bars do not end the cell."""
    text = re.sub(r"section (\d+)((?:\.\d+)*)", _section, text)
    return text.replace("|", "\\|")


def _section(match: re.Match[str]) -> str:
    heading = re.search(
        rf"^#+ {re.escape(match[1] + match[2])}\.? (.+)$", _specification(), re.MULTILINE
    )
    assert heading is not None, match[0]
    anchor = f"{match[1]}{match[2]} {heading[1]}".lower()
    anchor = re.sub(r"[^a-z0-9 -]", "", anchor).replace(" ", "-")
    return f"[{match[0]}](specification.md#{anchor})"


def _specification() -> str:
    return (ROOT / "docs/specification.md").read_text("utf-8")


def operations_page() -> str:
    """`docs/operations.md`."""
    lines = [
        "# Operations",
        "",
        "Written by `make docs` from the compiler's tables. `t` is any numeric dtype, `d` a float dtype, `s` any axes;",
        "`g` is the derivative of the loss by the result `y`, and a gradient is evaluated as its formula is written.",
        "Operands of elementwise operations [broadcast](language.md#tensors-and-shapes); [numerics](numerics.md) has",
        "the rules behind the bits.",
    ]
    for family, entries in OPERATIONS.items():
        lines += [
            "",
            f"## {family}",
            "",
            "| operation | operands | dtypes | value | gradient |",
            "|---|---|---|---|---|",
        ]
        for written, name, operands in entries:
            word = re.sub(r"[^A-Za-z0-9].*", "", written)
            if name:
                row = TABLE[name]
                value = row.meaning
                gradient = _formula(row.gradient.__doc__) if row.gradient is not None else "none"
            else:
                value, gradient = BY_FORMULA[word]
            cells = (
                f"`{written}`".replace("|", "\\|"),
                operands,
                _defined(word),
                _linked(value),
                _linked(gradient),
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def words() -> str:
    """The block of docs/language.md that lists keywords and units."""
    hard = " ".join(f"`{word}`" for word in sorted(HARD_KEYWORDS))
    spaced = " ".join(
        f"`{unit}`" for unit in sorted(SPACED_UNITS, key=lambda unit: (len(unit), unit))
    )
    tight = " ".join(f"`{unit}`" for unit in TIGHT_UNITS)
    return (
        f"Keywords, never names: {hard}. Other keywords are words of their declarations only.\n\n"
        f"Units: {spaced}. Units of time stand tight behind the number: {tight}.\n"
    )


def language_page(text: str) -> str:
    """`docs/language.md` with its generated block renewed."""
    begin, end = "<!-- begin words -->\n", "<!-- end words -->\n"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{words()}{end}{after}"


def library_page() -> str:
    """`docs/library.md`: every signature and declaration of the library with its doc comment."""
    lines = [
        "# Library",
        "",
        "Written by `make docs` from the library's modules. `Alpha.Prelude` and `Alpha.List` are in scope everywhere;",
        "the others are imported. A name without a definition is an operation of the compiler.",
    ]
    for path in sorted(
        LIBRARY.glob("*.alpha"), key=lambda path: (path.stem != "Prelude", path.stem)
    ):
        lines += ["", f"## Alpha.{path.stem}", ""]
        lines += _entries(path.read_text("utf-8"))
    return "\n".join(lines) + "\n"


_SHOWN = re.compile(r"[a-z][A-Za-z0-9']* :|type |alias |optimizer ")


def _entries(text: str) -> Iterator[str]:
    """The module's doc comment, then every public declaration behind its own; what has none stands in one block."""
    doc: list[str] = []
    bare: list[str] = []
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if line.startswith("--|"):
            doc.append(line[3:].strip())
        elif line.startswith("module "):
            yield from (*doc, "")
            doc = []
        elif _SHOWN.match(line):
            shown = [line, *_continued(line, lines[place + 1 :])]
            shown[-1] = shown[-1].removesuffix(" =")
            if doc:
                yield from _fenced(bare)
                bare = []
                yield from (*doc, *_fenced(shown))
                doc = []
            else:
                bare += shown
        elif line and not line.startswith(" "):
            doc = []
    yield from _fenced(bare)


def _continued(line: str, rest: list[str]) -> Iterator[str]:
    """The further lines of a type or a signature."""
    for item in rest:
        if not item.startswith(" ") or line.startswith("optimizer "):
            return
        if not line.startswith(("type ", "alias ")) and not item.strip().startswith("->"):
            return
        yield item


def _fenced(lines: list[str]) -> tuple[str, ...]:
    return ("", "```text", *lines, "```", "") if lines else ()
