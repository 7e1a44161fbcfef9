"""From an admitted plan to bytes on the disk: code, link, verify, write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from alpha.admission import Admission, Admitted
from alpha.admission.errors import empty_artifact
from alpha.admission.peak import peak
from alpha.admission.report import as_object, to_json
from alpha.base.digest import sha256, sha256_text
from alpha.base.host import HostTarget
from alpha.check.source_roots import is_module_name, own_folders
from alpha.codegen.llvm import plan_ir, plan_modules
from alpha.codegen.workers import COUNT
from alpha.diagnostics.diagnostic import Refused
from alpha.driver.artifact import OutputFile, require_writable_place, write_all
from alpha.driver.artifact_module import module_source
from alpha.driver.closure import statement_of
from alpha.driver.errors import OutputPlace
from alpha.driver.identity import compiler_digest, llvmlite_version
from alpha.driver.manifest import Contents, beside, embedded
from alpha.driver.outcome import Build
from alpha.driver.packages import LOCK, SUFFIX
from alpha.driver.plan_json import plan_text
from alpha.driver.session import Session
from alpha.elf.blobs import Blob
from alpha.elf.link import Export, LinkOptions, Shared, link
from alpha.elf.stubs import stub_object
from alpha.elf.verify import verify
from alpha.elf.verify_shared import verify_shared
from alpha.runtime.descriptor import system_ir, unused_sections
from alpha.runtime.header import header_text
from alpha.runtime.interface import exports, interface_of

_SUFFIXES = {"exe": "", "shared": ".so", "object": ".o", "llvm": ".ll", "asm": ".s", "ptx": ".ptx"}


def report_of(work: Build, admission: Admission) -> bytes:
    """The bytes of `NAME.report.json`."""
    return to_json(as_object(admission, work.subject, peak(work.plan))).encode()


def place_of(session: Session, work: Build) -> Path:
    """Where the output goes. Refuses a place that must not be replaced, before anything is computed for it."""
    name = work.choice.output + _SUFFIXES.get(work.request.emit, "")
    place = work.request.output or session.package / "build" / name
    if place.suffix in {SUFFIX, Path(LOCK).suffix}:
        raise OutputPlace(f"the output `{place}` is named like a module or a lock")
    if not place.name:
        raise OutputPlace(f"the output `{place}` is a folder; name a file")
    if _among_modules(session.package, place.parent):
        raise OutputPlace(
            f"the output `{place}` would bring its artifact module among the modules of the package; "
            "name another folder, such as `build/`"
        )
    inputs = session.inputs | work.front.data_files()
    companions = _companions(work, place)
    if place in companions:
        raise OutputPlace(f"the output `{place}` is named like a file that is written beside it")
    for path in (place, *companions):
        require_writable_place(path, inputs)
    return place


def _among_modules(package: Path, folder: Path) -> bool:
    """Whether a check would take an artifact module in `folder` for one of the package's, under another name."""
    for _, root in own_folders(package):
        try:
            parts = folder.resolve().relative_to(root.resolve()).parts
        except ValueError:
            continue
        if parts and all(is_module_name(part) for part in parts):
            return True
    return False


def emit(session: Session, work: Build, admitted: Admitted, contents: Contents) -> bytes:
    """The bytes of the output that the request names. Only what was admitted is emitted."""
    admitted.require(work.plan.demands)
    if work.on_device:
        from alpha.driver.device_code import plan_code  # other builds need no emitter of it

        return plan_code(work.plan, work.kernels).encode()
    host = work.host
    if work.request.emit not in ("exe", "shared"):
        ir = plan_ir(work.plan, work.kernels, host)
        if work.request.emit == "llvm":
            return ir.encode()
        if work.request.emit == "asm":
            return session.workers.first.assembly(ir, host).encode()
        return _compiled(session, host, [ir])[0]
    kernels = plan_modules(work.plan, work.kernels, host, COUNT)
    is_library = work.request.emit == "shared"
    tables, data = system_ir(work.system, work.plan, host, is_library)
    blobs = tuple(Blob(blob.symbol, blob.data, blob.align) for blob in data)
    if is_library:
        shown = interface_of(work.system, work.plan)
        exported = tuple(Export(*names) for names in exports(shown))
        shared = Shared(place_of(session, work).name, exported)
        options = LinkOptions(host, embedded(contents), blobs, shared=shared)
        return shared_object(session, kernels, tables, options, f"{shown.name}_")
    left_out = unused_sections(work.system, work.plan)
    options = LinkOptions(host, embedded(contents), blobs, left_out=left_out)
    return executable(session, kernels, tables, options)


