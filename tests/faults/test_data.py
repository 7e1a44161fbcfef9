"""What is wrong with a data file is said by file, row, column and value, before anything is written."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy
import pytest

import core_builder as c
from alpha.base.dtype import Dtype, TensorType
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.evaluate.data import load
from alpha.evaluate.files import FileAccess, FileFault, Read
from alpha.evaluate.policies import Settings
from alpha.evaluate.system import Checkpoint, CsvLayout, Data, Report, Tensor
from alpha.evaluate.values import FALSE, TRUE, DataSource, ListValue, Record, Value, Variant

BATCH = 2
IMAGE = Tensor("image", TensorType(Dtype.F32, (BATCH, 2)), c.SPAN)
LABEL = Tensor("label", TensorType(Dtype.I32, (BATCH,), 10), c.SPAN)
GOOD = "1,2,3\n4,5,6\n7,8,9\n"
COLUMNS = {"image": (0, 1), "label": (2,)}


def source(
    columns: dict[str, tuple[int, ...]], file: str = "data/rows.csv", header: bool = False
) -> DataSource:
    fields = tuple(
        Record("CsvField", {"name": name, "columns": ListValue(places)})
        for name, places in columns.items()
    )
    specification: dict[str, Value] = {
        "file": file,
        "header": TRUE if header else FALSE,
        "fields": ListValue(fields),
    }
    return DataSource("csv", Record("CsvFile", specification))


def settings(
    data: DataSource, hold_out: int = 0, batch: int = BATCH, bundle: bool = False
) -> Settings:
    return Settings(
        learner="Main.learner",
        data=data,
        rate=0,
        batch=batch,
        steps=1,
        seed=1,
        hold_out=hold_out,
        shuffle="InOrder",
        bundle=bundle,
        evaluate_every=1,
        checkpoint=Checkpoint(1, 1, "runs"),
        report=Report(1, ("loss",), ()),
        stop=(),
        may_move=(),
        start=Variant("Fresh"),
        spans={},
        span=c.SPAN,
    )


def write(root: Path, text: str | bytes, lock: bool = True) -> None:
    data = text.encode() if isinstance(text, str) else text
    (root / "data").mkdir(exist_ok=True)
    (root / "data" / "rows.csv").write_bytes(data)
    if lock:
        digest = hashlib.sha256(data).hexdigest()
        (root / "alpha.lock").write_text(f"{digest}  data/rows.csv\n")


def loaded(
    root: Path,
    chosen: Settings | None = None,
    fields: tuple[Tensor, ...] = (IMAGE, LABEL),
) -> Data:
    chosen = chosen or settings(source(COLUMNS))
    return load(FileAccess({"Main": root}), "Main", chosen, fields)


def fault(
    root: Path,
    chosen: Settings | None = None,
    fields: tuple[Tensor, ...] = (IMAGE, LABEL),
) -> Diagnostic:
    with pytest.raises(Refused) as caught:
        loaded(root, chosen, fields)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


class TestGoodFiles:
    def test_columns_are_reshaped_row_major(self, tmp_path: Path) -> None:
        write(tmp_path, GOOD)
        data = loaded(tmp_path)
        image, label = data.fields
        assert data.examples == 3
        assert image.rows.tolist() == [[1, 2], [4, 5], [7, 8]]
        assert image.rows.dtype == numpy.float32
        assert label.rows.tolist() == [3, 6, 9]
        assert label.type == TensorType(Dtype.I32, (), 10)
        assert data.layout == CsvLayout(False, ((0, 1), (2,)))

    def test_a_header_is_skipped_and_carriage_returns_are_allowed(self, tmp_path: Path) -> None:
        write(tmp_path, "a,b,c\r\n1,2,3\r\n4,5,6\r\n")
        assert loaded(tmp_path, settings(source(COLUMNS, header=True))).examples == 2

    def test_a_bundle_stores_the_smallest_exact_integers(self, tmp_path: Path) -> None:
        write(tmp_path, GOOD)
        data = loaded(tmp_path, settings(source(COLUMNS), bundle=True))
        assert [field.stored for field in data.fields] == [Dtype.U8, Dtype.U8]
        assert all(field.rows.flags["C_CONTIGUOUS"] for field in data.fields)

    @pytest.mark.parametrize("value", ["0.5", "300", "-1", "-0"])
    def test_a_bundle_keeps_the_dtype_where_no_integer_is_exact(
        self, tmp_path: Path, value: str
    ) -> None:
        write(tmp_path, f"{value},2,3\n4,5,6\n")
        data = loaded(tmp_path, settings(source(COLUMNS), bundle=True))
        assert data.fields[0].stored is Dtype.F32

    @pytest.mark.parametrize(
        "value",
        ["0.1", "1e-45", "16777217", "1.00000005960464477539062500001", "3.4028235e38", "-2.5e-3"],
    )
    def test_decimal_text_becomes_the_nearest_float(self, tmp_path: Path, value: str) -> None:
        write(tmp_path, f"{value},2,3\n4,5,6\n")
        found = loaded(tmp_path).fields[0].rows[0, 0]
        nearest = numpy.float32(value)  # numpy reads decimal text in one rounding
        if value.startswith("1.0000000596"):
            nearest = numpy.nextafter(numpy.float32(1), numpy.float32(2))
        assert found == nearest

    def test_the_access_lists_what_was_read(self, tmp_path: Path) -> None:
        write(tmp_path, GOOD)
        files = FileAccess({"Main": tmp_path})
        data = load(files, "Main", settings(source(COLUMNS)), (IMAGE, LABEL))
        assert files.reads == (Read("data/rows.csv", data.files[0].digest),)


class TestMissingAndChanged:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        found = fault(tmp_path)
        assert found.code == "E0901"
        assert "`data/rows.csv` is not there" in found.message

    @pytest.mark.parametrize("path", ["/etc/hostname", "../rows.csv", "data/../../x", "", "a\\b"])
    def test_a_path_that_leaves_the_root(self, tmp_path: Path, path: str) -> None:
        assert fault(tmp_path, settings(source(COLUMNS, path))).code == "E0901"

    def test_a_symlink_that_leaves_the_root(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        root.mkdir()
        write(root, GOOD)
        (tmp_path / "outside.csv").write_text(GOOD)
        (root / "data" / "rows.csv").unlink()
        (root / "data" / "rows.csv").symlink_to(tmp_path / "outside.csv")
        found = fault(root)
        assert found.code == "E0901"
        assert "leads out of the source root" in found.message

    def test_a_folder_is_no_file(self, tmp_path: Path) -> None:
        (tmp_path / "data" / "rows.csv").mkdir(parents=True)
        assert fault(tmp_path).code == "E0901"

    def test_a_file_without_a_line_in_the_lock(self, tmp_path: Path) -> None:
        write(tmp_path, GOOD, lock=False)
        found = fault(tmp_path)
        assert found.code == "E0902"
        assert "no line" in found.message

    def test_a_file_that_changed_after_the_lock(self, tmp_path: Path) -> None:
        write(tmp_path, GOOD)
        (tmp_path / "data" / "rows.csv").write_text(GOOD.replace("9", "8"))
        found = fault(tmp_path)
        assert found.code == "E0902"
        assert hashlib.sha256(GOOD.encode()).hexdigest() in found.cause

    def test_a_module_without_a_root_reads_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(FileFault):
            FileAccess({}).read("Main", "alpha.lock")


class TestFieldsThatDoNotFit:
    @pytest.mark.parametrize(
        ("columns", "said"),
        [
            ({"image": (0, 1)}, "`label`"),
            ({**COLUMNS, "extra": (0,)}, "`extra`"),
            ({"image": (0, 1, 2), "label": (2,)}, "3 columns"),
            ({"image": (0,), "label": (2,)}, "one column"),
            ({"image": (0, 3), "label": (2,)}, "column 3"),
            ({"image": (0, -1), "label": (2,)}, "column -1"),
        ],
    )
    def test_wrong_columns(
        self, tmp_path: Path, columns: dict[str, tuple[int, ...]], said: str
    ) -> None:
        write(tmp_path, GOOD)
        found = fault(tmp_path, settings(source(columns)))
        assert found.code == "E0903"
        assert said in found.message

    def test_a_bool_cannot_be_filled_from_text(self, tmp_path: Path) -> None:
        write(tmp_path, GOOD)
        flags = Tensor("image", TensorType(Dtype.BOOL, (BATCH, 2)), c.SPAN)
        assert fault(tmp_path, fields=(flags, LABEL)).code == "E0903"


class TestCorruptFiles:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("1,2,3\n\n4,5,6\n", "row 2: the row is blank"),
            ("1,2,3\n4,5\n", "row 2: 2 values, but the first row has 3"),
            ("1,2,3\n4,x,6\n", "row 2, column 1: `x` is no number"),
            ("1,2,3\n4,,6\n", "row 2, column 1: `` is no number"),
            ("1,2,3\n4, 5,6\n", "row 2, column 1: ` 5` is no number"),
            ("1,2,3\nnan,5,6\n", "row 2, column 0: `nan` is no number"),
            ("1,2,3\n1e99999999,5,6\n", "row 2, column 0"),
            ("1,2,3\n1e39,5,6\n", "row 2, column 0: `1e39` is no value of f32"),
            ("1,2,3\n4,5,10\n", "row 2, column 2: `10` is no value of index 10"),
            ("1,2,3\n4,5,-1\n", "row 2, column 2: `-1` is no value of index 10"),
            ("1,2,3\n4,5,0.5\n", "row 2, column 2: `0.5` is no value of index 10"),
        ],
    )
    def test_the_place_is_named(self, tmp_path: Path, text: str, said: str) -> None:
        write(tmp_path, text)
        found = fault(tmp_path)
        assert found.code == "E0904"
        assert said in found.message
        assert "data/rows.csv" in found.message

    def test_rows_are_counted_with_the_header(self, tmp_path: Path) -> None:
        write(tmp_path, "a,b,c\n1,2,x\n")
        found = fault(tmp_path, settings(source(COLUMNS, header=True)))
        assert "row 2, column 2" in found.message

    def test_bytes_that_are_no_text(self, tmp_path: Path) -> None:
        write(tmp_path, b"1,2,3\n1,2,\xff\n")
        found = fault(tmp_path)
        assert found.code == "E0904"
        assert "row 2: a character is not ASCII" in found.message
        assert found.hints == ()

    def test_names_of_columns_are_any_text(self, tmp_path: Path) -> None:
        chosen = settings(source(COLUMNS, header=True))
        for names in ("größe,b,c".encode(), "größe,b,c".encode("latin-1"), b"\xef\xbb\xbfa,b,c"):
            write(tmp_path, names + b"\n1,2,3\n4,5,6\n")
            assert loaded(tmp_path, chosen).fields[0].rows.tolist() == [[1, 2], [4, 5]]
        write(tmp_path, "größe,b,c\n1,2,3\n4,é,6\n")
        assert "row 3: a character is not ASCII" in fault(tmp_path, chosen).message
        write(tmp_path, "größe,b\n1,2,3\n4,5,6\n")
        assert "row 2: 3 values, but the first row has 2" in fault(tmp_path, chosen).message

    def test_a_byte_order_mark_is_named(self, tmp_path: Path) -> None:
        write(tmp_path, b"\xef\xbb\xbf1,2,3\n")
        found = fault(tmp_path)
        assert found.code == "E0904"
        assert "byte order mark" in found.hints[0]

    def test_a_header_that_is_read_as_numbers_is_suspected(self, tmp_path: Path) -> None:
        write(tmp_path, "a,b,c\n1,2,3\n")
        assert "`header = True`" in fault(tmp_path).hints[0]

    def test_an_index_outside_its_range_tells_the_range(self, tmp_path: Path) -> None:
        write(tmp_path, "1,2,3\n4,5,10\n")
        assert "from 0 to 9" in str(fault(tmp_path).cause)


class TestCountsThatDoNotFit:
    def test_an_empty_file(self, tmp_path: Path) -> None:
        write(tmp_path, "")
        assert fault(tmp_path).code == "E0905"

    @pytest.mark.parametrize("hold_out", [1, -2])
    def test_hold_out_is_whole_batches(self, tmp_path: Path, hold_out: int) -> None:
        write(tmp_path, GOOD)
        found = fault(tmp_path, settings(source(COLUMNS), hold_out=hold_out))
        assert found.code == "E0905"
        assert "holdOut" in found.message

    def test_one_batch_must_be_left(self, tmp_path: Path) -> None:
        write(tmp_path, GOOD)
        assert fault(tmp_path, settings(source(COLUMNS), hold_out=2)).code == "E0905"
        assert fault(tmp_path, settings(source(COLUMNS), batch=4)).code == "E0905"
        assert loaded(tmp_path, settings(source(COLUMNS), batch=3)).examples == 3
