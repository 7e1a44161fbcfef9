"""The worker process: LLVM IR text in, object files or assembly text out, until its input ends.

Nothing here catches what LLVM does to the process: an internal error of LLVM aborts, and the compiler notices.
No pass pipeline runs. The IR is what is compiled, as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import BinaryIO

import llvmlite.binding as llvm

from alpha.codegen.frames import Header, read_frame, write_frame


def compiled(header: Header, ir: str) -> bytes:
    """The object or assembly of a module. Raises RuntimeError with LLVM's words for text that is no valid module.

    The code model and the relocation model are always given: llvmlite's defaults are those of a JIT.
    """
    module = llvm.parse_assembly(ir)
    module.verify()
    machine = llvm.Target.from_triple(str(header["triple"])).create_target_machine(
        cpu=str(header["cpu"]),
        features=str(header["features"]),
        opt=int(header["level"]),
        reloc="pic",
        codemodel="small",
    )
    if header["action"] == "assembly":
        return machine.emit_assembly(module).encode("utf-8")
    return machine.emit_object(module)


def serve(requests: BinaryIO, answers: BinaryIO, make: Callable[[Header, str], bytes]) -> None:
    while (frame := read_frame(requests)) is not None:
        header, body = frame
        try:
            result = make(header, body.decode("utf-8"))
        except RuntimeError as error:
            write_frame(answers, {"status": "error"}, str(error).encode("utf-8"))
        else:
            write_frame(answers, {"status": "done"}, result)


def run(make: Callable[[Header, str], bytes]) -> None:
    """Answers every request of the standard input with what `make` gives for it."""
    # Whatever else prints to the standard output must not land between frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    serve(sys.stdin.buffer, answers, make)


if __name__ == "__main__":
    run(compiled)
