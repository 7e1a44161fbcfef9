"""The tables of a system: the runtime's constants and the written bytes come from one list."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import replace

import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate.system import DataField, Stop, System
from alpha.runtime import abi
from alpha.runtime.build import LIBRARY_SOURCES, SOURCES, runtime_sources
from alpha.runtime.descriptor import system_ir, unused_sections
from alpha.runtime.memory import process_memory
from alpha.runtime.sources import UNITS, source_text
from alpha.runtime.tables import Tables
from alpha.targets import HOSTS
from alpha.targets.x86_64.spec import X86_64_LINUX
from targets.runtime.tiny import tiny_plan, tiny_system


def test_fields_follow_one_another_without_padding() -> None:
    constants = abi.constants()
    for record in abi.RECORDS:
        places = [constants[f"{record.name}_{name.upper()}"] for name, _ in record.fields]
        ends = [
            place + abi.WIDTHS[kind] for place, (_, kind) in zip(places, record.fields, strict=True)
        ]
        assert places == [0, *ends[:-1]] and ends[-1] == record.size


def test_tables_need_no_relocation_when_a_program_starts() -> None:
    text, _ = system_ir(tiny_system(), tiny_plan(), X86_64_LINUX)
    tables = [line for line in text.splitlines() if " constant [" in line]
    assert len(tables) > 20 and not any(
        "ptr @" in line.replace("ptrtoint (ptr @", "") for line in tables
    )


def test_no_two_constants_share_a_name() -> None:
    names = [f"{record.name}_{name.upper()}" for record in abi.RECORDS for name, _ in record.fields]
    names += [f"{record.name}_SIZE" for record in abi.RECORDS]
    assert len(names) == len(set(names))


def test_every_field_is_read_by_the_runtime() -> None:
    text = "\n".join(source.text for source in runtime_sources(X86_64_LINUX))
    unread = {
        f"{record.name}_{name.upper()}"
        for record in abi.RECORDS
        for name, _ in record.fields
        if not re.search(rf"\b{record.name}_{name.upper()}\b", text)
    }
    assert unread == set()


def test_every_source_belongs_to_the_runtime() -> None:
    from importlib.resources import files

    stored = {path.name for path in files("alpha.runtime").joinpath("source").iterdir()}
    listed = {f"{name}.rt" for name in {*SOURCES, *LIBRARY_SOURCES}} | {
        "isa_x86_64.rt",
        "isa_aarch64.rt",
    }
    assert stored == listed


def test_equal_inputs_give_equal_tables() -> None:
    for host in HOSTS:
        assert system_ir(tiny_system(), tiny_plan(), host) == system_ir(
            tiny_system(), tiny_plan(), host
        )


def test_a_row_with_other_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="COPY: fields bytes, other"):
        Tables().rows("x", abi.COPY, [{"source": 1, "target": 2, "other": 3}])


def test_bundled_rows_are_blobs_and_read_rows_are_memory() -> None:
    _, blobs = system_ir(tiny_system(), tiny_plan(), X86_64_LINUX)
    assert [(blob.symbol, len(blob.data)) for blob in blobs] == [
        ("alpha_data_0", 61 * 4),
        ("alpha_data_1", 61),
    ]
    text, blobs = system_ir(tiny_system(bundle=False), tiny_plan(), X86_64_LINUX)
    assert blobs == () and b"Tiny/tiny.csv".hex().upper() in text.replace("\\", "")
    bundled = process_memory(tiny_system(), tiny_plan(), X86_64_LINUX)
    read = process_memory(tiny_system(bundle=False), tiny_plan(), X86_64_LINUX)
    assert read.mapped == bundled.mapped  # both fit the same page
    assert bundled.thread == 262144 + 8192


def test_what_the_runtime_cannot_do_yet_is_said_at_build_time() -> None:
    system = tiny_system()
    field = DataField("image", TensorType(Dtype.BF16, (4,)), Dtype.U8, b"")
    for changed in (
        replace(system, steps=1 << 32),
        replace(system, checkpoint=replace(system.checkpoint, folder="x" * 3001)),
        replace(system, predict_output=TensorType(Dtype.F32, ())),
        replace(system, data=replace(system.data, fields=(field,))),
    ):
        with pytest.raises(Refused) as refused:
            system_ir(changed, tiny_plan(), X86_64_LINUX)
        assert [item.code for item in refused.value.diagnostics] == ["E0011"]


def test_the_runtime_declares_nothing_that_it_does_not_use() -> None:
    sources = runtime_sources(X86_64_LINUX)
    text = "\n".join(source.text for source in sources)
    # what LLVM, the stubs or the start call is used without being named
    called_from_outside = {"rt_syscall", "memmove", "bcmp", "rt_start"}
    declared = set(re.findall(r"^(?:def (\w+)\(|(\w+)(?:: \w| = ))", text, re.MULTILINE))
    declared = {function or variable for function, variable in declared}
    uses = Counter(re.findall(r"\w+", text))
    assert {name for name in declared if uses[name] < 2} <= called_from_outside


def test_counts_beyond_all_steps_mean_never_and_have_their_place() -> None:
    system = tiny_system()
    huge = replace(
        system,
        evaluate_every=2**64,
        checkpoint=replace(system.checkpoint, every=10**30, keep=10**30),
        report=replace(system.report, every=2**63),
        stop=(Stop("Plateau", "loss", patience=2**70),),
    )
    text, _ = system_ir(huge, tiny_plan(), X86_64_LINUX)
    assert f"i64 {2**32}" in text


ENTERED = {
    "open_board": "only where a sink is TensorBoard",
    "cut_board": "only where a sink is TensorBoard",
    "put_board_step": "only where a sink is TensorBoard",
    "put_board_metrics": "only where a sink is TensorBoard",
    "sync_board": "only where a sink is TensorBoard",
    "read_data": "only where examples come from files",
    "behind_line": "only to predict from a file",
    "store_number": "only to predict from a file",
    "store_integer": "only to predict from a file",
    "run_tests": "only in programs of tests",
    "sample_text": "only where a program samples",
}
"""What other sources call of those that may be left out, and why `unused_sections` keeps it where it is called."""


def test_sources_that_may_be_left_out_are_entered_where_it_is_known() -> None:
    trees = {name: ast.parse(source_text(name)) for name in (*SOURCES, *LIBRARY_SOURCES)}
    defined = {
        item.name
        for unit in UNITS
        for item in trees[unit].body
        if isinstance(item, ast.FunctionDef)
    }
    entered = {
        node.func.id
        for name, tree in trees.items()
        if name not in UNITS
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert defined & entered == ENTERED.keys()


def test_what_predicts_keeps_what_reads_rows() -> None:
    system = tiny_system()
    assert system.predict_input is not None
    assert ".text.data" not in unused_sections(system, tiny_plan())
    assert ".text.data" in unused_sections(replace(system, predict_input=None), tiny_plan())


def test_a_program_leaves_out_the_sources_that_it_never_enters() -> None:
    def unused(system: System) -> set[str]:
        return {name.rpartition(".")[2] for name in unused_sections(system, tiny_plan())}

    system = replace(tiny_system(), predict_input=None)
    board = replace(system, report=replace(system.report, sinks=("TensorBoard",)))
    plain = replace(system, report=replace(system.report, sinks=("Terminal",)))
    assert unused(plain) == {"board", "data", "sample", "tests"}
    assert unused(board) == {"data", "sample", "tests"}
    assert unused(replace(plain, bundle=False)) == {"board", "sample", "tests"}
