"""What evaluation makes of a policy: everything a build needs, as plain data and graphs.

Names of graph inputs and outputs are fixed, and every later level relies on them:

| graph | inputs | outputs |
|---|---|---|
| `initial` | none | `net.<p>`, `slots.<s>.<p>` |
| `rate` | `step` u32[] | `rate` f32[] |
| `step` | `net.<p>`, `slots.<s>.<p>`, `step`, `rate`, `batch.<field>`, and `key` u32[3] if the learner draws | `net.<p>`, `slots.<s>.<p>`, `loss` |
| `evaluate` | `net.<p>`, `batch.<field>` | `loss` (keyless learners only), `metric.<name>` |
| `predict` | `net.<p>`, `input` | `output` |
| `sample` (learners of bytes) | `logits` f32[256], `key`, `temperature` f32[] | `next` index<256>[] |

`<p>` is a parameter's path (`w1`, `blocks.qkv`), in parameter order; slots stand slot by slot.
"""  # noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.core.term import Amount
from alpha.evaluate.storage import STORED_CODES
from alpha.graph.node import Graph

if TYPE_CHECKING:
    import numpy


@record
class Tensor:
    """A named tensor of the run's state or of a batch."""

    name: str
    type: TensorType
    span: Span = field(compare=False, repr=False)


@record
class DataField:
    """One field of all examples, converted for storage.

    `type` is one example's type in the batch (without the batch axis). `stored` is the dtype of the stored elements:
    the smallest exact one when the policy bundles, else that of the file or of the batch. `content` holds them,
    little-endian, row-major, held-out examples last: example `e` begins at byte `first + e * apart`. Examples follow
    one another, unless they are windows of a file: those overlap, and the fields of such a source share `content`.
    """

    name: str
    type: TensorType
    stored: Dtype
    content: bytes = field(compare=False, repr=False)
    first: int = 0
    window: int | None = None

    @property
    def apart(self) -> int:
        """Bytes from one example to the next."""
        return self.type.count * self.stored.size if self.window is None else self.window

    @property
    def rows(self) -> numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]]:
        """The values as an array with a leading axis of all examples. A build needs none, so numpy is loaded here."""
        import numpy

        flat = numpy.frombuffer(self.content, "<" + STORED_CODES[self.stored])
        if self.window is None:
            return flat.reshape((-1, *self.type.shape))
        size = self.type.count
        return numpy.lib.stride_tricks.sliding_window_view(flat[self.first :], size)[:: self.window]


@record
class DataFile:
    """A file that a policy reads: its path below the source root, the SHA-256 of its bytes (that of `alpha.lock`) and
    their number."""

    path: str
    digest: str
    size: int


@record
class CsvLayout:
    """How the running executable re-reads a csv file that is not bundled: columns of each field, in order."""

    header: bool
    columns: tuple[tuple[int, ...], ...]


@record
class ArrayLayout:
    """Where the elements of each field begin in its file, in order; the bytes of an element are swapped if `big`."""

    skips: tuple[int, ...]
    big: bool


@record
class WindowLayout:
    """Example `e` begins at byte `e * stride` of the file; its target one byte later."""

    stride: int


@record
class Data:
    """The examples of a policy, and the files they are read from again at run time if they are not bundled.

    `source` is `csv`, `idx`, `npy` or `bytes`; `files` is one file, for `idx` and `npy` one a field in their order. The
    first `training` of the `examples` are trained on. The last ones are held out: as many as the policy says.
    """

    source: str
    files: tuple[DataFile, ...]
    examples: int
    training: int
    fields: tuple[DataField, ...]
    layout: CsvLayout | ArrayLayout | WindowLayout


@record
class Weights:
    """The parameters that a run starts from. `content` is the whole file, checked.

    For each, in parameter order: its name in the file, and where its bytes begin there.
    """

    file: DataFile
    names: tuple[str, ...]
    places: tuple[int, ...]
    content: bytes = field(compare=False, repr=False)


@record
class Checkpoint:
    every: int
    keep: int
    folder: str


@record
class Report:
    every: int
    scalars: tuple[str, ...]
    sinks: tuple[str, ...]


@record
class Stop:
    """`kind` is `NotFinite`, `Plateau` (uses `patience`) or `Below` (uses `value`)."""

    kind: str
    metric: str = ""
    patience: int = 0
    value: float = 0.0


@record
class System:
    """One policy, evaluated. `name` is its symbol (`Digits.Run.baseline`).

    `policy_text`, `learner_text` and `data_text` are canonical texts (sorted keys, numbers in shortest form) of what
    resuming requires to be equal, so without steps, checkpoint, report, stop and mayMove; their digests stand in every
    checkpoint.
    """

    name: str
    parameters: tuple[Tensor, ...]
    slots: tuple[Tensor, ...]
    batch_fields: tuple[Tensor, ...]
    metrics: tuple[str, ...]
    keyed: bool
    predict_input: TensorType | None
    predict_output: TensorType | None
    graphs: tuple[Graph, ...]
    data: Data
    weights: Weights | None
    batch: int
    steps: int
    seed: int
    hold_out: int
    shuffle: str
    bundle: bool
    evaluate_every: int
    checkpoint: Checkpoint
    report: Report
    stop: tuple[Stop, ...]
    may_move: tuple[str, ...]
    policy_text: str
    learner_text: str
    data_text: str
    span: Span = field(compare=False, repr=False)

    def graph(self, name: str) -> Graph:
        for graph in self.graphs:
            if graph.name == name:
                return graph
        raise KeyError(name)


@record
class Evidence:
    """`grade` is `Architectural`, `Measured` or `Modelled`; the rest cites: (document, place), (run,) or (model,)."""

    grade: str
    kind: str
    citation: tuple[str, ...]


@record
class Fact:
    name: str
    amount: Amount | str
    evidence: Evidence
    span: Span = field(compare=False, repr=False)


@record
class Profile:
    """A device profile as admission reads it. `name` is its symbol (`Platform.Linux.X8664.generic`)."""

    name: str
    identity: tuple[Fact, ...]
    supplies: tuple[Fact, ...]
    estimates: tuple[Fact, ...]
    span: Span = field(compare=False, repr=False)
