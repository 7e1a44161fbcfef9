"""How a spec page is read, run and blessed.

A page is prose with fenced blocks. The blocks of one section (up to the next heading) share a folder of their own.

| fence | meaning |
|---|---|
| `alpha` | a module, written to the path its header says; checked with the other modules of its section |
| `text NAME`, `csv NAME`, ... | a file of that name |
| `lock` | `alpha.lock`, with a line for each such file |
| `diagnostics` | what `alpha check` prints for the modules of the section |
| `refused CODE` | the same for the refused example of the code's explanation page |
| `admission NAME` | what admission refuses of a build of NAME |
| `cli` | commands behind `$ ` with what they print, words and data together, and `[exit N]` if N is not 0 |
| `core NAME`, `graph NAME`, `kernel NAME`, `plan NAME` | what `alpha view NAME --stage ...` prints |
| `report NAME` | the admission report of a build of NAME, as text |

Behind the last three, `json` or `sarif` asks for that format, of SARIF the results alone, one a line.

A comment `-- error: E0412` in a module claims that code on its line, `-- warning: W0001` a warning. A section without
a claim must be free of errors. A line `...` of an expectation stands for any number of lines. `make bless` rewrites
expectations that do not fit.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from alpha.admission import admit
from alpha.admission.peak import peak
from alpha.admission.report import to_text
from alpha.base.digest import sha256_text
from alpha.cli.main import run
from alpha.diagnostics.diagnostic import Diagnostic, Diagnostics, Refused, Severity
from alpha.diagnostics.json import json_lines
from alpha.diagnostics.pages import load_page
from alpha.diagnostics.render import render_all
from alpha.diagnostics.sarif import sarif
from alpha.driver.checking import check
from alpha.driver.packages import package_of
from alpha.driver.request import Request
from alpha.driver.session import Session
from alpha.driver.testing import run_tests

EXPECTATIONS = {"diagnostics", "refused", "admission", "cli"} | {
    "core", "graph", "kernel", "plan", "report"
}  # fmt: skip
STAGES = {"core", "graph", "kernel", "plan"}

_FENCE = re.compile(
    r"^(?P<ticks>`{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=ticks)$", re.MULTILINE | re.DOTALL
)
_CLAIM = re.compile(r"-- (?:error|warning): (?P<codes>[A-Z]\d{4}(?:, [A-Z]\d{4})*)")
_HEADER = re.compile(r"^module ([A-Za-z0-9.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fence: its place in the page's text, its kind and the rest of its first line."""

    kind: str
    argument: str
    text: str
    start: int
    end: int


@dataclass
class Section:
    title: str
    blocks: list[Block] = field(default_factory=list)

    @property
    def modules(self) -> list[tuple[str, str]]:
        """Path and text of each module."""
        found = []
        for block in self.blocks:
            if block.kind == "alpha":
                header = _HEADER.search(block.text)
                name = header[1] if header else "Main"
                found.append((block.argument or name.replace(".", "/") + ".alpha", block.text))
        return found

    def write_files(self, folder: Path) -> None:
        files = self.modules + [
            (block.argument, block.text)
            for block in self.blocks
            if block.kind != "alpha" and block.kind not in EXPECTATIONS and block.argument
        ]
        if any(block.kind == "lock" for block in self.blocks):
            held = [(path, text) for path, text in files if not path.endswith(".alpha")]
            lines = [f"{sha256_text(text)}  {path}\n" for path, text in sorted(held)]
            files.append(("alpha.lock", "".join(lines)))
        for path, text in files:
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")


def sections(text: str) -> list[Section]:
    """The sections of a page that hold fences."""
    blocks = []
    for match in _FENCE.finditer(text):
        kind, _, argument = match["info"].strip().partition(" ")
        blocks.append(
            Block(kind, argument.strip(), match["text"], match.start("text"), match.end("text"))
        )
    fences = [(block.start, block.end) for block in blocks]
    heads = [(0, "")] + [
        (match.start(), match[1])
        for match in re.finditer(r"^#+ +(.+)$", text, re.MULTILINE)
        if not any(start <= match.start() < end for start, end in fences)
    ]
    result = [Section(title) for _, title in heads]
    for block in blocks:
        owner = max(n for n, (start, _) in enumerate(heads) if start <= block.start)
        result[owner].blocks.append(block)
    return [section for section in result if section.blocks]


def claims(section: Section) -> set[tuple[str, int, str]]:
    """(path, line, code) of every claim."""
    return {
        (path, number, code)
        for path, text in section.modules
        for number, line in enumerate(text.splitlines(), start=1)
        for match in _CLAIM.finditer(line)
        for code in match["codes"].split(", ")
    }


def check_modules(folder: Path) -> Diagnostics:
    """What a check of the package in `folder` reports."""
    package, names = package_of([folder])
    with chdir(folder), Session.open(package) as session:
        try:
            check(session, names)
        except Refused as refused:
            for diagnostic in refused.diagnostics:
                session.diagnostics.report(diagnostic)
        return session.diagnostics


