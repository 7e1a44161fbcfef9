"""Data sources at build: files are read, their digests compared, their values converted (specification, section 17)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import array_source, csv_source, data_errors, windows
from alpha.evaluate.files import FileAccess
from alpha.evaluate.policies import Settings
from alpha.evaluate.source_files import SourceFiles
from alpha.evaluate.system import Data, Tensor
from alpha.evaluate.values import Value

Reader = Callable[[Value, SourceFiles, Sequence[Tensor], bool, Span], Data]
"""From a source's specification to all of its examples, none held out. The flag says whether they are bundled."""

READERS: Mapping[str, Reader] = {
    "csv": csv_source.read,
    "idx": array_source.read_idx_files,
    "npy": array_source.read_npy_files,
    "bytes": windows.read,
}


def load(files: FileAccess, module: str, settings: Settings, fields: Sequence[Tensor]) -> Data:
    """The examples that a policy's source names, as fields of the batch type.

    `fields` are those of a whole batch. Refuses with E0901 (missing), E0902 (digest), E0903 (does not fit the batch
    type), E0904 (corrupt) and E0905 (examples, `holdOut` and `batch` do not fit).
    """
    source = settings.data
    span = settings.place("data")
    access = SourceFiles(files, module, span)
    data = READERS[source.kind](source.specification, access, fields, settings.bundle, span)
    return _divided(data, settings)


def _divided(data: Data, settings: Settings) -> Data:
    """The data with its last examples held out."""
    path = data.files[0].path
    hold_out, batch = settings.hold_out, settings.batch
    if data.examples < 1:
        raise Refused(data_errors.no_examples(path, settings.place("data")))
    if hold_out < 0 or hold_out % batch:
        raise Refused(data_errors.hold_out_not_whole(hold_out, batch, settings.place("holdOut")))
    training = windows.training(data, hold_out)
    if training < batch:
        place = settings.place("holdOut" if hold_out else "batch")
        raise Refused(data_errors.too_few_examples(path, data.examples, hold_out, batch, place))
    return Data(data.source, data.files, data.examples, training, data.fields, data.layout)