def executable(
    session: Session, kernels: Sequence[str], tables: str, options: LinkOptions
) -> bytes:
    """Modules of kernels and the tables as LLVM IR, compiled, linked with the runtime, and verified."""
    host = options.host
    *code, system = _compiled(session, host, [*kernels, tables])
    objects: list[tuple[str, bytes]] = [
        ("start", stub_object(host)),
        ("runtime", session.runtime.get(host)),
        *((f"kernels.{number}", each) for number, each in enumerate(code)),
        ("system", system),
    ]
    image = link(objects, options)
    verify(image, host)
    return image


def shared_object(
    session: Session, kernels: Sequence[str], tables: str, options: LinkOptions, prefix: str
) -> bytes:
    """As `executable`; the runtime is that of libraries, and what is exported begins with the prefix."""
    from alpha.runtime.build import library_ir  # other builds find the runtime compiled

    host = options.host
    runtime, *code, system = _compiled(session, host, [library_ir(host), *kernels, tables])
    objects: list[tuple[str, bytes]] = [
        ("start", stub_object(host)),
        ("runtime", runtime),
        *((f"kernels.{number}", each) for number, each in enumerate(code)),
        ("system", system),
    ]
    image = link(objects, options)
    verify_shared(image, host, prefix)
    return image


def _compiled(session: Session, host: HostTarget, modules: Sequence[str]) -> list[bytes]:
    """The objects of modules, from the cache where this very text was compiled before."""
    compiler = compiler_digest("base", "codegen", "targets")
    keys = {
        ir: ("object", host.name, compiler, llvmlite_version(), sha256_text(ir)) for ir in modules
    }
    found = {ir: session.cache.find(*key) for ir, key in keys.items()}
    missing = [ir for ir, known in found.items() if known is None]
    made = (
        dict(zip(missing, session.workers.compile(missing, host), strict=True)) if missing else {}
    )
    for ir, payload in made.items():
        session.cache.keep(*keys[ir], payload=payload)
    return [found[ir] or made[ir] for ir in modules]


def write(work: Build, contents: Contents, report: bytes, place: Path, image: bytes) -> None:
    """Writes the output and what belongs beside it, all or nothing, the output last."""
    if not image:
        raise Refused(empty_artifact(work.choice.output))
    manifest, report_place, module, *beside_it = _companions(work, place)
    write_all(
        [
            *(OutputFile(each, _companion(work)) for each in beside_it),
            OutputFile(manifest, beside(contents, sha256(image))),
            OutputFile(report_place, report),
            OutputFile(module, module_source(statement_of(work, contents)).encode()),
            OutputFile(place, image, executable=work.request.emit == "exe"),
        ]
    )


def _companion(work: Build) -> bytes:
    """The file that belongs to a library or to the code of a device alone: the header, or the plan."""
    if work.on_device:
        return plan_text(work.plan).encode()
    return header_text(interface_of(work.system, work.plan)).encode()


def is_up_to_date(contents: Contents, place: Path) -> bool:
    """Whether an earlier build of the same inputs, by the same compiler, left its output there unchanged."""
    try:
        image = place.read_bytes()
        stated = place.with_name(f"{place.name}.manifest.json").read_bytes()
    except OSError:
        return False
    return stated == beside(contents, sha256(image))


def _companions(work: Build, place: Path) -> tuple[Path, ...]:
    """The manifest, the report, the artifact module; of a library the header, of a device's code the plan."""
    own: tuple[Path, ...] = ()
    if work.request.emit == "shared":
        own = (place.with_name(f"{place.stem}.h"),)
    elif work.on_device:
        own = (place.with_name(f"{place.name}.plan.json"),)
    return (
        place.with_name(f"{place.name}.manifest.json"),
        place.with_name(f"{place.name}.report.json"),
        place.with_name(work.choice.artifact),
        *own,
    )
