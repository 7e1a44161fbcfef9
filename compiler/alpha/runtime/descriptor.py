"""The system's read-only tables as LLVM IR: what the runtime, which knows no system, reads to run this one."""

from __future__ import annotations

import struct

import alpha
from alpha.base.digest import sha256_text
from alpha.base.dtype import Dtype, TensorType
from alpha.base.host import HostTarget
from alpha.base.record import replace
from alpha.diagnostics.diagnostic import Refused
from alpha.diagnostics.not_yet import not_yet
from alpha.evaluate.system import System
from alpha.plan.plan import Plan, ProgramPlan
from alpha.runtime import abi
from alpha.runtime.data_tables import (
    DataBlob,
    data_bytes,
    field_rows,
    file_rows,
    input_offset,
    weights_rows,
)
from alpha.runtime.program_tables import program_row
from alpha.runtime.sources import UNITS
from alpha.runtime.tables import Address, Row, Tables

SAFETENSORS_DTYPES = {
    Dtype.F64: "F64",
    Dtype.F32: "F32",
    Dtype.BF16: "BF16",
    Dtype.F16: "F16",
    Dtype.I64: "I64",
    Dtype.I32: "I32",
    Dtype.U32: "U32",
    Dtype.U8: "U8",
    Dtype.BOOL: "BOOL",
}
MAX_STEPS = (1 << 32) - 1
MAX_FOLDER = 3000


def system_ir(
    system: System, plan: Plan, host: HostTarget, library: bool = False
) -> tuple[str, tuple[DataBlob, ...]]:
    """The tables of one system, and the bundled data they refer to. A library is handed its batches: its tables have
    no data, and weights that are always bundled.

    Raises Refused (E0011) for what the runtime cannot run yet: more than 2^32 - 1 steps, and a conversion of data it
    does not have.
    """
    _check(system)
    tables = Tables(constant=library)
    programs = {program.name: program for program in plan.programs}
    state = [
        (buffer.name, buffer.type, buffer.offset)
        for buffer in plan.buffers
        if not buffer.program and buffer.name.startswith(("net.", "slots."))
    ]
    if library:
        system = replace(system, bundle=True)
    fields, blobs = field_rows(tables, system, programs, not library)
    weights, weights_blobs = weights_rows(tables, system, state)
    row: dict[str, int | str | Address] = {
        "name": system.name,
        "version": alpha.__version__,
        "policy": sha256_text(system.policy_text),
        "learner": sha256_text(system.learner_text),
        "data": sha256_text(system.data_text),
        "seed": system.seed,
        "steps": system.steps,
        "batch": system.batch,
        "examples": system.data.examples,
        "training": system.data.training,
        "hold_out": system.hold_out,
        "shuffled": int(system.shuffle == "EachEpoch"),
        "evaluate_every": _within_steps(system.evaluate_every),
        "checkpoint_every": _within_steps(system.checkpoint.every),
        "checkpoint_keep": _within_steps(system.checkpoint.keep),
        "checkpoint_folder": system.checkpoint.folder,
        "report_every": _within_steps(system.report.every),
        "report_loss": int("loss" in system.report.scalars),
        "report_rate": int("rate" in system.report.scalars),
        "sinks": sum(abi.SINKS[sink] for sink in dict.fromkeys(system.report.sinks)),
        "arena": plan.arena,
        "data_bytes": data_bytes(system),
        "tensors": tables.rows(
            "system.tensors", abi.TENSOR, [_tensor(tables, *item) for item in state]
        ),
        "tensor_count": len(state),
        "fields": fields,
        "field_count": len(system.data.fields),
        **_metrics(tables, system, programs),
        **file_rows(tables, system),
        **weights,
        "tests": Address(None),
        "test_count": 0,
    }
    for name in ("initial", "rate", "step", "evaluate", "predict", "sample"):
        program = programs.get(name)
        row[name] = Address(None) if program is None else program_row(tables, program, state)
    row |= {
        "rate_step": input_offset(programs, "rate", "step"),
        "rate_rate": _output(programs, "rate", "rate"),
        "step_step": input_offset(programs, "step", "step"),
        "step_rate": input_offset(programs, "step", "rate"),
        "step_key": input_offset(programs, "step", "key"),
        "step_loss": _output(programs, "step", "loss"),
        "step_marks": tables.room("step.marks", max(1, len(plan.program("step").regions))),
        "sample_logits": input_offset(programs, "sample", "logits"),
        "sample_key": input_offset(programs, "sample", "key"),
        "sample_temperature": input_offset(programs, "sample", "temperature"),
        "sample_next": _output(programs, "sample", "next"),
        "sample_window": _window(tables, system) if "sample" in programs else Address(None),
        "predict_input": _end(
            tables, "input", system.predict_input, input_offset(programs, "predict", "input")
        ),
        "predict_output": _end(
            tables, "output", system.predict_output, _output(programs, "predict", "output")
        ),
    }
    tables.rows(abi.SYSTEM_SYMBOL, abi.SYSTEM, [row], visible=True)
    return tables.ir(host.triple), (*blobs, *weights_blobs)


