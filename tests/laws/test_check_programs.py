# ruff: noqa: E501 -- a program a line reads better than one broken to fit
"""Small programs, each with the codes that it must give: none for those that are right."""

from __future__ import annotations

import pytest

from alpha.core.verify import verify
from checking import check_text, codes

RIGHT = {
    "literals take the dtype of their context": "half : f32\nhalf = 1 / 2\n\nbyte : u8\nbyte = 255",
    "arithmetic of literals is a literal": "scale : Tensor f32 [n] -> Tensor f32 [n]\nscale x = 2 * 3 * x + 1 - 4 / 2",
    "a cast of a literal has its dtype at once": "f : f32 -> f32\nf x = x + cast f32 (cast u8 0.5 + 250) * cast f32 (abs (cast i32 3.25) * 7)",
    "an integer is a count": "limit : Amount\nlimit = 3",
    "amounts multiply with whole numbers": "size : Int -> Amount\nsize n = n * 4 KiB / 2",
    "units of results": "time : Seconds\ntime = 24 GiB / 841 GB/s",
    "a local function is general": """
pair : (Int, Text)
pair =
  let same x = x
  (same 1, same "a")""",
    "a local function with constraint is general": """
both : Bool
both =
  let equal' x y = [x] == [y]
  equal' 1 2 and equal' "a" "b\"""",
    "partial application": "add3 : Int -> Int -> Int -> Int\nadd3 a b c = a + b + c\n\nten : Int -> Int\nten = add3 4 6",
    "operations are values": "peaks : List (Tensor f32 [n]) -> List (Tensor f32 [n])\npeaks xs = map (maximum 0) xs",
    "sum is a value": "sums : List (Tensor f32 [n, m]) -> List (Tensor f32 [m])\nsums xs = map sum[0] xs",
    "a pipe through forms": "f : Tensor f32 [n, 4] -> Tensor f32 [2, 4 * n]\nf x = x |> reshape [4 * n] |> repeat[0] 2",
    "equations solve one name": """
twice : Tensor f32 [2 * n] -> Tensor f32 [n]
twice x = x[:n]

three : Tensor f32 [3]
three = twice (fill [6] 1.0)""",
    "where is used": """
heads : Tensor f32 [w] -> Tensor f32 [h, d] -> Tensor f32 [w] where w = h * d
heads x y = x + reshape [w] y""",
    "where is required of a use": """
heads : Tensor f32 [w] -> Tensor f32 [h, d] -> Tensor f32 [w] where w = h * d
heads x y = x

eight : Tensor f32 [8]
eight = heads (fill [8] 1.0) (fill [2, 4] 1.0)""",
    "axes variables": "f : Tensor f32 [...lead, w] -> Tensor f32 lead\nf x = sum[-1] x",
    "batched contraction": "f : Tensor f32 [...s, i, k] -> Tensor f32 [...s, k, j] -> Tensor f32 [...s, i, j]\nf x y = x @ y",
    "vector contraction": "f : Tensor f32 [...s, k] -> Tensor f32 [k] -> Tensor f32 s\nf x y = x @ y",
    "gather": "f : Tensor f32 [n, w] -> Tensor (index n) [b, t] -> Tensor f32 [b, t, w]\nf x i = gather x i",
    "argmax gives an index": "f : Tensor f32 [b, n] -> Tensor (index n) [b]\nf x = argmax[n] x",
    "index compares": "f : Tensor (index n) [b] -> Tensor (index n) [b] -> Tensor bool [b]\nf x y = x == y",
    "negative index and slice": "f : Tensor f32 [n + 1, 4] -> Tensor f32 [n]\nf x = x[:-1, -1]",
    "concat adds sizes": "f : Tensor f32 [n, m] -> Tensor f32 [k, m] -> Tensor f32 [n + k, m]\nf x y = concat[0] [x, y]",
    "pad": "f : Tensor f32 [n] -> Tensor f32 [n + 3]\nf x = pad[0] 1 2 x",
    "transpose": "f : Tensor f32 [a, b, c] -> Tensor f32 [c, a, b]\nf x = transpose[2, 0, 1] x",
    "positions": "f : Tensor f32 [n] -> Tensor (index n) [n]\nf x = positions n",
    "one hot": "f : Tensor (index n) [b] -> Tensor f32 [b, n]\nf x = oneHot x",
    "power": "f : f32 -> u32 -> f32\nf x n = x ^ n + x ^ 2 + x ^ -1",
    "einsum selects": "f : Tensor f32 [w, 3, h] -> Tensor f32 [h, w]\nf x = einsum x[w, 2, h] to [h, w]",
    "gradient of a tensor": "f : Tensor f32 [n] -> Tensor f32 [n]\nf x = grad (fn p a -> sum (p * a)) x x",
    "stack": """
model Layer [w] =
  param k : Tensor f32 [w, w] = glorot

  forward : Tensor f32 [b, w] -> Tensor f32 [b, w]
  forward x = tanh (x @ k)

model Tower [n, w] =
  param layers : Stack n (Layer [w])

  forward : Tensor f32 [b, w] -> Tensor f32 [b, w]
  forward x = x |> through layers (fn i layer -> layer.forward)""",
    "record of a constructor": """
rule : Stop
rule = Plateau { metric = "loss", patience = 3 }""",
    "generic record": """
type Pair a b = { left : a, right : b }

swap : Pair a b -> Pair b a
swap p = { left = p.right, right = p.left }

one : Pair Text Int
one = swap { left = 1, right = "a" }""",
    "generic dims of a record": """
type Box [side] = { corner : Tensor f32 [side, side] }

top : Box [side] -> Tensor f32 [side]
top box = box.corner[0]""",
    "a record knows its fields late": """
type Point = { across : Int, up : Int }

f : List Point -> List Int
f points = points |> filter (fn p -> p.up > 0) |> map .across""",
    "nested patterns": """
f : Maybe (Int, Maybe Text) -> Text
f m =
  match m with
    None -> "none"
    Some (0, _) -> "zero"
    Some (_, Some t) -> t
    Some (_, None) -> "one\"""",
    "prelude names may be hidden": "first : Int -> Int\nfirst sum = sum + 1",
    "dimension names are whole numbers": "f : Tensor f32 [n] -> f32\nf x = sum x / toFloat n",
    "dims of annotations": "f = fn (x : Tensor f32 [n]) (y : Tensor f32 [n]) -> x + y",
    "comparison of records": 'f : Bool\nf = Some { name = "a", columns = [1] } == None',
    "aliases": "alias Row [n] = Tensor f32 [n]\n\nf : Row [4] -> f32\nf x = x[3]",
    "eq variables": "f : eq -> List eq -> Bool\nf x xs = any (fn y -> x == y) xs",
    "num variables": "f : num -> num -> num\nf x y = x * y + 1",
    "ord variables": "f : ord -> ord -> Bool\nf x y = x < y and sort [x, y] == [y, x]",
    "select broadcasts": "f : Tensor f32 [b, n] -> Tensor f32 [n] -> Tensor f32 [b, n]\nf x y = select (x > y) x 0",
    "casts": "f : Tensor (index n) [b] -> Tensor bool [b] -> Tensor f32 [b]\nf x y = cast f32 x + cast f32 y + cast f32 3",
    "quantities in lists": "f : List Amount\nf = [1 GiB, 2 KiB]",
    "keys": "f : Key -> Tensor f32 [n] -> Tensor f32 [n]\nf k x =\n  let (a, b) = split k\n  uniformLike a x + normalLike (derive b 3) x",
}