def run_all_tests(folder: Path) -> Diagnostics:
    """What running the tests of a folder's modules finds, warnings left out."""
    package, names = package_of((folder,))
    with Session.open(package) as session:
        for test in run_tests(session, names, None):
            if test.fault is not None:
                session.diagnostics.report(test.fault)
        return session.diagnostics


def run_section(section: Section, folder: Path) -> Iterator[tuple[Block, str]]:
    """Runs a section in `folder`. Yields each expectation with what was found; raises where a claim does not hold."""
    section.write_files(folder)
    claimed = claims(section)
    asked = {block.kind for block in section.blocks}
    if section.modules and (claimed or not asked & {"cli"}):
        diagnostics = check_modules(folder)
        found = {
            (
                item.span.source.path if item.span else "",
                item.span.line if item.span else 0,
                item.code,
            )
            for item in diagnostics.items
            if item.severity is Severity.ERROR or any(code == item.code for _, _, code in claimed)
        }
        rendered = render_all(diagnostics.items)
        assert found == claimed, f"{section.title}: claimed {claimed}, found\n{rendered}"
        for block in section.blocks:
            if block.kind == "diagnostics":
                yield block, in_format(diagnostics.items, block.argument)
    for block in section.blocks:
        if block.kind == "cli":
            yield block, run_commands(block.text, folder)
        elif block.kind in STAGES:
            yield block, run_alpha(f"view {block.argument} --stage {block.kind}", folder)[0]
        elif block.kind == "report":
            yield block, admission_report(block.argument, folder)
        elif block.kind == "refused":
            code, _, form = block.argument.partition(" ")
            yield block, in_format(explained(code), form)
        elif block.kind == "admission":
            name, _, form = block.argument.partition(" ")
            yield block, in_format(unadmitted(name, folder), form)


def in_format(items: Sequence[Diagnostic], form: str) -> str:
    """The diagnostics as text, as JSON lines, or as the results of a SARIF log, one a line."""
    if form == "json":
        return json_lines(items)
    if form == "sarif":
        (run_,) = json.loads(sarif(items))["runs"]
        return "".join(json.dumps(result) + "\n" for result in run_["results"])
    return render_all(items)


@cache
def explained(code: str) -> tuple[Diagnostic, ...]:
    """What a check reports of the refused example of an explanation page."""
    page = load_page(code)
    assert page is not None and page.refused, f"{code} has no refused example that can be run"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "package"
        Section("", [Block("alpha", "", page.refused[0], 0, 0)]).write_files(folder)
        ask = run_all_tests if code == "P0003" else check_modules
        return tuple(ask(folder).items)


def unadmitted(name: str, folder: Path) -> Sequence[Diagnostic]:
    """What admission refuses of a build."""
    from alpha.driver.pipeline import planned

    with chdir(folder), Session.open(folder) as session:
        work = planned(session, Request(name))
        spans = work.span, work.device_span
        return admit(work.plan.demands, work.profile, work.choice.condition, *spans).diagnostics


def admission_report(name: str, folder: Path) -> str:
    """The report of a build, admitted or not, without building."""
    from alpha.driver.pipeline import planned

    with chdir(folder), Session.open(folder) as session:
        work = planned(session, Request(name))
        admission = admit(work.plan.demands, work.profile, work.choice.condition, work.span)
        return to_text(admission, work.subject, peak(work.plan))


def run_commands(text: str, folder: Path) -> str:
    """The commands of a `cli` block again, each with what it printed now."""
    result = []
    for line in text.splitlines():
        if line.startswith("$ "):
            printed, status = run_command(line[2:], folder)
            result.append(line)
            result += printed.replace(str(folder), "<folder>").splitlines()
            if status:
                result.append(f"[exit {status}]")
    return "\n".join(result) + "\n"


def run_command(command: str, folder: Path) -> tuple[str, int]:
    """Output and status. `alpha` runs in this process unless a shell or another program has a part in it."""
    if re.fullmatch(r"alpha [^|<>&;$*]*", command) and not command.startswith("alpha run"):
        return run_alpha(command.removeprefix("alpha "), folder)
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    ended = subprocess.run(
        command, shell=True, cwd=folder, env=environment, stdout=-1, stderr=subprocess.STDOUT
    )
    return ended.stdout.decode(), ended.returncode


def run_alpha(arguments: str, folder: Path) -> tuple[str, int]:
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True)
    with chdir(folder), redirect_stdout(stream), redirect_stderr(stream):
        status = run(shlex.split(arguments))
    stream.seek(0)
    return stream.read(), status


def fits(expected: str, found: str) -> bool:
    """Whether `found` is what the page says, `...` lines standing for anything."""
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line == "..." else re.escape(line) + "\n"
        for line in expected.splitlines()
    )
    return (
        re.fullmatch(pattern, found if found.endswith("\n") or not found else found + "\n")
        is not None
    )


def blessed(text: str, changes: list[tuple[Block, str]]) -> str:
    """The page with the given blocks' texts replaced."""
    for block, found in sorted(changes, key=lambda change: -change[0].start):
        ended = found if found.endswith("\n") or not found else found + "\n"
        text = text[: block.start] + ended + text[block.end :]
    return text
