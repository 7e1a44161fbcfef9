"""Tests of modules: what is known is settled by evaluation, the rest runs as one program on this machine.

The program goes the way of every build: graphs, kernels, plan, admission by the generic profile of the target, objects,
link, verification. It is written to a folder of its own, which is removed with what the program leaves.
"""

from __future__ import annotations

import json
import platform
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from alpha.admission import admit
from alpha.base.host import HostTarget
from alpha.base.record import record, replace
from alpha.codegen.llvm import plan_modules
from alpha.codegen.workers import COUNT
from alpha.core.term import Proof
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.driver.checking import Checked, checked, require_no_errors
from alpha.driver.emission import executable
from alpha.driver.errors import UsageError, reason, tests_stopped
from alpha.driver.proving import matching
from alpha.driver.session import Session
from alpha.elf.link import LinkOptions
from alpha.evaluate.proofs import TEST
from alpha.evaluate.tests import HELD, Trial, result_bytes, result_texts
from alpha.graph.node import Graph
from alpha.plan.make import plan_graphs
from alpha.runtime.tests import tests_ir
from alpha.targets.names import of_machine

ONE_ARENA = "a test keeps its tensors in an arena of this size: give it smaller ones"

PASSED, FAILED, REFUSED = "passed", "failed", "refused"


@record
class Tested:
    """How a test came out. `ran` tells whether a program was needed; `fault` is why it does not pass.

    The fault of a test whose expression is refused has been reported already, and is None here.
    """

    proof: Proof
    verdict: str
    ran: bool
    fault: Diagnostic | None = None

    @property
    def passed(self) -> bool:
        return self.verdict == PASSED

    def line(self) -> str:
        """For people: the verdict, the name, how it was found, the place."""
        how = "" if self.verdict == REFUSED else "  (run)" if self.ran else "  (known)"
        return f"{self.verdict}  {self.proof.symbol}{how}  {self.proof.span}"

    def json_line(self) -> str:
        return json.dumps(
            {
                "event": "test",
                "name": self.proof.symbol,
                "verdict": self.verdict,
                "ran": self.ran,
                "place": str(self.proof.span),
            }
        )


def run_tests(session: Session, names: Sequence[str], pattern: str | None) -> list[Tested]:
    """Runs the tests of the modules `names` that `pattern` chooses, in the order in which they stand there.

    Refused if the modules have errors, with T0405 on a machine that runs none of the targets, and with an admission's
    code if the tests need more than the generic profile of the target supplies.
    """
    host = of_machine(platform.system(), platform.machine())
    front = checked(session, [*names, host.profile.rpartition(".")[0]])
    require_no_errors(session)
    modules = {module.name: module for module in front.program.modules}
    proofs = {
        proof.symbol: proof
        for name in names
        for proof in modules[name].proofs
        if proof.kind == TEST
    }
    chosen = [proofs[symbol] for symbol in matching(proofs, pattern, "test")]
    made = [(proof, front.evaluator.test(proof)) for proof in chosen]
    graphs = tuple(test.graph for _, test in made if test is not None and test.graph is not None)
    results: dict[str, dict[str, str]] = {}
    if graphs:
        session.workers.start()
        results = _results(session, front, host, graphs)
    return [_judged(proof, test, results) for proof, test in made]


def _judged(proof: Proof, test: Trial | None, results: Mapping[str, Mapping[str, str]]) -> Tested:
    if test is None:
        return Tested(proof, REFUSED, False)
    values = results[test.graph.name] if test.graph is not None else {}
    held = test.held if test.graph is None else values[HELD] == "True"
    if held:
        return Tested(proof, PASSED, test.graph is not None)
    return Tested(proof, FAILED, test.graph is not None, test.failure(values))


def _results(
    session: Session, front: Checked, host: HostTarget, graphs: tuple[Graph, ...]
) -> dict[str, dict[str, str]]:
    """What the programs of the graphs give, by the name of the graph."""
    data = run_program(program_of(session, front, host, graphs))
    found: dict[str, dict[str, str]] = {}
    place = 0
    for graph in graphs:
        size = result_bytes(graph)
        found[graph.name] = result_texts(graph, data[place : place + size])
        place += size
    return found


def program_of(
    session: Session, front: Checked, host: HostTarget, graphs: tuple[Graph, ...]
) -> bytes:
    """The bytes of the executable that runs the graphs one after the other and writes their outputs."""
    plan, kernels = plan_graphs(graphs, host)
    admission = admit(plan.demands, front.evaluator.profile(host.profile))
    if admission.admitted is None:
        raise Refused(*(replace(fault, hints=(ONE_ARENA,)) for fault in admission.diagnostics))
    admission.admitted.require(plan.demands)
    tables = tests_ir(graphs, plan, host)
    code = plan_modules(plan, kernels, host, COUNT)
    return executable(session, code, tables, LinkOptions(host, b"{}\n"))


def run_program(image: bytes) -> bytes:
    """What the executable writes when it is run here, in a folder that is removed. R codes where it stops."""
    with tempfile.TemporaryDirectory(prefix="alpha-test-") as folder:
        place = Path(folder) / "tests"
        try:
            place.write_bytes(image)
            place.chmod(0o700)
            done = subprocess.run(
                [place], cwd=folder, env={}, stdin=subprocess.DEVNULL, capture_output=True
            )
        except OSError as failure:
            raise UsageError(
                f"cannot run a program in `{tempfile.gettempdir()}`: {reason(failure)}; "
                "TMPDIR names the folder"
            ) from failure
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        if done.returncode < 0:
            raise RuntimeError(f"the program of the tests died of signal {-done.returncode} {said}")
        raise Refused(tests_stopped(said))
    return done.stdout
