"""The probe: the runtime's own sources with another start."""

from __future__ import annotations

from alpha.base.host import HostTarget
from alpha.elf.link import LinkOptions, link
from alpha.elf.stubs import stub_object
from alpha.runtime.build import compile_sources, runtime_sources
from alpha.runtime.descriptor import system_ir
from alpha.runtime.subset.module import SubsetSource
from targets.runtime.tiny import HERE, compile_ir, kernels_ir, tiny_plan, tiny_system

_BEGIN = "    read_options(argc, stack + 8)\n    run_command()\n"


def probe_executable(host: HostTarget) -> bytes:
    return probe_program((HERE / "probe.rt").read_text(), host)


def probe_program(probe: str, host: HostTarget) -> bytes:
    """The runtime with `probe` in the place of its commands: a source with `probe_run` and `probe_arguments`."""
    sources = []
    for source in runtime_sources(host):
        text = source.text
        if source.name == "start.rt":
            assert _BEGIN in text
            text = text.replace(_BEGIN, "    probe_arguments = stack + 8\n    probe_run()\n")
            text = text.replace(
                "global auxiliary_vector,", "global probe_arguments, auxiliary_vector,"
            )
        sources.append(SubsetSource(source.name, text))
    sources.append(SubsetSource("probe.rt", probe))
    tables, _ = system_ir(tiny_system(bundle=False), tiny_plan(), host)
    objects = [
        ("stubs", stub_object(host)),
        ("runtime", compile_ir(compile_sources(sources, host).ir, host)),
        ("kernels", compile_ir(kernels_ir(host), host)),
        ("system", compile_ir(tables, host)),
    ]
    return link(objects, LinkOptions(host, b"probe"))
