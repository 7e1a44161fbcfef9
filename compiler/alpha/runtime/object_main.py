"""The process that makes the runtime's object, so that a build without one in its cache works beside it.

It answers as the code generator's worker does, but what it is sent is a host in JSON: it lowers the sources itself.
"""

from __future__ import annotations

import json

from alpha.base.host import HostTarget
from alpha.codegen.frames import Header
from alpha.codegen.worker_main import compiled, run
from alpha.runtime.build import runtime_ir


def made(header: Header, host: str) -> bytes:
    return compiled(header, runtime_ir(HostTarget(**json.loads(host))))


if __name__ == "__main__":
    run(made)
