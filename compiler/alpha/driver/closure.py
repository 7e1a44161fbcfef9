"""The build closure: every input of an artifact with its digest, for the manifest and the artifact module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from alpha import __version__
from alpha.base.digest import sha256, sha256_text
from alpha.check.modules import PRELUDE, LoadedModule
from alpha.driver.artifact_module import Statement
from alpha.driver.identity import compiler_digest, llvmlite_version
from alpha.driver.manifest import DIRECT_BY_DEFAULT, Contents, Input
from alpha.driver.outcome import Build
from alpha.driver.packages import LOCK, SUFFIX
from alpha.driver.plan_json import plan_text
from alpha.driver.select import Choice
from alpha.evaluate.files import FileAccess
from alpha.runtime.interface import interface_json, interface_of


def reached(modules: Sequence[LoadedModule], choice: Choice) -> tuple[LoadedModule, ...]:
    """The modules of what was chosen and all that they import. Other pairings of the system were only looked at."""
    chosen = [choice.policy, choice.profile]
    if choice.pairing is not None:
        chosen.append(choice.pairing.name)
    known = {module.name: module for module in modules}
    wanted = {*PRELUDE, *(symbol.rpartition(".")[0] for symbol in chosen)} & set(known)
    pending = list(wanted)
    while pending:
        for name in known[pending.pop()].imports:
            if name not in wanted:
                wanted.add(name)
                pending.append(name)
    return tuple(module for module in modules if module.name in wanted)


def inputs_of(modules: Sequence[LoadedModule], access: FileAccess) -> tuple[Input, ...]:
    """Modules in dependency order, then the data files in the order of reading, then the locks that name them."""
    found = [
        Input("library" if module.shipped else "module", module.source.path, module.digest)
        for module in modules
    ]
    found += [Input("data", read.path, read.digest) for read in access.reads]
    found += _locks(modules, access)
    return tuple(found)


def contents_of(work: Build, report: bytes) -> Contents:
    """What the manifest of a build states."""
    properties = [
        ("alpha:system", work.system.name),
        ("alpha:pairing", work.choice.pairing.name if work.choice.pairing else ""),
        ("alpha:profile", work.profile.name),
        ("alpha:target", work.target.name),
        ("alpha:lane", work.lane),
        ("alpha:memory-bytes", str(work.plan.arena)),
        *_process(work),
        ("alpha:plan-sha256", sha256_text(plan_text(work.plan))),
        ("alpha:report-sha256", sha256(report)),
        ("alpha:policy-sha256", sha256_text(work.system.policy_text)),
        ("alpha:learner-sha256", sha256_text(work.system.learner_text)),
        ("alpha:data-sha256", sha256_text(work.system.data_text)),
        ("alpha:compiler-sha256", compiler_digest()),
    ]
    if work.lane == "direct" and not work.request.direct:
        properties.append(("alpha:lane-note", DIRECT_BY_DEFAULT))
    if work.request.emit == "shared":
        properties.append(("alpha:interface", interface_json(interface_of(work.system, work.plan))))
    tools = () if work.on_device else (("llvmlite", llvmlite_version()),)
    return Contents(work.choice.output, __version__, work.inputs, tuple(properties), tools)


def _process(work: Build) -> tuple[tuple[str, str], ...]:
    """What the process of a run takes, of a build that is a whole program."""
    memory = work.memory
    if memory is None:
        return ()
    return ("alpha:mapped-bytes", str(memory.mapped)), ("alpha:thread-bytes", str(memory.thread))


def statement_of(work: Build, contents: Contents) -> Statement:
    """What the artifact module of a build states."""
    if work.choice.pairing is not None:
        named = [("pairing", work.choice.pairing.name)]
    else:
        named = [("policy", work.choice.policy), ("profile", work.choice.profile)]
    imports = [(symbol.rpartition(".")[0], symbol.rpartition(".")[2]) for _, symbol in named]
    digests = [(entry.path, entry.digest) for entry in contents.inputs]
    digests += [(k, v) for k, v in contents.properties if k.endswith("-sha256")]
    return Statement(
        module=work.choice.artifact.removesuffix(".alpha"),
        executable=work.choice.output,
        target=work.target.name,
        imports=tuple(imports),
        schedule=tuple((program.name, len(program.regions)) for program in work.plan.programs),
        demands=work.plan.demands,
        supplies=work.profile.supplies,
        digests=tuple(digests),
    )


def _locks(modules: Sequence[LoadedModule], access: FileAccess) -> list[Input]:
    """The locks of the source roots of the modules, where evaluation looks files up."""
    if not access.reads:
        return []
    found: dict[Path, Input] = {}
    for module in modules:
        if module.name.endswith(".Run") or not module.shipped:
            lock = module.path.parents[module.name.count(".")] / LOCK
            if lock.is_file() and lock not in found:
                # named like the module: the package's folder may have any name and leaves no trace
                below = "/".join(module.name.split(".")) + SUFFIX
                label = module.source.path.removesuffix(below) + LOCK
                found[lock] = Input("lock", label, sha256(lock.read_bytes()))
    return list(found.values())
