"""A loop of a graph as kernels that run once a turn.

A slice is the row of a buffer that moves with the loop, and what is kept of a turn is made in its row: neither is
copied. A carried value has one home for all turns, which is also the result. What a turn carries on is made in the home
where nothing reads the old value later, else made elsewhere and copied when the turn ends. Old values that are needed
behind that are copied before the turn begins: those that are kept, and those that become another carried value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from alpha.base.record import record, replace
from alpha.diagnostics.diagnostic import Refused
from alpha.diagnostics.not_yet import not_yet
from alpha.graph.node import Loop, Node
from alpha.kernel.block import Block, Turns, behind
from alpha.kernel.direct.site import Held, Number
from alpha.kernel.node import Buffer, Kernel, Row, scalar_of

MOST = (1 << 32) - 1
"""Turns of a loop: its index is a u32."""


@record(eq=False)
class Entered:
    """A loop whose body is being lowered.

    `first` is the number of its first kernel, `place` its own number among the program's loops. `homes` are those of
    the carried values, `inputs` what they are in the body; `kept` gives the row for each kept value that something
    needs. `moved` are carried values that were copied before the turn began, by their number.
    """

    outer: Block
    body: Block
    node: Node
    loop: Loop
    first: int
    place: int
    cell: Buffer
    homes: tuple[Buffer, ...]
    inputs: tuple[Node, ...]
    kept: Mapping[int, Buffer]
    moved: Mapping[int, Buffer]


def begin(outer: Block, node: Node) -> Entered:
    """Brings the first carried values to their homes and gives the body, whose nodes are to be lowered next.

    Raises Refused (E0011) for more turns than an index can count.
    """
    assert node.loop is not None
    loop, program = node.loop, outer.program
    if loop.count > MOST:
        raise Refused(not_yet("a loop of more than 2^32 - 1 turns", node.span))
    prefix = f"{outer.prefix}loop.{node.serial}/"
    results = _results(outer, node)
    wanted = [place for place in range(loop.carried, len(loop.body.outputs)) if place in results]
    ends = [loop.body.outputs[place] for place in (*range(loop.carried), *wanted)]
    body = Block(program, ends, prefix)
    index, *inputs = loop.body.inputs
    cell = body.given(index, f"{prefix}{index.attribute('name')}")
    cell = replace(cell, bound=loop.count)
    body.hold(index, cell)
    homes: list[Buffer] = []
    for place, (input_, operand) in enumerate(zip(inputs, node.operands, strict=True)):
        if place < loop.carried:
            homes.append(_home(outer, body, operand, input_))
        elif not _shown(outer, body, operand, input_):
            buffer = outer.whole(operand)
            if place < loop.carried + loop.slices:
                buffer = _row(buffer, cell, loop.count)
            body.hold(input_, replace(buffer, bound=input_.type.bound))
    for place in range(loop.carried):
        for result in results.get(place, ()):
            outer.hold(result, replace(homes[place], bound=result.type.bound))
    kept: dict[int, Buffer] = {}
    for place in wanted:
        first, *others = results[place]
        whole = outer.made(first)
        for other in others:
            outer.hold(other, whole)
        kept[place] = _row(whole, cell, loop.count)
    entered = Entered(
        outer,
        body,
        node,
        loop,
        len(program.kernels),
        len(program.loops),
        cell,
        tuple(homes),
        tuple(inputs[: loop.carried]),
        kept,
        {},
    )
    return replace(entered, moved=_save(entered))


def _results(outer: Block, node: Node) -> dict[int, list[Node]]:
    found: dict[int, list[Node]] = {}
    for item in outer.nodes:
        if item.operation == "result" and item.operands[0] is node:
            place = item.attribute("place")
            assert isinstance(place, int)
            found.setdefault(place, []).append(item)
    return found


def _row(buffer: Buffer, cell: Buffer, turns: int) -> Buffer:
    """One row of a buffer, another one in each turn."""
    count = buffer.count // turns
    rows = (*buffer.rows, Row(cell.name, turns, count))
    return replace(buffer, count=count, rows=rows, whole=buffer.elements)


def _home(outer: Block, body: Block, operand: Node, input_: Node) -> Buffer:
    """Where a carried value lives: where its first value is made, if that is for nothing else."""
    own = outer.own(operand)
    if own is not None and outer.is_used_once(operand):
        home = replace(own, bound=input_.type.bound)
        body.hold(input_, home)
        return home
    home = body.given(input_, f"{body.prefix}{input_.attribute('name')}")
    outer.owned.add(home.name)
    outer.write(operand, home)
    return home


def _shown(outer: Block, body: Block, operand: Node, input_: Node) -> bool:
    """Whether a broadcast or a number need not be written out for the body, nor a row of it."""
    view = outer.viewed(operand) if behind(operand) is not operand else None
    if operand.operation == "constant":
        view = outer.viewed(operand)
    if view is None or not body.feeds_arithmetic_alone(input_):
        return False
    if isinstance(view, Held) and input_.type.count % view.buffer.count:
        return False
    if isinstance(view, Held) and view.buffer.count == operand.type.count > input_.type.count:
        return False
    assert isinstance(view, Held | Number)
    body.show(input_, view)
    return True


def _save(entered: Entered) -> dict[int, Buffer]:
    """Copies the old values that are needed when the turn is done."""
    body, loop = entered.body, entered.loop
    moved: dict[int, Buffer] = {}
    for place, (name, end) in enumerate(loop.body.outputs):
        source = behind(end)
        if source not in entered.inputs:
            continue
        if place in entered.kept:
            body.write(end, entered.kept[place])
        elif place < loop.carried and source is not entered.inputs[place]:
            saved = Buffer(
                f"{body.prefix}{name}.saved.{place}", scalar_of(end.type.dtype), end.type.count
            )
            body.program.nodes[saved.name] = end
            body.owned.add(saved.name)
            body.write(end, saved)
            moved[place] = saved
    return moved


def finish(entered: Entered) -> None:
    """Brings what the turn carries on to the homes, what is kept to its row, and names the kernels of the turn."""
    body, program, loop = entered.body, entered.body.program, entered.loop
    kernels, inner = program.kernels[entered.first :], program.loops[entered.place :]
    spans = [(turns.first - entered.first, turns.last - entered.first) for turns in inner]
    placed: dict[str, Buffer] = {}
    late: list[tuple[Buffer | None, Node, Buffer]] = []
    for place, (_, end) in enumerate(loop.body.outputs):
        is_old = behind(end) in entered.inputs
        if place < loop.carried:
            if is_old and place not in entered.moved:
                continue
            target = entered.homes[place]
        elif place in entered.kept and not is_old:
            target = entered.kept[place]
        else:
            continue
        own = entered.moved.get(place) or body.own(end)
        free = own is not None and own.name not in placed
        if own and free and can_be_made_in((target.name,), own.name, kernels, spans):
            placed[own.name] = target
        else:
            late.append((own, end, target))
    for own, end, target in late:
        if own is None:
            body.write(end, target)
        else:
            body.copy(own, target, end)
    if placed:
        program.kernels[entered.first :] = [
            _renamed(kernel, placed) for kernel in program.kernels[entered.first :]
        ]
        for name in placed:
            del program.nodes[name]
    last = len(program.kernels) - 1
    if last < entered.first:
        del program.nodes[entered.cell.name]
        return
    cell, span = entered.cell.name, entered.node.span
    turns = Turns(entered.first, last, loop.count, loop.backward, cell, span)
    program.loops.insert(entered.place, turns)


def can_be_made_in(
    olds: Sequence[str],
    name: str,
    kernels: Sequence[Kernel],
    loops: Sequence[tuple[int, int]],
) -> bool:
    """Whether the kernel that writes the buffer `name` may write into a home: nothing reads the old value later.

    The old value is read as one of the buffers `olds`. `loops` are the first and last kernel of each loop among the
    kernels: one in a loop writes before all others of it. The writer itself may read the old value where each element
    lies in the place of the one it writes.
    """
    writer = next(
        place
        for place, kernel in enumerate(kernels)
        if name in {item.name for item in kernel.writes}
    )
    start = min([writer, *(first for first, last in loops if first <= writer <= last)])
    rows = next(item.rows for item in kernels[writer].writes if item.name == name)
    for place in range(start, len(kernels)):
        kernel = kernels[place]
        for number, item in enumerate(kernel.buffers):
            if number in kernel.written or item.name not in olds:
                continue
            if place != writer or number not in kernel.aligned or item.rows != rows:
                return False
    return True


def _renamed(kernel: Kernel, names: Mapping[str, Buffer]) -> Kernel:
    """The kernel with other buffers in the place of those with these names, or with rows of them."""
    if not any(buffer.name in names for buffer in kernel.buffers):
        return kernel
    buffers: list[Buffer] = []
    for buffer in kernel.buffers:
        target = names.get(buffer.name)
        if target is not None:
            rows = (*target.rows, *buffer.rows)
            whole = target.whole if target.rows else buffer.whole
            buffer = replace(buffer, name=target.name, rows=rows, whole=whole)
        buffers.append(buffer)
    return replace(kernel, buffers=tuple(buffers))
