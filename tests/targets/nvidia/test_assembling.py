"""What NVIDIA's assembler makes of Alpha's PTX keeps the bounds of every entry."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from alpha.base.record import replace
from alpha.targets.nvidia.assemble import Assembler, assemble, find
from alpha.targets.nvidia.errors import AssemblerFault
from alpha.targets.nvidia.occupancy import blocks_at_once
from alpha.targets.nvidia.ptx import (
    Address,
    Entry,
    Instruction,
    Kind,
    Module,
    Parameter,
    Real,
    Register,
)
from alpha.targets.nvidia.read import from_text
from alpha.targets.nvidia.spec import SM_86
from alpha.targets.nvidia.text import to_text
from targets.nvidia.modules import every_form

SYSTEMS = ("Digits", "Coppelius", "Olimpia")


@pytest.mark.parametrize("target", ["sm_86", "sm_89"])
def test_every_form_is_one_of_the_assembler(assembler: Assembler, target: str) -> None:
    module = replace(every_form(), target=target)
    made = assemble(assembler, module)
    (entry,), (code,) = module.entries, made.cubin.entries
    assert made.cubin.architecture == int(target.removeprefix("sm_"))
    assert (code.name, code.threads, code.shared) == (entry.name, entry.threads, entry.shared)
    assert (code.parameters, code.barriers) == (2, 1)
    assert made.usages[entry.name].registers == code.registers <= entry.registers


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_kernel_of_a_system_keeps_its_bounds(
    assembler: Assembler, system_module: Callable[[str], Module], name: str
) -> None:
    module = system_module(name)
    assert len(module.entries) > 100
    made = assemble(assembler, module)
    for entry in module.entries:
        usage = made.usages[entry.name]
        assert usage.registers <= entry.registers
        assert (usage.stack, usage.stored, usage.loaded) == (0, 0, 0)
        assert usage.shared == entry.shared
        fit = blocks_at_once(SM_86, entry.threads, usage.registers, usage.shared)
        assert fit >= blocks_at_once(SM_86, entry.threads, entry.registers, entry.shared)
        assert fit >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_text_of_a_system_is_read_back(
    system_module: Callable[[str], Module], name: str
) -> None:
    module = system_module(name)
    assert from_text(to_text(module)) == module


def demanding(registers: int) -> Entry:
    """An entry in which 64 values live at once: each is needed again behind the sum of all."""
    source, target = Register(Kind.B64, 0), Register(Kind.B64, 1)
    total, product = Register(Kind.F32, 64), Register(Kind.F32, 65)
    values = [Register(Kind.F32, number) for number in range(64)]
    body = [
        Instruction("ld.param.u64", (source, Parameter(0))),
        Instruction("ld.param.u64", (target, Parameter(1))),
        Instruction("mov.f32", (total, Real(0))),
    ]
    for value in values:
        place = Address(source, 4 * value.number)
        body.append(Instruction("ld.global.f32", (value, place)))
    for value in values:
        body.append(Instruction("add.rn.f32", (total, total, value)))
    for value in values:
        place = Address(target, 4 * value.number)
        body.append(Instruction("mul.rn.f32", (product, total, value)))
        body.append(Instruction("st.global.f32", (place, product)))
    return Entry("k", 2, 256, registers, 0, (*body, Instruction("ret")))


def refused(assembler: Assembler, entry: Entry) -> str:
    with pytest.raises(AssemblerFault) as raised:
        assemble(assembler, Module("sm_86", (entry,)))
    return str(raised.value)


def test_values_that_do_not_fit_the_bound_are_spilled_and_refused(assembler: Assembler) -> None:
    assert assemble(assembler, Module("sm_86", (demanding(96),))).usages["k"].registers > 64
    said = refused(assembler, demanding(32))
    assert said.startswith(f"ptxas {assembler.version}: `k` spills")
    assert "bytes of registers" in said


def test_a_bound_that_the_assembler_does_not_keep_is_refused(assembler: Assembler) -> None:
    assert "registers, and its bound is 8" in refused(assembler, demanding(8))


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ("s/Used [0-9]* registers/Used 5 registers/", "the code of `forms` is not what was said"),
        (
            "s/Used [0-9]* registers/Used 256 registers/",
            "takes 256 registers, and its bound is 255",
        ),
        ("s/1024 bytes smem/1040 bytes smem/", "`forms` takes 1040 shared bytes, not 1024"),
        ("s/0 bytes stack frame/16 bytes stack frame/", "`forms` takes 16 bytes of stack"),
        ("s/0 bytes spill stores/8 bytes spill stores/", "`forms` spills 8 bytes of registers"),
        ("s/for 'sm_86'/for 'sm_89'/", "`forms` was assembled for sm_89, not for sm_86"),
        ("/Used/d", "nothing is said of `forms`"),
    ],
)
def test_what_an_assembler_says_must_fit_the_bounds_and_its_code(
    assembler: Assembler, edit: str, reason: str, tmp_path: Path
) -> None:
    said = f'#!/bin/sh\n{assembler.path} "$@" 2>&1 | sed "{edit}" >&2\n'
    liar = replace(assembler, path=program(tmp_path / "ptxas", said))
    with pytest.raises(AssemblerFault, match=reason):
        assemble(liar, every_form())


def test_code_of_another_text_is_refused(assembler: Assembler, tmp_path: Path) -> None:
    own = tmp_path / "own.ptx"
    own.write_text(to_text(Module("sm_86", (replace(demanding(96), name="forms"),))), "utf-8")
    said = f"#!/bin/sh\nout=$4\n{assembler.path} -v -arch=sm_86 -o $out {own}\n"
    liar = replace(assembler, path=program(tmp_path / "ptxas", said))
    with pytest.raises(AssemblerFault, match="`forms` takes 0 shared bytes, not 1024"):
        assemble(liar, every_form())


def test_more_static_shared_bytes_than_a_block_has_are_refused(assembler: Assembler) -> None:
    (forms,) = every_form().entries
    said = refused(assembler, replace(forms, shared=49_152 + 16))
    assert "refuses the text" in said
    assert "too much shared data" in said


def test_a_text_that_is_no_ptx_is_refused_with_the_words_of_the_assembler(
    assembler: Assembler,
) -> None:
    entry = Entry("k", 0, 32, 32, 0, (Instruction("no.such.form"), Instruction("ret")))
    said = refused(assembler, entry)
    assert said.startswith(
        f"ptxas {assembler.version} refuses the text: ptxas kernels.ptx, line 10"
    )


class TestFinding:
    """Which assembler is taken: the one that is named, then one of a wheel, then one on PATH."""

    def test_the_program_is_said_by_version_and_digest(self, assembler: Assembler) -> None:
        assert assembler.digest == hashlib.sha256(assembler.path.read_bytes()).hexdigest()
        assert all(part.isdigit() for part in assembler.version.split("."))

    def test_none_is_an_answer(self, tmp_path: Path) -> None:
        assert find({}, []) is None
        assert find({"PATH": str(tmp_path)}, [str(tmp_path)]) is None

    def test_a_script_that_starts_it_is_looked_through(
        self, assembler: Assembler, tmp_path: Path
    ) -> None:
        script = program(tmp_path / "ptxas", f'#!/bin/sh\nexec {assembler.path} "$@"\n')
        assert find({"PATH": str(tmp_path)}, []) == assembler
        assert find({"ALPHA_PTXAS": str(script), "PATH": ""}, []) == assembler

    def test_the_named_one_goes_before_a_wheel_and_a_wheel_before_the_path(
        self, tmp_path: Path
    ) -> None:
        for name in ("named/ptxas", "wheel/nvidia/cuda_nvcc/bin/ptxas", "path/ptxas"):
            program(tmp_path / name, f'#!/bin/sh\nexec {tmp_path / name}.sh "$@"\n')
            # What a script starts is a program of any kind; these say another version each.
            number = len(name)
            program(tmp_path / f"{name}.sh", f"#!/bin/sh\necho V1.2.{number}\n")
        environment = {"ALPHA_PTXAS": str(tmp_path / "named/ptxas"), "PATH": str(tmp_path / "path")}
        folders = [str(tmp_path / "nothing"), str(tmp_path / "wheel")]
        found = [
            find(environment, folders),
            find({"PATH": environment["PATH"]}, folders),
            find({"PATH": environment["PATH"]}, folders[:1]),
        ]
        assert [item and item.version for item in found] == [
            f"1.2.{len('named/ptxas')}",
            f"1.2.{len('wheel/nvidia/cuda_nvcc/bin/ptxas')}",
            f"1.2.{len('path/ptxas')}",
        ]

    def test_a_wheel_without_the_right_to_execute_is_passed_by(self, tmp_path: Path) -> None:
        path = program(tmp_path / "nvidia/cu13/bin/ptxas", "#!/bin/sh\necho V1.2.3\n")
        path.chmod(0o644)
        assert find({"PATH": ""}, [str(tmp_path)]) is None

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (None, "cannot be read: No such file or directory"),
            ("#!/bin/sh\n$CUDA/ptxas\n", "is a script, and which file it runs is not known"),
            ('#!/bin/sh\nexec /no/such/file "$@"\n', "cannot be read: No such file or directory"),
            ("no program", "cannot be run: Exec format error"),
        ],
    )
    def test_a_named_one_that_cannot_be_used_is_refused(
        self, text: str | None, reason: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "ptxas"
        if text is not None:
            program(path, text)
        with pytest.raises(AssemblerFault, match=reason):
            find({"ALPHA_PTXAS": str(path)}, [])

    def test_a_program_of_another_kind_is_refused(self) -> None:
        true = shutil.which("true")
        assert true is not None
        with pytest.raises(AssemblerFault, match="does not say the version of an assembler"):
            find({"ALPHA_PTXAS": true}, [])


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path
