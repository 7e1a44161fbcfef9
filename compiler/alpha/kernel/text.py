"""Kernels as text, one statement a line; equal kernels have equal texts.

kernel step.3.relu  operation relu  work 1024
  buffer 0 `add.12` : f32[1024] at 20480
  buffer 1 `relu.13` : f32[1024] written
  for %0 in 0 .. 64
    %1 : i64 = mul %0, 16
    %2 : f32x16 = load 0[%1]
    ...
    store 1[%1] = %4
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from alpha.kernel.node import (
    Atom,
    Barrier,
    Buffer,
    Compute,
    Grid,
    If,
    Kernel,
    Load,
    Loop,
    SharedLoad,
    SharedStore,
    Shuffle,
    Statement,
    Store,
    Variable,
)


def to_text(kernel: Kernel) -> str:
    """The text form, ending with a newline."""
    flags = "".join(
        f"  {name}"
        for name, holds in (
            ("parallel", kernel.parallel),
            ("accumulates", kernel.accumulates),
        )
        if holds
    )
    lines = [f"kernel {kernel.symbol}  operation {kernel.operation}  work {kernel.work}{flags}"]
    for number, buffer in enumerate(kernel.buffers):
        lines.append(f"  buffer {number} {_buffer(kernel, number, buffer)}")
    if kernel.grid is not None:
        lines.extend(_grid(kernel.grid))
    lines.extend(_block(kernel.body, "  "))
    return "\n".join(lines) + "\n"


def _grid(grid: Grid) -> Iterator[str]:
    block, thread = _atom(grid.block), _atom(grid.thread)
    yield (
        f"  grid {grid.blocks} blocks {block}, {grid.threads} threads {thread}"
        f"  registers {grid.registers}"
    )
    for number, item in enumerate(grid.shared):
        yield f"  shared {number} `{item.name}` : {item.scalar.value}[{item.count}]"


def _buffer(kernel: Kernel, number: int, buffer: Buffer) -> str:
    bound = f" below {buffer.bound}" if buffer.bound is not None else ""
    place = f" at {buffer.offset}" if buffer.offset is not None else ""
    role = " written" if number in kernel.written else ""
    role += " aligned" if number in kernel.aligned else ""
    rows = "".join(f" + {row.stride} x `{row.cell}`" for row in buffer.rows)
    return f"`{buffer.name}`{rows} : {buffer.scalar.value}[{buffer.count}]{bound}{place}{role}"


def _block(statements: Sequence[Statement], indent: str) -> Iterator[str]:
    for statement in statements:
        match statement:
            case Compute(result=result, operator=operator, operands=operands):
                yield f"{indent}{_defined(result)} = {operator} {', '.join(map(_atom, operands))}"
            case Load(result=result, buffer=buffer, index=index):
                yield f"{indent}{_defined(result)} = load {buffer}[{_atom(index)}]"
            case Store(buffer=buffer, index=index, value=value):
                yield f"{indent}store {buffer}[{_atom(index)}] = {_atom(value)}"
            case SharedLoad(result=result, array=array, index=index):
                yield f"{indent}{_defined(result)} = load shared {array}[{_atom(index)}]"
            case SharedStore(array=array, index=index, value=value):
                yield f"{indent}store shared {array}[{_atom(index)}] = {_atom(value)}"
            case Shuffle(result=result, value=value, mask=mask):
                yield f"{indent}{_defined(result)} = shuffle {_atom(value)}, {mask}"
            case Barrier():
                yield f"{indent}barrier"
            case Loop():
                yield from _loop(statement, indent)
            case If(condition=condition, body=body):
                yield f"{indent}if {_atom(condition)}"
                yield from _block(body, indent + "  ")


def _loop(loop: Loop, indent: str) -> Iterator[str]:
    word = "parallel" if loop.parallel else "for"
    step = f" by {loop.step}" if loop.step != 1 else ""
    yield f"{indent}{word} {_atom(loop.index)} in {loop.start} .. {loop.stop}{step}"
    for item in loop.carried:
        yield f"{indent}  carry {_defined(item.inside)} = {_atom(item.initial)}"
    yield from _block(loop.body, indent + "  ")
    for item in loop.carried:
        yield f"{indent}  next {_atom(item.inside)} = {_atom(item.next)}  gives {_atom(item.result)}"


def _defined(variable: Variable) -> str:
    return f"%{variable.serial} : {variable.type}"


def _atom(atom: Atom) -> str:
    if isinstance(atom, Variable):
        return f"%{atom.serial}"
    value = atom.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"({' '.join(map(str, value))})"
    return value.hex() if isinstance(value, float) else str(value)
