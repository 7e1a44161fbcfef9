"""Random but valid LLVM modules that exercise relocations.

Globals of every width and alignment, tables of pointers, jump tables, constant pools, calls and tail calls, references
through the global offset table (symbols that are not hidden), unwind tables.
"""

from __future__ import annotations

import random

_INTEGER_BITS = (8, 16, 32, 64, 128)
_ELEMENTS = (1, 3, 17, 300, 5000)


def random_module(seed: int) -> str:
    """The text of a module that defines `rt_start`; the same for the same seed."""
    choice = random.Random(seed)
    function_count = choice.randint(2, 14)
    lines = ["declare void @llvm.trap()"]
    variables: list[tuple[str, int, int]] = []  # name, bits of an element, elements
    for index in range(choice.randint(1, 12)):
        bits, count = choice.choice(_INTEGER_BITS), choice.choice(_ELEMENTS)
        linkage = choice.choice(["internal global", "internal constant", "hidden global", "global"])
        start = "zeroinitializer"
        if count < 400 and choice.random() < 0.6:
            start = (
                "["
                + ", ".join(f"i{bits} {choice.getrandbits(bits - 1)}" for _ in range(count))
                + "]"
            )
        align = choice.choice([max(bits // 8, 1), 16, 64])
        lines.append(f"@g{index} = {linkage} [{count} x i{bits}] {start}, align {align}")
        variables.append((f"g{index}", bits, count))
    tables = choice.randint(1, 4)
    for index in range(tables):
        entries = [_pointer(choice, variables, function_count) for _ in range(choice.randint(4, 9))]
        linkage = choice.choice(["internal constant", "internal global", "hidden global"])
        lines.append(f"@t{index} = {linkage} [{len(entries)} x ptr] [{', '.join(entries)}]")
    for index in range(function_count):
        linkage = choice.choice(["internal", "hidden", ""]) if index else "hidden"
        body = _body(choice, variables, tables, function_count)
        lines.append(f"define {linkage} i64 @f{index}(i64 %x) noinline uwtable {{\n{body}\n}}")
    lines.append("define hidden void @rt_start(ptr %sp) uwtable {")
    lines.append("  %x = call i64 @f0(i64 1)\n  call void @llvm.trap()\n  unreachable\n}")
    return "\n".join(lines)


def _pointer(choice: random.Random, variables: list[tuple[str, int, int]], functions: int) -> str:
    name, bits, count = choice.choice(variables)
    within = choice.randint(0, min(bits * count // 8, 40))
    return choice.choice(
        [
            f"ptr @f{choice.randrange(functions)}",
            f"ptr getelementptr (i8, ptr @{name}, i64 {within})",
            "ptr null",
        ]
    )


def _body(
    choice: random.Random, variables: list[tuple[str, int, int]], tables: int, functions: int
) -> str:
    lines: list[str] = []
    value = "%x"
    for step in range(choice.randint(1, 10)):
        more, value = _step(choice, step, value, variables, tables, functions)
        lines += more
    if choice.random() < 0.4:
        cases = range(choice.randint(4, 8))
        targets = " ".join(f"i64 {case}, label %b{case}" for case in cases)
        lines.append(f"  switch i64 {value}, label %otherwise [ {targets} ]")
        for case in cases:
            lines.append(
                f"b{case}:\n  %r{case} = call i64 @f{choice.randrange(functions)}(i64 {case * 77 + 1})"
            )
            lines.append(
                f"  %u{case} = xor i64 %r{case}, {choice.getrandbits(20)}\n  ret i64 %u{case}"
            )
        lines.append(f"otherwise:\n  ret i64 {value}")
    elif choice.random() < 0.3:
        lines.append(
            f"  %tail = tail call i64 @f{choice.randrange(functions)}(i64 {value})\n  ret i64 %tail"
        )
    else:
        lines.append(f"  ret i64 {value}")
    return "\n".join(lines)


def _step(
    choice: random.Random,
    step: int,
    value: str,
    variables: list[tuple[str, int, int]],
    tables: int,
    functions: int,
) -> tuple[list[str], str]:
    """Some instructions and the value that goes on from them."""
    name, bits, count = choice.choice(variables)
    element = f"ptr getelementptr (i8, ptr @{name}, i64 {choice.randrange(count) * bits // 8})"
    kind = choice.randrange(6)
    if kind == 0:
        return [f"  %c{step} = call i64 @f{choice.randrange(functions)}(i64 {value})"], f"%c{step}"
    if kind == 1:
        widen = f"zext i{bits}" if bits < 64 else f"trunc i{bits}" if bits > 64 else "add i64"
        end = ", 1" if bits == 64 else " to i64"
        load = f"  %l{step} = load volatile i{bits}, {element}"
        return [load, f"  %z{step} = {widen} %l{step}{end}"], f"%z{step}"
    if kind == 2:
        widen = "trunc i64" if bits < 64 else "zext i64" if bits > 64 else "add i64"
        end = ", 0" if bits == 64 else f" to i{bits}"
        made = f"  %s{step} = {widen} {value}{end}"
        return [made, f"  store volatile i{bits} %s{step}, {element}"], value
    if kind == 3:
        factor = choice.choice(["3.25", "0x3FB999999999999A", "1.5e10"])
        return [
            f"  %d{step} = sitofp i64 {value} to double",
            f"  %e{step} = fmul double %d{step}, {factor}",
            f"  %q{step} = fptosi double %e{step} to i64",
        ], f"%q{step}"
    if kind == 4:
        return [
            f"  %a{step} = and i64 {value}, 3",
            f"  %p{step} = getelementptr ptr, ptr @t{choice.randrange(tables)}, i64 %a{step}",
            f"  %k{step} = load ptr, ptr %p{step}",
            f"  %i{step} = ptrtoint ptr %k{step} to i64",
        ], f"%i{step}"
    return [
        f"  %m{step} = ptrtoint ptr @{name} to i64",
        f"  %n{step} = xor i64 %m{step}, {value}",
    ], f"%n{step}"
