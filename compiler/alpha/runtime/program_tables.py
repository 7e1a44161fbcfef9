"""The tables of one program: what is launched, which launches run again, and what is looked at in a replay."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.plan.launches import Launch, launches
from alpha.plan.plan import Loop, ProgramPlan, Region
from alpha.runtime import abi
from alpha.runtime.tables import Address, Row, Tables

DOWN = (1 << 32) - 1
"""-1 as a u32."""


def program_row(
    tables: Tables, program: ProgramPlan, state: Sequence[tuple[str, TensorType, int]]
) -> Address:
    """The launches of a program, and the copies that bring outputs of the state to where the state lies."""
    name = program.name
    outputs = dict(program.outputs)
    inputs = dict(program.inputs)
    for tensor, _, offset in state:
        if inputs.get(tensor, offset) != offset:
            raise ValueError(f"{name}: the input {tensor} does not lie where the state does")
    rows = _launches(tables, program)
    regions: list[Row] = []
    if name == "step":
        regions = [
            _region(tables, name, number, region) for number, region in enumerate(program.regions)
        ]
    loops = [_loop(loop) for loop in program.loops]
    copies: list[Row] = [
        {"source": outputs[tensor], "target": offset, "bytes": kind.bytes}
        for tensor, kind, offset in state
        if outputs.get(tensor, offset) != offset
    ]
    row: Row = {
        "launches": tables.rows(f"program.{name}.launches", abi.LAUNCH, rows),
        "launch_count": len(rows),
        "loops": tables.rows(f"program.{name}.loops", abi.LOOP, loops),
        "loop_count": len(loops),
        "regions": tables.rows(f"program.{name}.regions", abi.REGION, regions),
        "copies": tables.rows(f"program.{name}.copies", abi.COPY, copies),
        "copy_count": len(copies),
    }
    return tables.rows(f"program.{name}", abi.PROGRAM, [row])


def _launches(tables: Tables, program: ProgramPlan) -> list[Row]:
    """In their order; a loop has a row before its launches and one behind them."""
    rows: list[Row] = []
    open_: list[tuple[int, int]] = []
    waiting = list(enumerate(program.loops))
    for launch in launches(program):
        while waiting and waiting[0][1].first == launch.first:
            number, _ = waiting.pop(0)
            rows.append(_border(number, 0))
            open_.append((number, len(rows)))
        rows.append(_launch(tables, launch))
        last = launch.first + len(launch.regions) - 1
        while open_ and program.loops[open_[-1][0]].last == last:
            number, begin = open_.pop()
            rows.append(_border(number, len(rows) - begin))
    return rows


def _launch(tables: Tables, launch: Launch) -> Row:
    return {
        "function": tables.kernel(launch.symbol),
        "parallel": int(launch.parallel),
        "count": len(launch.regions),
        "place": launch.first,
    }


def _border(loop: int, back: int) -> Row:
    return {"function": Address(None), "parallel": 0, "count": back, "place": loop}


def _loop(loop: Loop) -> Row:
    ends = (0, loop.count - 1)
    first, last = reversed(ends) if loop.backward else ends
    return {
        "cell": loop.cell,
        "first": first,
        "last": last,
        "step": DOWN if loop.backward else 1,
        "first_region": loop.first,
        "last_region": loop.last,
    }


def _region(tables: Tables, program: str, number: int, region: Region) -> Row:
    """One region for itself, with the f32 results it gives in the workspace."""
    name = f"{program}.{number}"
    own = region.symbol.startswith(f"{name}.")
    checks: list[Row] = []
    for place, result in enumerate(region.results):
        if result.dtype is not Dtype.F32:
            continue
        moves: list[Row] = [{"cell": cell, "stride": stride} for cell, stride in result.rows]
        checks.append(
            {
                "offset": result.offset,
                "count": result.count,
                "moves": tables.rows(f"moves.{name}.{place}", abi.MOVE, moves),
                "move_count": len(moves),
            }
        )
    return {
        "span": Address(None) if region.span is None else str(region.span),
        "symbol": region.symbol.removeprefix(name) if own else region.symbol,
        "checks": tables.rows(f"checks.{name}", abi.CHECK, checks),
        "check_count": len(checks),
    }
