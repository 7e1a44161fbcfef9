"""The tables of a program that runs tests: no policy, no data, and a program and its results for each test."""

from __future__ import annotations

import alpha
from alpha.base.host import HostTarget
from alpha.graph.node import Graph
from alpha.plan.plan import Plan
from alpha.runtime import abi
from alpha.runtime.program_tables import program_row
from alpha.runtime.tables import Address, Content, Row, Tables


def tests_ir(graphs: tuple[Graph, ...], plan: Plan, host: HostTarget) -> str:
    """LLVM IR text. `plan` is that of the graphs; the results of a test are the outputs of its graph, in order."""
    tables = Tables()
    rows = [_test(tables, graph, plan) for graph in graphs]
    row: dict[str, Content] = {
        name: 0 if kind in ("number", "small") else Address(None)
        for name, kind in abi.SYSTEM.fields
    }
    row |= {
        "name": "tests",
        "version": alpha.__version__,
        "arena": plan.arena,
        "tests": tables.rows("system.tests", abi.TEST, rows),
        "test_count": len(rows),
    }
    tables.rows(abi.SYSTEM_SYMBOL, abi.SYSTEM, [row], visible=True)
    return tables.ir(host.triple)


def _test(tables: Tables, graph: Graph, plan: Plan) -> Row:
    program = plan.program(graph.name)
    offsets = dict(program.outputs)
    results: list[Row] = [
        {"offset": offsets[name], "bytes": node.type.bytes} for name, node in graph.outputs
    ]
    return {
        "program": program_row(tables, program, []),
        "results": tables.rows(f"{graph.name}.results", abi.RESULT, results),
        "result_count": len(results),
    }
