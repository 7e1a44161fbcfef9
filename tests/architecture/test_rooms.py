"""Whatever is added is added everywhere: each test names the rooms that an operation, a host or a command still lacks.

`docs/architecture.md` says which rooms those are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from alpha.base.host import HostTarget
from alpha.check.operations import FORMS, OPERATORS, ORDINARY, SPECIAL
from alpha.check.source_roots import SourceRoots
from alpha.cli.commands import SUMMARIES, load
from alpha.elf import form, reloc
from alpha.elf.image import RELATIVE
from alpha.elf.stubs import stub_object
from alpha.evaluate.demands import rows
from alpha.evaluate.files import FileAccess
from alpha.evaluate.intrinsics.table import operations
from alpha.graph.ops import TABLE
from alpha.kernel.block import VIEWS
from alpha.kernel.device import DEVICE
from alpha.kernel.direct import TEMPLATES
from alpha.runtime.linux import machine_for
from alpha.targets import HOSTS
from compiler_source import PACKAGE, modules, nodes, texts

ROOT = Path(__file__).resolve().parents[2]

NOT_BUILT = {
    "bytesOf", "nvidiaHostDemands", "requests",
}  # fmt: skip
"""Operations of the language that evaluation refuses with E0011."""


# ---- operations ----------------------------------------------------------------------------------------------------


def test_every_operation_of_the_graph_is_lowered_and_has_an_oracle() -> None:
    known = set[str]().union(*map(texts, (ROOT / "reference" / "semantics").glob("*.py")))
    missing: list[str] = []
    for name, row in TABLE.items():
        exact = row.primitive and not row.leaf and not row.interval
        for folder, templates in (("direct", TEMPLATES), ("device", DEVICE.templates)):
            if exact and name not in {*templates, *VIEWS}:
                missing.append(f"{name}: a template in kernel/{folder}/")
        if (not row.primitive or row.interval) and name in TEMPLATES:
            missing.append(f"{name}: it has an expansion, and no use for a template")
        if name not in known:
            missing.append(f"{name}: an oracle in reference/semantics/")
        if not row.meaning:
            missing.append(f"{name}: its meaning in graph/ops/")
        if row.gradient is not None and not (row.gradient.__doc__ or "").strip():
            missing.append(f"{name}: the formula of its gradient, as a docstring")
    assert missing == []
    assert set(DEVICE.templates) == set(TEMPLATES) <= set(TABLE)


def test_every_operation_of_the_language_is_evaluated_or_known_not_to_be() -> None:
    evaluated = set(operations(FileAccess({}), rows(_no_system, lambda system, target: ())))
    checked = {*SPECIAL, *FORMS, *ORDINARY, *OPERATORS.values()}
    assert checked - evaluated == NOT_BUILT
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert [name for name in sorted(NOT_BUILT) if f"`{name}`" not in page] == []


def _no_system(symbol: str) -> object:
    raise AssertionError


# ---- hosts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_every_host_has_its_rooms(host: HostTarget) -> None:
    assert list(_missing(host)) == []


def _missing(host: HostTarget) -> Iterator[str]:
    if not stub_object(host).startswith(b"\x7fELF"):
        yield "its stub in elf/stubs/"
    for name, table in (
        ("the relocation types in elf/reloc.py", reloc.TABLE),
        ("the relative relocation in elf/form.py", form.R_RELATIVE),
        ("the feature property in elf/form.py", form.FEATURE_PROPERTY),
        ("the relative relocation in elf/verify.py, written a second time on purpose", RELATIVE),
    ):
        if host.machine not in table:
            yield name
    machine = machine_for(host.machine)
    for call in sorted(set().union(*(machine_for(other.machine).system_calls for other in HOSTS))):
        if call not in machine.system_calls:
            yield f"the system call {call} in runtime/linux.py"
    if not (PACKAGE / "runtime" / "source" / f"{machine.source}.rt").is_file():
        yield f"runtime/source/{machine.source}.rt"
    module, _, profile = host.profile.rpartition(".")
    found = SourceRoots.open(None).modules().get(module)
    if found is None or not re.search(rf"^profile {profile}\b", found.file.read_text(), re.M):
        yield f"the profile {host.profile} in platforms/"
    if f"\n## {host.name}\n" not in (ROOT / "docs" / "host-contract.md").read_text("utf-8"):
        yield "its section in docs/host-contract.md"


def test_no_level_below_the_targets_chooses_by_a_target_s_name() -> None:
    """`evaluate/demands.py` maps the names of library functions, which are those of the platforms they ask for."""
    names = {host.name for host in HOSTS}
    for path in modules():
        part = path.relative_to(PACKAGE).as_posix()
        if not part.startswith("targets/") and part != "evaluate/demands.py":
            assert not names & texts(path), part


# ---- commands and diagnostics --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_command_has_its_rooms(name: str) -> None:
    assert load(name).name == name
    assert f"| `alpha {name}" in (ROOT / "docs" / "command-line.md").read_text("utf-8")
    pages = [path.read_text("utf-8") for path in (ROOT / "tests" / "spec" / "cli").glob("*.md")]
    assert any(re.search(rf"^\$ alpha {name}\b", page, re.M) for page in pages), "a spec page"


def test_diagnostics_are_made_by_constructors_of_their_phase() -> None:
    """Sentences that stand together stay alike, and the code around them stays readable."""
    elsewhere = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in modules()
        if "errors" not in path.stem and path.parent.name != "diagnostics"
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Diagnostic"
    ]
    assert elsewhere == []
