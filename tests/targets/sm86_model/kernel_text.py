"""PTX written by hand for tests of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DECLARED = (("p", "pred"), ("h", "b16"), ("r", "b32"), ("rd", "b64"), ("f", "f32"), ("fd", "f64"))


def module(*entries: str) -> str:
    return "\n".join([".version 7.1", ".target sm_86", ".address_size 64", "", *entries])


def entry(
    body: str | Iterable[str],
    parameters: int = 1,
    threads: int = 32,
    shared: int = 0,
    registers: int = 64,
    name: str = "k",
) -> str:
    """An entry whose registers are declared as its body names them. Lines of the body need no tab and no semicolon."""
    lines = body.strip().splitlines() if isinstance(body, str) else list(body)
    text = "\n".join(_line(line.strip()) for line in lines if line.strip())
    head = [f".visible .entry {name}("]
    head += [
        f"\t.param .u64 b{number}{',' * (number + 1 < parameters)}" for number in range(parameters)
    ]
    head += [")", f".reqntid {threads}, 1, 1", f".maxnreg {registers}", "{"]
    for prefix, kind in _DECLARED:
        numbers = [int(number) for number in re.findall(rf"%{prefix}(\d+)", text)]
        if numbers:
            head.append(f"\t.reg .{kind} %{prefix}<{max(numbers) + 1}>;")
    if shared:
        head.append(f"\t.shared .align 16 .b8 smem[{shared}];")
    return "\n".join([*head, text, "}", ""])


def one(body: str | Iterable[str], parameters: int = 1, threads: int = 32, shared: int = 0) -> str:
    """A module of one entry, `k`."""
    return module(entry(body, parameters, threads, shared))


def _line(line: str) -> str:
    return line if line.endswith(":") else f"\t{line.rstrip(';')};"


class Writer:
    """Collects instructions; registers are numbered as they are asked for."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.next: dict[str, int] = {}

    def new(self, prefix: str, count: int = 1) -> list[str]:
        first = self.next.get(prefix, 0)
        self.next[prefix] = first + count
        return [f"%{prefix}{first + number}" for number in range(count)]

    def __call__(self, form: str, *operands: object) -> None:
        words = [
            f"{{{', '.join(item)}}}" if isinstance(item, list) else str(item) for item in operands
        ]
        self.lines.append(f"{form} {', '.join(words)}".strip())

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")


