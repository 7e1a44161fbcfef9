"""What a build came to: the facts that lead to it, and what the command says about it."""

from __future__ import annotations

import json
from pathlib import Path

from alpha.admission import Admission, amounts
from alpha.admission.nearest import Change
from alpha.admission.peak import peak
from alpha.admission.report import Subject, as_object, to_json, to_text
from alpha.base.device import DeviceTarget, Target
from alpha.base.digest import sha256
from alpha.base.host import HostTarget
from alpha.base.record import record
from alpha.base.span import Span
from alpha.driver.checking import Checked
from alpha.driver.manifest import Input
from alpha.driver.request import Request
from alpha.driver.select import Choice
from alpha.driver.session import Session
from alpha.elf.loaded import loaded_bytes
from alpha.evaluate.system import Profile, System
from alpha.kernel.node import Kernel
from alpha.plan.plan import Plan
from alpha.runtime.memory import ProcessMemory, process_memory


@record
class Build:
    """Everything of a build but its bytes."""

    request: Request
    choice: Choice
    system: System
    profile: Profile
    target: Target
    plan: Plan
    kernels: tuple[Kernel, ...]
    inputs: tuple[Input, ...]
    front: Checked

    @property
    def span(self) -> Span | None:
        """Where the pairing's `admit` stands; None for the default pairing."""
        return self.choice.pairing.span if self.choice.pairing else None

    @property
    def device_span(self) -> Span | None:
        return self.choice.pairing.device_span if self.choice.pairing else None

    @property
    def on_device(self) -> bool:
        """Whether the kernels are for a card."""
        return isinstance(self.target, DeviceTarget)

    @property
    def host(self) -> HostTarget:
        """The target of a build whose kernels run on the host. Nothing else may ask."""
        assert isinstance(self.target, HostTarget)
        return self.target

    @property
    def lane(self) -> str:
        """`direct` or `scheduled`, of a card `device`. A host without the scheduled lane takes the direct one."""
        if not isinstance(self.target, HostTarget):
            return "device"
        return "scheduled" if self.target.scheduled and not self.request.direct else "direct"

    @property
    def subject(self) -> Subject:
        pairing = self.choice.pairing.name if self.choice.pairing else ""
        memory = self.memory
        return Subject(
            self.system.name,
            pairing,
            self.target.name,
            self.lane,
            mapped=memory.mapped if memory else 0,
            thread=memory.thread if memory else 0,
        )

    @property
    def memory(self) -> ProcessMemory | None:
        """What a run maps; None where the program that runs it is not known."""
        if self.on_device:
            return None
        return process_memory(self.system, self.plan, self.host)


@record
class Refusal:
    """A refused admission, ready to be written in any format."""

    admission: Admission
    build: Build
    changes: tuple[Change, ...]

    def text(self, form: str) -> str:
        subject, moment = self.build.subject, peak(self.build.plan)
        match form:
            case "json":
                return to_json(
                    as_object(self.admission, subject, moment, self.changes), indent=None
                )
            case "sarif":
                from alpha.admission.sarif import admission_sarif

                return admission_sarif(self.admission, subject.system)
            case _:
                return to_text(self.admission, subject, moment, self.changes)


@record
class Outcome:
    """`refusal` is None for a build that was done or was not needed; then `path` is the output."""

    path: Path
    summary: tuple[str, ...] = ()
    facts: tuple[tuple[str, object], ...] = ()
    refusal: Refusal | None = None

    def json_line(self) -> str:
        return json.dumps(dict(self.facts)) + "\n"


def refused(
    session: Session, work: Build, admission: Admission, changes: tuple[Change, ...]
) -> Outcome:
    for diagnostic in admission.diagnostics:
        session.diagnostics.report(diagnostic)
    return Outcome(Path(), refusal=Refusal(admission, work, changes))


def built(work: Build, admission: Admission, path: Path, image: bytes | None) -> Outcome:
    """`image` is None where the output was up to date."""
    data = path.read_bytes() if image is None else image
    demanded = next((d for d in work.plan.demands if d.name.endswith("memory-bytes")), None)
    memory = "" if demanded is None else f", memory {amounts.text(demanded.amount)}"
    word = "up to date" if image is None else "built"
    shown = _shown(path)
    summary = [
        f"{word} {shown}: {len(data):,} bytes for {work.target.name}, {work.lane} lane{memory}; "
        f"{len(admission.rows)} of {len(admission.rows)} demands met"
    ]
    process: int | None = None
    taken = work.memory
    if work.request.emit == "exe" and taken is not None:
        process = taken.most(loaded_bytes(data, work.host), len(data))
        summary.append(
            f"its process takes at most {amounts.byte_text(process)} on one thread, "
            f"{amounts.byte_text(taken.thread)} more for each other"
        )
    if image is not None and work.lane == "direct" and not work.request.direct:
        summary.append(
            f"the scheduled lane for {work.target.name} does not exist yet; "
            "the direct lane gives the same bits"
        )
    facts = (
        ("event", word.replace(" ", "-")),
        ("path", str(shown)),
        ("bytes", len(data)),
        ("sha256", sha256(data)),
        ("target", work.target.name),
        ("lane", work.lane),
        ("memory", work.plan.arena),
        ("process", process),
        ("thread", taken.thread if taken else None),
    )
    return Outcome(path, tuple(summary) if image is not None else (), facts)


def _shown(path: Path) -> Path:
    try:
        return path.absolute().relative_to(Path.cwd())
    except ValueError:
        return path
