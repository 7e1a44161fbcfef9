"""The stages of a build as text, for `alpha view`. Each is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable

from alpha.base.record import replace
from alpha.diagnostics.closest import did_you_mean
from alpha.driver.errors import UsageError
from alpha.driver.outcome import Build
from alpha.driver.pipeline import planned
from alpha.driver.request import Request
from alpha.driver.session import Session
from alpha.plan.plan import Plan
from alpha.targets.names import OUTPUT_KINDS, require_kind

BY_PROGRAM = ("graph", "kernel", "memory", "plan")
"""Stages of which one program can be shown alone."""


def stage_text(
    session: Session, request: Request, stage: str, program: str | None = None, form: str = "text"
) -> str:
    """One of `request.STAGES`, in its own text form, ending with a newline.

    `program` chooses one of the stages `BY_PROGRAM`. `form` is `json` for the facts behind the drawing of `memory`; the
    other stages have one form each. Raises UsageError for a program that the build does not have.
    """
    if program is not None and stage not in BY_PROGRAM:
        raise UsageError(f"the stage {stage} is of the whole build; leave `--program` out")
    work = planned(session, request)
    if stage in OUTPUT_KINDS:
        require_kind(stage, work.target)
    names = _programs(work, program)
    match stage:
        case "core":
            from alpha.core.text import to_text as core_text

            text = core_text(work.front.program)
        case "system":
            import json

            from alpha.evaluate.describe import describe

            text = json.dumps(describe(work.system), indent=1, ensure_ascii=False)
        case "graph":
            from alpha.graph.text import to_text as graph_text

            graphs = [graph for graph in work.system.graphs if graph.name in names]
            text = "\n".join(graph_text(graph, places=True) for graph in graphs)
        case "kernel":
            from alpha.plan.text import kernels_text

            text = kernels_text((work.plan.program(name) for name in names), work.kernels)
        case "plan":
            from alpha.driver.plan_json import plan_text

            text = plan_text(_only(work, names))
        case "memory":
            from alpha.driver.memory_view import Picture, memory_json

            picture = Picture(work.plan, tuple(work.plan.program(name) for name in names))
            if form == "json":
                return memory_json(picture)
            from alpha.driver.memory_svg import memory_svg

            text = memory_svg(picture)
        case "llvm":
            from alpha.codegen.llvm import plan_ir

            text = plan_ir(work.plan, work.kernels, work.host)
        case "asm":
            from alpha.codegen.llvm import plan_ir

            code = plan_ir(work.plan, work.kernels, work.host)
            text = session.workers.first.assembly(code, work.host)
        case "ptx":
            from alpha.driver.device_code import plan_code

            text = plan_code(work.plan, work.kernels)
        case _:
            raise ValueError(stage)
    return text if text.endswith("\n") else text + "\n"


def _programs(work: Build, program: str | None) -> tuple[str, ...]:
    """The names of the programs to show, in plan order."""
    names = tuple(item.name for item in work.plan.programs)
    if program is None:
        return names
    if program not in names:
        guess = did_you_mean(program, names)
        listed = ", ".join(names)
        raise UsageError(
            f"this build has no program `{program}`; it has {listed}" + (f"; {guess}" * bool(guess))
        )
    return (program,)


def _only(work: Build, names: Iterable[str]) -> Plan:
    """The plan with these programs and what lives in them."""
    kept = {"", *names}
    return replace(
        work.plan,
        buffers=tuple(buffer for buffer in work.plan.buffers if buffer.program in kept),
        programs=tuple(program for program in work.plan.programs if program.name in kept),
    )