class Contraction(Writer):
    """`c[m, n] = sum over k of a[m, k] * b[k, n]` in f32: tiles of 128 by 128 by 8 in two buffers, 8 by 8 a thread.

    The sizes must be multiples of the tile, `k` of two of them. The shape is that of the prototypes' kernel.
    """

    M = N = 128
    K = 8
    PITCH = M + 4
    A_BYTES = K * PITCH * 4
    B_BYTES = K * N * 4
    SHARED = 2 * (A_BYTES + B_BYTES)

    def __init__(self, n: int, k: int) -> None:
        super().__init__()
        self.n, self.k = n, k
        self.fetched_a, self.fetched_b = self.new("f", 4), self.new("f", 4)
        self.sums = [self.new("f", 8) for _ in range(8)]
        self._begin()
        self._tiles()
        self._end()

    def text(self) -> str:
        return module(entry(self.lines, 3, 256, self.SHARED, 128))

    def _begin(self) -> None:
        n, k = self.n, self.k
        (self.tx, self.ty, self.bx, self.by, self.sa, self.sb, self.la, self.lb) = self.new("r", 8)
        self.ga, self.gb, self.c = self.new("rd", 3)
        t, base, row, column, x = self.new("r", 5)
        (wide,) = self.new("rd")
        self("mov.u32", t, "%tid.x")
        self("mov.u32", x, "%ctaid.x")
        self("rem.u32", self.bx, x, n // self.N)
        self("div.u32", self.by, x, n // self.N)
        self("mov.u32", base, "smem")
        for number, name in enumerate((self.ga, self.gb, self.c)):
            self("ld.param.u64", name, f"[b{number}]")
        # a: two threads a row, four elements each, kept transposed
        self("shr.u32", row, t, 1)
        self("and.b32", column, t, 1)
        self("shl.b32", column, column, 2)
        self("mad.lo.s32", x, self.by, self.M, row)
        self("mad.lo.s32", x, x, k, column)
        self("mul.wide.s32", wide, x, 4)
        self("add.s64", self.ga, self.ga, wide)
        self("mad.lo.s32", self.sa, column, self.PITCH, row)
        self("mad.lo.s32", self.sa, self.sa, 4, base)
        # b: 32 threads a row
        self("shr.u32", row, t, 5)
        self("and.b32", column, t, 31)
        self("shl.b32", column, column, 2)
        self("mad.lo.s32", x, row, n, column)
        self("mad.lo.s32", x, self.bx, self.N, x)
        self("mul.wide.s32", wide, x, 4)
        self("add.s64", self.gb, self.gb, wide)
        self("mad.lo.s32", self.sb, row, self.N, column)
        self("mad.lo.s32", self.sb, self.sb, 4, base)
        self("and.b32", self.tx, t, 15)
        self("shr.u32", self.ty, t, 4)
        self("mad.lo.s32", self.la, self.ty, 16, base)
        self("mad.lo.s32", self.lb, self.tx, 16, base)
        for line in self.sums:
            for register in line:
                self("mov.f32", register, "0f00000000")

    def _fetch(self) -> None:
        self("ld.global.nc.v4.f32", self.fetched_a, f"[{self.ga}]")
        self("ld.global.nc.v4.f32", self.fetched_b, f"[{self.gb}]")
        self("add.s64", self.ga, self.ga, self.K * 4)
        self("add.s64", self.gb, self.gb, self.K * 4 * self.n)

    def _keep(self, buffer: int) -> None:
        for number, register in enumerate(self.fetched_a):
            self(
                "st.shared.f32",
                _at(self.sa, buffer * self.A_BYTES + number * self.PITCH * 4),
                register,
            )
        self(
            "st.shared.v4.f32",
            _at(self.sb, 2 * self.A_BYTES + buffer * self.B_BYTES),
            self.fetched_b,
        )

    def _multiply(self, buffer: int) -> None:
        a, b = ([self.new("f", 4) for _ in range(4)] for _ in range(2))

        def load(step: int) -> None:
            half = 2 * (step % 2)
            for part in (0, 1):
                at = buffer * self.A_BYTES + (step * self.PITCH + part * self.M // 2) * 4
                self("ld.shared.v4.f32", a[half + part], _at(self.la, at))
                at = (
                    2 * self.A_BYTES
                    + buffer * self.B_BYTES
                    + (step * self.N + part * self.N // 2) * 4
                )
                self("ld.shared.v4.f32", b[half + part], _at(self.lb, at))

        load(0)
        for step in range(self.K):
            if step + 1 < self.K:
                load(step + 1)
            half = 2 * (step % 2)
            for x, row in zip((*a[half], *a[half + 1]), self.sums, strict=True):
                for y, register in zip((*b[half], *b[half + 1]), row, strict=True):
                    self("fma.rn.f32", register, x, y, register)

    def _tiles(self) -> None:
        (left,), (more,) = self.new("r"), self.new("p")
        self._fetch()
        self._keep(0)
        self("bar.sync", 0)
        self("mov.u32", left, self.k // self.K)
        self.label("L1")
        self._fetch()
        self._multiply(0)
        self._keep(1)
        self("bar.sync", 0)
        self("sub.s32", left, left, 2)
        self("setp.eq.s32", more, left, 0)
        self(f"@{more} bra", "L2")
        self._fetch()
        self._multiply(1)
        self._keep(0)
        self("bar.sync", 0)
        self("bra", "L1")
        self.label("L2")
        self._multiply(1)

    def _end(self) -> None:
        row, column = self.new("r", 2)
        (wide,) = self.new("rd")
        self("mad.lo.s32", column, self.bx, self.N // 4, self.tx)
        self("shl.b32", column, column, 2)
        self("mad.lo.s32", row, self.by, self.M // 4, self.ty)
        self("shl.b32", row, row, 2)
        self("mad.lo.s32", row, row, self.n, column)
        self("mul.wide.s32", wide, row, 4)
        self("add.s64", self.c, self.c, wide)
        for number, line in enumerate(self.sums):
            down = number % 4 + number // 4 * (self.M // 2)
            self("st.global.v4.f32", _at(self.c, 4 * down * self.n), line[:4])
            self("st.global.v4.f32", _at(self.c, 4 * (down * self.n + self.N // 2)), line[4:])
        self("ret")


def _at(register: str, offset: int) -> str:
    return f"[{register}+{offset}]" if offset else f"[{register}]"


def contraction(n: int, k: int) -> str:
    """The module of a contraction; it is launched with `m // 128 * (n // 128)` blocks."""
    return Contraction(n, k).text()