WRONG = {
    "unknown constructor in a pattern": (
        "f : Maybe Int -> Int\nf m =\n  match m with\n    Just x -> x\n    _ -> 0",
        "E0101",
    ),
    "unknown dimension in a shape literal": (
        "f : Tensor f32 [n] -> Tensor f32 [n]\nf x = reshape [m] x",
        "E0101",
    ),
    "type variable in a record": ("type A = { x : a }", "E0101"),
    "defined twice": ("f : Int\nf = 1\n\nf = 2", "E0104"),
    "let hides a parameter": ("f : Int -> Int\nf x =\n  let x = 1\n  x", "E0104"),
    "parameter hides a dimension": ("f : Tensor f32 [n] -> Int -> Int\nf x n = n", "E0104"),
    "name bound twice": ("f : (Int, Int) -> Int\nf (a, a) = a", "E0104"),
    "text and number": ('f : Int\nf = "a"', "E0301"),
    "branches": ('f : Bool -> Int\nf b = if b then 1 else "a"', "E0301"),
    "int is not float": ("f : Int -> f32\nf n = n * 1.5", "E0301"),
    "int divided": ("f : Int -> Int -> Int\nf a b = a / b", "E0301"),
    "not a function": ("f : Int -> Int\nf n = n 1", "E0301"),
    "itself": ("f = fn x -> x x", "E0301"),
    "pattern arguments": (
        "f : Maybe Int -> Int\nf m =\n  match m with\n    Some -> 1\n    _ -> 0",
        "E0302",
    ),
    "parameters": ("f : Int -> Int\nf a b = a", "E0302"),
    "form without its argument": ("f : Tensor f32 [n] -> Tensor f32 [n]\nf x = positions", "E0302"),
    "let must fit": ("f : Maybe Int -> Int\nf m =\n  let Some x = m\n  x", "E0303"),
    "integers have no end": (
        "f : Int -> Int\nf n =\n  match n with\n    0 -> 1\n    1 -> 0",
        "E0303",
    ),
    "missing field": ("type P = { a : Int, b : Int }\n\np : P\np = { a = 1 }", "E0305"),
    "unknown field": ("type P = { a : Int }\n\nf : P -> Int\nf p = p.b", "E0305"),
    "ambiguous record": ("type P = { a : Int }\ntype Q = { a : Int }\n\nf = { a = 1 }", "E0305"),
    "model size missing": (
        "model M [n, m] =\n  param w : Tensor f32 [n, m] = glorot\n\nf = M { n = 1 }",
        "E0305",
    ),
    "function has no equality": ("f : (Int -> Int) -> Bool\nf g = g == g", "E0308"),
    "tensor has no one equality": ("f : List (Tensor f32 [n]) -> Bool\nf xs = xs == xs", "E0308"),
    "eq is not ord": ("f : eq -> eq -> Bool\nf a b = a < b", "E0308"),
    "any type has no arithmetic": ("f : a -> a\nf x = x + x", "E0308"),
    "function of a model hides": (
        "f : Int\nf = 1\n\nmodel M [n] =\n  param w : Tensor f32 [n] = zeros\n\n  f : Tensor f32 [n]\n  f = w",
        "E0104",
    ),
    "type arguments": ("f : Maybe -> Int\nf m = 1", "E0309"),
    "index without size": ("f : Tensor index [4] -> Int\nf m = 1", "E0309"),
    "two kinds": ("f : Tensor f32 n -> Tensor f32 [n] -> Int\nf x y = 1", "E0309"),
    "literal overflow": ("f : u8\nf = 256", "E0402"),
    "negative unsigned": ("f : u32\nf = -1", "E0402"),
    "fraction in integer": ("f : i32\nf = 0.5", "E0402"),
    "float overflow": ("f : f32\nf = 1e39", "E0402"),
    "literal is no index": ("f : index 4\nf = 3", "E0403"),
    "cast to index": ("f : Int -> index 4\nf n = cast index n", "E0403"),
    "integer matmul": ("f : Tensor i32 [n, n] -> Tensor i32 [n, n]\nf x = x @ x", "E0404"),
    "negative power": ("f : Int\nf = 2 ^ -1", "E0404"),
    "exp of f64": ("f : f64 -> f64\nf x = exp x", "E0404"),
    "match on a tensor": ("f : Tensor bool [n] -> Int\nf x = if x then 1 else 0", "E0409"),
    "sizes in concat": (
        "f : Tensor f32 [2, 3] -> Tensor f32 [2, 4] -> Tensor f32 [4, 3]\nf x y = concat[0] [x, y]",
        "E0412",
    ),
    "where is broken": (
        "g : Tensor f32 [w] -> Tensor f32 [h, d] -> Tensor f32 [w] where w = h * d\ng x y = x\n\ne = g (fill [9] 1.0) (fill [2, 4] 1.0)",
        "E0412",
    ),
    "does not solve": (
        "f : Tensor f32 [2 * n] -> Tensor f32 [n]\nf x = x[:n]\n\ng = f (fill [5] 1.0)",
        "E0412",
    ),
    "model equation": (
        "model M [w, h] where w = 2 * h =\n  param k : Tensor f32 [w, h] = glorot\n\nm = M { w = 5, h = 2 }",
        "E0412",
    ),
    "transpose of rank 3": (
        "f : Tensor f32 [a, b, c] -> Tensor f32 [a, b, c]\nf x = transpose x",
        "E0413",
    ),
    "index of a scalar": ("f : f32 -> f32\nf x = x[0]", "E0413"),
    "nothing determines": (
        "f : Tensor f32 [n] -> Tensor f32 [2 * m]\nf x = fill [2 * m] 1.0\n\ng = sum (f (fill [3] 1.0))",
        "E0415",
    ),
    "axis twice": ("f : Tensor f32 [n, m] -> f32\nf x = sum[0, 0] x", "E0418"),
    "axis outside": ("f : Tensor f32 [n, m] -> Tensor f32 [n]\nf x = sum[2] x", "E0418"),
    "axis behind a variable": ("f : Tensor f32 [...s, n] -> Tensor f32 s\nf x = sum[0] x", "E0418"),
    "two axes of softmax": (
        "f : Tensor f32 [n, m] -> Tensor f32 [n, m]\nf x = softmax[0, 1] x",
        "E0418",
    ),
    "no axes": ("f : Tensor f32 [n] -> Tensor f32 [n]\nf x = exp[0] x", "E0418"),
    "pool does not divide": (
        "f : Tensor f32 [n, 5, 4, c] -> Tensor f32 [n, 2, 2, c]\nf x = maxPool 2 x",
        "E0419",
    ),
    "letter of the result": (
        "f : Tensor f32 [n] -> Tensor f32 [n]\nf x = einsum x[i] to [j]",
        "E0420",
    ),
    "two sizes of a letter": (
        "f : Tensor f32 [2] -> Tensor f32 [3] -> f32\nf x y = einsum x[i], y[i] to []",
        "E0412",
    ),
    "one past the axis": ("f : Tensor f32 [4] -> f32\nf x = x[4]", "E0423"),
    "computed index": ("f : Int -> Tensor f32 [4] -> f32\nf i x = x[i]", "E0423"),
    "empty slice": ("f : Tensor f32 [4] -> Tensor f32 [1]\nf x = x[2:2]", "E0503"),
    "size zero": ("f : Tensor f32 [0] -> Int\nf x = 1", "E0503"),
    "mutual recursion": ("f : Int -> Int\nf n = g n\n\ng : Int -> Int\ng n = f n", "E0501"),
    "recursion without signature": ("f n = f n", "E0501"),
    "hiding that looks like recursion": ("f n =\n  let g = n\n  g + 1\n\ng n = f n", "E0104"),
    "recursion of a model": (
        "model M [n] =\n  param w : Tensor f32 [n] = zeros\n\n  f : Tensor f32 [n] -> Tensor f32 [n]\n  f x = g x\n\n  g : Tensor f32 [n] -> Tensor f32 [n]\n  g x = f x",
        "E0501",
    ),
    "recursive type": ("type T = Low | High T", "E0501"),
    "loss is a vector": (
        "f : Tensor f32 [n] -> Tensor f32 [n]\nf x = grad (fn p a -> p * a) x x",
        "E0610",
    ),
    "host defined twice": (
        "import Digits.Run (baseline)\nimport Platform.Linux.Nvidia.PlanHost (PlanHost)\n\n"
        "host h : PlanHost =\n  policy = baseline\n  architecture = SM86\n  driverBranch = 1\n"
        "  unifiedMemory = False\n  targets = []\n\nhost h : PlanHost =\n  policy = baseline",
        "E0104",
    ),
    "host of no host's type": (
        "import Digits.Run (baseline)\n\nhost h : Int =\n  policy = baseline",
        "E0301",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_program_is_accepted_and_its_core_verified(name: str) -> None:
    program, found = check_text(RIGHT[name])
    assert program is not None, [f"{d.code}: {d.message}" for d in found]
    verify(program)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_program_gives_its_code_alone(name: str) -> None:
    text, code = WRONG[name]
    assert set(codes(text)) == {code}
