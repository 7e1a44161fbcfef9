"""The stages of a build as text, for `alpha view`. Each is loaded when it is asked for."""

from __future__ import annotations

from alpha.driver.pipeline import planned
from alpha.driver.request import Request
from alpha.driver.session import Session


def stage_text(session: Session, request: Request, stage: str) -> str:
    """One of `request.STAGES`, in its own text form, ending with a newline."""
    work = planned(session, request)
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

            text = "\n".join(graph_text(graph) for graph in work.system.graphs)
        case "kernel":
            from alpha.kernel.text import to_text as kernel_text

            text = "\n".join(kernel_text(kernel) for kernel in work.kernels)
        case "plan":
            from alpha.driver.plan_json import plan_text

            text = plan_text(work.plan)
        case "llvm":
            from alpha.codegen.llvm import plan_ir

            text = plan_ir(work.plan, work.kernels, work.host)
        case "asm":
            from alpha.codegen.llvm import plan_ir

            code = plan_ir(work.plan, work.kernels, work.host)
            text = session.workers.first.assembly(code, work.host)
        case _:
            raise ValueError(stage)
    return text if text.endswith("\n") else text + "\n"