def unused_sections(system: System, plan: Plan) -> frozenset[str]:
    """The sections of the runtime that a program of the system never enters."""
    used = {
        "board": "TensorBoard" in system.report.sinks,
        # What reads the rows of a file to predict from is there, too.
        "data": data_bytes(system) > 0 or system.predict_input is not None,
        "sample": any(program.name == "sample" for program in plan.programs),
        "tests": False,
    }
    names = [name for name in UNITS if not used[name]]
    return frozenset(f"{kind}.{name}" for kind in (".text", ".rodata") for name in names)


def _window(tables: Tables, system: System) -> Address:
    """Room for the last bytes of a text that is sampled, an i32 each."""
    assert system.predict_input is not None
    return tables.room("sample.window", 4 * system.predict_input.shape[1])


def _within_steps(count: int) -> int:
    """A count of any size, as one that the tables hold: what happens after more than all steps never happens."""
    return min(count, MAX_STEPS + 1)


def _check(system: System) -> None:
    if len(system.checkpoint.folder.encode()) > MAX_FOLDER:
        raise Refused(not_yet(f"a checkpoint folder of more than {MAX_FOLDER} bytes", system.span))
    for end in (system.predict_input, system.predict_output):
        if end is not None and end.shape[:1] != (system.batch,):
            raise Refused(not_yet("predict without a batch axis in front", system.span))
    if system.steps > MAX_STEPS:
        raise Refused(not_yet(f"a run of more than {MAX_STEPS} steps", system.span))
    for field in system.data.fields:
        if field.stored is not field.type.dtype and (
            field.stored not in (Dtype.U8, Dtype.I32, Dtype.U32, Dtype.BOOL)
            or field.type.dtype not in (Dtype.F32, Dtype.I32, Dtype.U32, Dtype.F64, Dtype.U8)
        ):
            raise Refused(
                not_yet(
                    f"{field.type.dtype.value} batches from {field.stored.value} data", system.span
                )
            )


def _tensor(tables: Tables, name: str, kind: TensorType, offset: int) -> Row:
    return {
        "name": name,
        "dtype": SAFETENSORS_DTYPES[kind.dtype],
        "code": abi.DTYPES.index(kind.dtype.value),
        "rank": len(kind.shape),
        "shape": tables.numbers(f"shape.{name}", kind.shape),
        "count": kind.count,
        "offset": offset,
        "bytes": kind.bytes,
        "bound": kind.bound or 0,
    }


def _end(tables: Tables, name: str, kind: TensorType | None, offset: int) -> Address:
    """What `predict` reads or gives, with its batch axis."""
    if kind is None or offset == abi.NONE:
        return Address(None)
    return tables.rows(f"predict.{name}", abi.TENSOR, [_tensor(tables, name, kind, offset)])


def _output(programs: dict[str, ProgramPlan], program: str, name: str) -> int:
    return dict(programs[program].outputs).get(name, abi.NONE) if program in programs else abi.NONE


def _metrics(
    tables: Tables, system: System, programs: dict[str, ProgramPlan]
) -> dict[str, int | str | Address]:
    names = []
    if _output(programs, "evaluate", "loss") != abi.NONE:
        names.append(("loss", "loss"))
    names += [(name, f"metric.{name}") for name in system.metrics]
    rows: list[Row] = [
        {
            "name": name,
            "offset": _output(programs, "evaluate", output),
            "reported": int(name in system.report.scalars),
            "lanes": tables.room(f"metric.{position}", 4 * abi.LANES + 4),
        }
        for position, (name, output) in enumerate(names)
    ]
    known = [name for name, _ in names]
    stops: list[Row] = [
        {
            "kind": abi.STOP_KINDS.index(stop.kind),
            "metric": known.index(stop.metric) if stop.metric in known else abi.NONE,
            "name": stop.metric,
            "patience": _within_steps(stop.patience),
            "value": struct.unpack("<I", struct.pack("<f", stop.value))[0],
        }
        for stop in system.stop
    ]
    return {
        "metrics": tables.rows("system.metrics", abi.METRIC, rows),
        "metric_count": len(rows),
        "stops": tables.rows("system.stops", abi.STOP, stops),
        "stop_count": len(stops),
        "stop_states": tables.room("system.stop_states", 16 * len(stops))
        if stops
        else Address(None),
    }
