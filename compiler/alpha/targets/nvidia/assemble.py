"""The gate of the assembler: every entry keeps its bounds in the machine code that NVIDIA's `ptxas` makes of it.

`ptxas` is never part of Alpha. It is a program that is found, said by version and digest, and not believed: what it
says of an entry must be what the cubin says. All that is known here is known of that version.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from alpha.base.record import record
from alpha.targets.nvidia.cubin import Code, Cubin, read_cubin
from alpha.targets.nvidia.errors import AssemblerFault, CubinFault
from alpha.targets.nvidia.ptx import Entry, Module
from alpha.targets.nvidia.text import to_text
from alpha.targets.nvidia.verify import TARGETS

NAME = "ptxas"
VARIABLE = "ALPHA_PTXAS"
"""The environment variable that names the assembler to take."""
SECONDS = 600
_WRAPPER = re.compile(r'#!/\S*sh\n(?:#.*\n|\n)*exec (/\S+) "\$@"\n?')
_VERSION = re.compile(r"\bV(\d+\.\d+\.\d+)\b")
_COMPILED = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_STACK = re.compile(
    r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")


@record
class Assembler:
    """The program at `path`; `digest` is the SHA-256 of its bytes, `version` what it says of itself: `13.0.88`."""

    path: Path
    version: str
    digest: str


@record
class Usage:
    """What the assembler says of an entry. All but the registers is in bytes."""

    registers: int
    shared: int
    stack: int
    stored: int
    loaded: int


@record
class Assembled:
    """`data` is the file of the code; `usages` has what was said of each entry."""

    assembler: Assembler
    data: bytes
    cubin: Cubin
    usages: Mapping[str, Usage]


def find(environment: Mapping[str, str], folders: Sequence[str]) -> Assembler | None:
    """The assembler to take: `ALPHA_PTXAS`, else that of a wheel in one of the folders, else that on PATH.

    `folders` are those that Python imports from. None is an answer: nothing needs an assembler but code for a card.
    Raises `AssemblerFault` for one that is named, or found, and cannot be used.
    """
    named = environment.get(VARIABLE)
    if named:
        return _assembler(Path(named))
    for folder in folders:
        for path in sorted(Path(folder).glob(f"nvidia/*/bin/{NAME}")):
            if os.access(path, os.X_OK):
                return _assembler(path)
    found = shutil.which(NAME, path=environment.get("PATH", ""))
    return None if found is None else _assembler(Path(found))


def _assembler(path: Path) -> Assembler:
    path = _behind(path)
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise AssemblerFault(f"`{path}` cannot be read: {error.strerror}") from None
    said = _run(path, ["--version"])
    version = _VERSION.search(said.stdout)
    if said.returncode or version is None:
        raise AssemblerFault(f"`{path}` does not say the version of an assembler")
    return Assembler(path, version[1], digest)


def _behind(path: Path) -> Path:
    """The program itself, where the path is that of a script which starts it and does nothing else."""
    try:
        with path.open("rb") as file:
            start = file.read(4_096)
    except OSError as error:
        raise AssemblerFault(f"`{path}` cannot be read: {error.strerror}") from None
    if not start.startswith(b"#!"):
        return path
    wrapper = _WRAPPER.fullmatch(start.decode("utf-8", "replace"))
    if wrapper is None:
        raise AssemblerFault(f"`{path}` is a script, and which file it runs is not known")
    return Path(wrapper[1])


def _run(path: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [str(path), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
        )
    except OSError as error:
        raise AssemblerFault(f"`{path}` cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise AssemblerFault(f"`{path}` was not done after {SECONDS} seconds") from None


def assemble(assembler: Assembler, module: Module) -> Assembled:
    """The machine code of a module, held to the bounds of its entries.

    Raises `AssemblerFault` where the assembler refuses the text, says something else than its code, or where an entry
    takes more than its bound: registers, any stack or spilled value, or shared bytes that differ.
    """
    target = TARGETS[module.target]
    with tempfile.TemporaryDirectory(prefix="alpha-ptxas-") as folder:
        text, code = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
        text.write_text(to_text(module), "utf-8")
        said = _run(assembler.path, ["-v", f"-arch={target.name}", "-o", str(code), str(text)])
        if said.returncode:
            raise AssemblerFault(_refusal(assembler, said.stderr + said.stdout, folder))
        data = code.read_bytes()
    usages = _usages(said.stderr + said.stdout, target.name)
    _refuse(assembler, _exceeded(module.entries, usages))
    try:
        cubin = read_cubin(data, target.instruction_set)
    except CubinFault as fault:
        _refuse(assembler, [f"the code is of another form: {fault}"])
        raise
    _refuse(assembler, _contradicted(module.entries, usages, cubin.entries))
    return Assembled(assembler, data, cubin, usages)


def _refuse(assembler: Assembler, reasons: Iterable[str]) -> None:
    found = "; ".join(reasons)
    if found:
        raise AssemblerFault(f"{NAME} {assembler.version}: {found}")


def _refusal(assembler: Assembler, said: str, folder: str) -> str:
    lines = [line.replace(f"{folder}/", "") for line in said.splitlines() if ": info" not in line]
    first = [line.strip() for line in lines if " error " in line or " fatal " in line] or lines
    return f"{NAME} {assembler.version} refuses the text: {'; '.join(first[:3])}"


def _usages(said: str, target: str) -> dict[str, Usage]:
    """What was said of each entry, with `-v`: its name, then its stack, then its registers and shared bytes."""
    found: dict[str, Usage] = {}
    name, of, stack = "", "", [0, 0, 0]
    for line in said.splitlines():
        if (compiled := _COMPILED.search(line)) is not None:
            name, stack = compiled[1], [0, 0, 0]
            if compiled[2] != target:
                raise AssemblerFault(f"`{name}` was assembled for {compiled[2]}, not for {target}")
        elif (properties := _PROPERTIES.search(line)) is not None:
            of = properties[1]
        elif (frame := _STACK.fullmatch(line)) is not None and of:
            # The functions that the assembler adds have stacks too, and are part of the entry.
            stack = [max(a, int(b)) for a, b in zip(stack, frame.groups(), strict=True)]
        elif (used := _USED.search(line)) is not None and name:
            shared = _SHARED.search(line)
            found[name] = Usage(int(used[1]), int(shared[1]) if shared is not None else 0, *stack)
    return found


def _exceeded(entries: Sequence[Entry], usages: Mapping[str, Usage]) -> Iterator[str]:
    """Each bound that is not kept."""
    for entry in entries:
        usage = usages.get(entry.name)
        if usage is None:
            yield f"nothing is said of `{entry.name}`"
            continue
        if usage.registers > entry.registers:
            yield f"`{entry.name}` takes {usage.registers} registers, and its bound is {entry.registers}"
        if usage.stored or usage.loaded:
            yield f"`{entry.name}` spills {max(usage.stored, usage.loaded)} bytes of registers"
        elif usage.stack:
            yield f"`{entry.name}` takes {usage.stack} bytes of stack"
        if usage.shared != entry.shared:
            yield f"`{entry.name}` takes {usage.shared} shared bytes, not {entry.shared}"


def _contradicted(
    entries: Sequence[Entry], usages: Mapping[str, Usage], codes: Sequence[Code]
) -> Iterator[str]:
    """Each word of the assembler, and of the text, that the code does not bear out."""
    by_name = {code.name: code for code in codes}
    if by_name.keys() != {entry.name for entry in entries}:
        yield "the code has other entries than the text"
        return
    for entry in entries:
        usage, code = usages[entry.name], by_name[entry.name]
        said = usage.registers, usage.shared, entry.threads, entry.parameters
        if said != (code.registers, code.shared, code.threads, code.parameters):
            yield f"the code of `{entry.name}` is not what was said of it"
