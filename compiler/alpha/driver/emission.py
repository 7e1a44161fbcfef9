"""From an admitted plan to bytes on the disk: code, link, verify, write."""

from __future__ import annotations

from pathlib import Path

from alpha.admission import Admission, Admitted
from alpha.admission.errors import empty_artifact
from alpha.admission.peak import peak
from alpha.admission.report import as_object, to_json
from alpha.base.digest import sha256, sha256_text
from alpha.base.host import HostTarget
from alpha.codegen.llvm import plan_ir
from alpha.diagnostics.diagnostic import Refused
from alpha.driver.artifact import OutputFile, require_writable_place, write_all
from alpha.driver.artifact_module import module_source
from alpha.driver.closure import statement_of
from alpha.driver.errors import OutputPlace
from alpha.driver.identity import compiler_digest, llvmlite_version
from alpha.driver.manifest import Contents, beside, embedded
from alpha.driver.outcome import Build
from alpha.driver.packages import LOCK, SUFFIX
from alpha.driver.session import Session
from alpha.elf.blobs import Blob
from alpha.elf.link import LinkOptions, link
from alpha.elf.stubs import stub_object
from alpha.elf.verify import verify
from alpha.runtime.descriptor import system_ir

_SUFFIXES = {"exe": "", "object": ".o", "llvm": ".ll", "asm": ".s"}


def report_of(work: Build, admission: Admission) -> bytes:
    """The bytes of `NAME.report.json`."""
    return to_json(as_object(admission, work.subject, peak(work.plan))).encode()


def place_of(session: Session, work: Build) -> Path:
    """Where the output goes. Refuses a place that must not be replaced, before anything is computed for it."""
    name = work.choice.output + _SUFFIXES[work.request.emit]
    place = work.request.output or session.package / "build" / name
    if place.suffix in {SUFFIX, Path(LOCK).suffix}:
        raise OutputPlace(f"the output `{place}` is named like a module or a lock")
    if not place.name:
        raise OutputPlace(f"the output `{place}` is a folder; name a file")
    inputs = session.inputs | work.front.data_files()
    for path in (place, *_companions(work, place)):
        require_writable_place(path, inputs)
    return place


def emit(session: Session, work: Build, admitted: Admitted, contents: Contents) -> bytes:
    """The bytes of the output that the request names. Only what was admitted is emitted."""
    admitted.require(work.plan.demands)
    host, code = work.host, plan_ir(work.plan, work.kernels, work.host)
    if work.request.emit == "llvm":
        return code.encode()
    if work.request.emit == "asm":
        return session.worker.assembly(code, host).encode()
    kernels = _compiled(session, host, code)
    if work.request.emit == "object":
        return kernels
    tables, data = system_ir(work.system, work.plan, host)
    objects = [
        ("start", stub_object(host)),
        ("runtime", session.runtime.get(host)),
        ("kernels", kernels),
        ("system", _compiled(session, host, tables)),
    ]
    blobs = tuple(Blob(blob.symbol, blob.data, blob.align) for blob in data)
    image = link(objects, LinkOptions(host, embedded(contents), blobs))
    verify(image, host)
    return image


def _compiled(session: Session, host: HostTarget, ir: str) -> bytes:
    """The object of a module, from the cache where this very text was compiled before."""
    code = compiler_digest("base", "codegen", "targets")
    key = ("object", host.name, code, llvmlite_version(), sha256_text(ir))
    return session.cache.get(*key, make=lambda: session.worker.compile(ir, host))


def write(work: Build, contents: Contents, report: bytes, place: Path, image: bytes) -> None:
    """Writes the output and what belongs beside it, all or nothing, the output last."""
    if not image:
        raise Refused(empty_artifact(work.choice.output))
    manifest, report_place, module = _companions(work, place)
    write_all(
        [
            OutputFile(manifest, beside(contents, sha256(image))),
            OutputFile(report_place, report),
            OutputFile(module, module_source(statement_of(work, contents)).encode()),
            OutputFile(place, image, executable=work.request.emit == "exe"),
        ]
    )


def is_up_to_date(contents: Contents, place: Path) -> bool:
    """Whether an earlier build of the same inputs, by the same compiler, left its output there unchanged."""
    try:
        image = place.read_bytes()
        stated = place.with_name(f"{place.name}.manifest.json").read_bytes()
    except OSError:
        return False
    return stated == beside(contents, sha256(image))


def _companions(work: Build, place: Path) -> tuple[Path, Path, Path]:
    return (
        place.with_name(f"{place.name}.manifest.json"),
        place.with_name(f"{place.name}.report.json"),
        place.with_name(work.choice.artifact),
    )
