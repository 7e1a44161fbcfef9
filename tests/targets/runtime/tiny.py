"""A hand-made system with hand-made kernels, linked with the real runtime.

It has everything the runtime reads: parameters, slots, a key, a rate, bundled or read data, metrics, `predict`, and
an output of the step that does not lie where the state does.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy

from alpha.base.digest import sha256
from alpha.base.dtype import Dtype, TensorType
from alpha.base.host import HostTarget
from alpha.base.span import Source, Span
from alpha.elf.link import Blob, LinkOptions, link
from alpha.elf.stubs import stub_object
from alpha.evaluate.system import (
    Checkpoint,
    CsvLayout,
    Data,
    DataField,
    DataFile,
    Report,
    Stop,
    System,
    Tensor,
)
from alpha.plan.plan import Buffer, Plan, ProgramPlan, Region, Result
from alpha.runtime.build import runtime_ir
from alpha.runtime.descriptor import system_ir
from alpha.runtime.subset.module import Settings, SubsetSource, compile_module

HERE = Path(__file__).parent
BATCH = 8
EXAMPLES = 61
HOLD_OUT = 16
SPAN = Span(Source("Tiny.alpha", "net\n  bias = 1\n"), 0, 0)
PLACES = {
    "W": 0,
    "B": 64,
    "MW": 128,
    "MB": 192,
    "IMAGE": 256,
    "LABEL": 384,
    "STEP": 448,
    "RATE": 512,
    "KEY": 576,
    "LOSS": 640,
    "B_NEXT": 704,
    "RATE_STEP": 768,
    "RATE_OUT": 832,
    "HITS": 896,
    "FAR": 960,
    "INPUT": 1024,
    "ANSWER": 1152,
}
ARENA = 1280
STATE = {"net.w": "W", "net.b": "B", "slots.m.w": "MW", "slots.m.b": "MB"}
W_TYPE = TensorType(Dtype.F32, (4, 3))
B_TYPE = TensorType(Dtype.F32, (3,))


def images() -> numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]]:
    return (numpy.arange(EXAMPLES * 4).reshape(EXAMPLES, 4) * 7 % 17).astype("u1")


def labels() -> numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]]:
    return (numpy.arange(EXAMPLES) * 5 % 3).astype("u1")


def csv_text() -> bytes:
    rows = zip(images(), labels(), strict=True)
    lines = [",".join([*map(str, image), str(label)]) for image, label in rows]
    return ("\n".join(lines) + "\n").encode()


def tiny_system(
    *,
    steps: int = 40,
    seed: int = 5,
    bundle: bool = True,
    stop: tuple[Stop, ...] = (Stop("NotFinite"),),
    every: int = 10,
    keep: int = 3,
    learner: str = "tiny learner",
    data: bytes | None = None,
    shuffle: str = "EachEpoch",
    sinks: tuple[str, ...] = ("Terminal", "JsonLines"),
) -> System:
    stored = Dtype.U8 if bundle else None
    image = images().astype("u1" if bundle else "<f4").tobytes()
    label = labels().astype("u1" if bundle else "<i4").tobytes()
    content = csv_text() if data is None else data
    return System(
        name="Tiny.Run.baseline",
        parameters=(Tensor("net.w", W_TYPE, SPAN), Tensor("net.b", B_TYPE, SPAN)),
        slots=(Tensor("slots.m.w", W_TYPE, SPAN), Tensor("slots.m.b", B_TYPE, SPAN)),
        batch_fields=(),
        metrics=("hits",),
        keyed=True,
        predict_input=TensorType(Dtype.F32, (BATCH, 4)),
        predict_output=TensorType(Dtype.F32, (BATCH, 2)),
        graphs=(),
        data=Data(
            source="csv",
            files=(DataFile("Tiny/tiny.csv", sha256(content), len(content)),),
            examples=EXAMPLES,
            training=EXAMPLES - HOLD_OUT,
            fields=(
                DataField("image", TensorType(Dtype.F32, (4,)), stored or Dtype.F32, image),
                DataField("label", TensorType(Dtype.I32, (), bound=3), stored or Dtype.I32, label),
            ),
            layout=CsvLayout(False, ((0, 1, 2, 3), (4,))),
        ),
        weights=None,
        batch=BATCH,
        steps=steps,
        seed=seed,
        hold_out=HOLD_OUT,
        shuffle=shuffle,
        bundle=bundle,
        evaluate_every=10,
        checkpoint=Checkpoint(every, keep, "runs/tiny"),
        report=Report(5, ("loss", "hits"), sinks),
        stop=stop,
        may_move=(),
        policy_text=f"tiny policy, seed {seed}",
        learner_text=learner,
        data_text="tiny data",
        span=SPAN,
    )


def tiny_plan() -> Plan:
    buffers = [
        Buffer(name, W_TYPE if name.endswith("w") else B_TYPE, PLACES[place], 48, "", 0, 0, None)
        for name, place in STATE.items()
    ]
    scalar = TensorType(Dtype.F32, ())
    buffers.append(Buffer("loss", scalar, PLACES["LOSS"], 4, "step", 0, 2, None))
    buffers.append(Buffer("b", B_TYPE, PLACES["B_NEXT"], 12, "step", 2, 2, None))
    state = tuple((name, PLACES[place]) for name, place in STATE.items())
    batch = (("batch.image", PLACES["IMAGE"]), ("batch.label", PLACES["LABEL"]))
    moved = tuple((n, PLACES["B_NEXT"] if n == "net.b" else place) for n, place in state)
    return Plan(
        arena=ARENA,
        state=256,
        buffers=tuple(buffers),
        programs=(
            ProgramPlan("initial", (Region("tiny_initial", False, None),), (), state),
            ProgramPlan(
                "rate",
                (Region("tiny_rate", False, None),),
                (("step", PLACES["RATE_STEP"]),),
                (("rate", PLACES["RATE_OUT"]),),
            ),
            ProgramPlan(
                "step",
                (
                    Region("tiny_loss", False, None, (Result(Dtype.F32, PLACES["LOSS"], 1),)),
                    Region("tiny_update", True, None),
                    Region(
                        "tiny_bias",
                        False,
                        Span(SPAN.source, 5, 9),
                        (Result(Dtype.F32, PLACES["B_NEXT"], 3),),
                    ),
                ),
                (
                    *state,
                    *batch,
                    ("step", PLACES["STEP"]),
                    ("rate", PLACES["RATE"]),
                    ("key", PLACES["KEY"]),
                ),
                (*moved, ("loss", PLACES["LOSS"])),
            ),
            ProgramPlan(
                "evaluate",
                (Region("tiny_evaluate", False, None),),
                (*state[:2], *batch),
                (("metric.hits", PLACES["HITS"]), ("loss", PLACES["FAR"])),
            ),
            ProgramPlan(
                "predict",
                (Region("tiny_predict", False, None),),
                (*state[:2], ("input", PLACES["INPUT"])),
                (("output", PLACES["ANSWER"]),),
            ),
        ),
        demands=(),
    )


def kernels_ir(host: HostTarget, source: str | None = None) -> str:
    text = (HERE / "tiny_kernels.rt").read_text() if source is None else source
    constants = {f"ARENA_{name}": place for name, place in PLACES.items()}
    settings = Settings(host.triple, host.cpu, "alpha", constants, {})
    return compile_module([SubsetSource("tiny_kernels.rt", text)], settings).ir


_COMPILE = """
import sys, llvmlite.binding as llvm
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
triple, cpu = sys.argv[1:3]
module = llvm.parse_assembly(sys.stdin.read()); module.verify()
machine = llvm.Target.from_triple(triple).create_target_machine(
    cpu=cpu, features="", opt=1, reloc="pic", codemodel="small")
sys.stdout.buffer.write(machine.emit_object(module))
"""


@cache
def compile_ir(ir: str, host: HostTarget) -> bytes:
    """The object of one module, compiled in a child process: LLVM ends the process on some errors."""
    done = subprocess.run(
        [sys.executable, "-c", _COMPILE, host.triple, host.cpu],
        input=ir.encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@cache
def runtime_object(host: HostTarget) -> bytes:
    return compile_ir(runtime_ir(host), host)


def tiny_executable(system: System, host: HostTarget, kernels: str | None = None) -> bytes:
    tables, blobs = system_ir(system, tiny_plan(), host)
    objects = [
        ("stubs", stub_object(host)),
        ("runtime", runtime_object(host)),
        ("kernels", compile_ir(kernels_ir(host, kernels), host)),
        ("system", compile_ir(tables, host)),
    ]
    rows = tuple(Blob(blob.symbol, blob.data, blob.align) for blob in blobs)
    return link(objects, LinkOptions(host, b'{"tiny":"manifest"}\n', rows))
