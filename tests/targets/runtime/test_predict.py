"""`predict`: arrays and tables in and out, and what is refused of them."""

from __future__ import annotations

import io
import os
import subprocess

import numpy
import pytest
from safetensors.numpy import load_file

from targets.runtime.conftest import Program


@pytest.fixture
def trained(tiny: Program) -> Program:
    tiny("train", "--steps", "10")
    return tiny


def rows(count: int) -> numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.float32]]:
    return numpy.arange(count * 4, dtype=numpy.float32).reshape(count, 4) / numpy.float32(3)


def expected(
    program: Program, count: int
) -> numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.float32]]:
    bias = load_file(program.checkpoint(10))["net.b"][0]
    return rows(count)[:, :2] + bias


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 40])
def test_arrays_of_any_length_are_answered_row_by_row(trained: Program, count: int) -> None:
    numpy.save(trained.folder / "in.npy", rows(count))
    done = trained("predict", "in.npy", "out.npy")
    assert (done.returncode, done.stderr) == (0, b"")
    answer = numpy.load(trained.folder / "out.npy")
    assert answer.dtype == numpy.float32
    assert numpy.array_equal(answer, expected(trained, count))


def test_tables_come_and_go_as_text(trained: Program) -> None:
    text = "\n".join(",".join(map(repr, map(float, row))) for row in rows(5))
    (trained.folder / "in.csv").write_text("a,b,c,d\n" + text)
    assert trained("predict", "in.csv", "out.csv").returncode == 0
    answer = numpy.loadtxt(trained.folder / "out.csv", delimiter=",", dtype=numpy.float32)
    assert numpy.array_equal(answer, expected(trained, 5))


def test_standard_streams_carry_either_form(trained: Program) -> None:
    done = trained("predict", "-", "-", stdin=b"0,1,2,3\r\n4,5,6,7\r\n")
    assert len(done.stdout.splitlines()) == 2
    buffer = io.BytesIO()
    numpy.save(buffer, rows(3000))
    done = trained("predict", "-", "-", stdin=buffer.getvalue())
    assert numpy.array_equal(numpy.load(io.BytesIO(done.stdout)), expected(trained, 3000))


@pytest.mark.parametrize("dtype", ["u1", "b1", "i4", "i8", "u4"])
def test_whole_numbers_become_the_nearest_floats(trained: Program, dtype: str) -> None:
    values = (numpy.arange(12).reshape(3, 4) % 2).astype(dtype)
    numpy.save(trained.folder / "in.npy", values)
    assert trained("predict", "in.npy", "out.npy").returncode == 0
    bias = load_file(trained.checkpoint(10))["net.b"][0]
    answer = numpy.load(trained.folder / "out.npy")
    assert numpy.array_equal(answer, values[:, :2].astype(numpy.float32) + bias)


def array_bytes(array: numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]]) -> bytes:
    buffer = io.BytesIO()
    numpy.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("in.npy", b"1,2,3,4\n", "no NPY file"),
        ("in.npy", array_bytes(rows(3))[:-1], "cut off"),
        ("in.npy", array_bytes(rows(3))[:20], "cut off"),
        ("in.npy", array_bytes(rows(3)).replace(b"'descr'", b"'desrc'"), "header is damaged"),
        ("in.npy", b"\x93NUMPY\x03\x00" + array_bytes(rows(3))[8:], "versions 1.0 and 2.0"),
        ("in.npy", array_bytes(rows(3).astype("f8")), "numpy.float32"),
        ("in.npy", array_bytes(rows(3).astype(">f4")), "dtype"),
        ("in.npy", array_bytes(numpy.asfortranarray(rows(3))), "Fortran"),
        ("in.npy", array_bytes(rows(3).reshape(3, 2, 2)), "need (rows, 4)"),
        ("in.npy", array_bytes(rows(3).reshape(12)), "need (rows, 4)"),
        ("in.npy", array_bytes(rows(3).reshape(2, 6)), "need (rows, 4)"),
        ("in.csv", b"1,2,3\n", "row 1, element 4"),
        ("in.csv", b"1,2,3,4\n1,2,3,4,5\n", "row 2, element 5 is one more than"),
        ("in.csv", b"1,2,3,4\n1,2,3,4kg\n", "row 2, element 4 has something behind it"),
        ("in.csv", b"1,2,3,4\n1,x,3,4\n", "row 2, element 2"),
        ("in.csv", b"1,2,3,4\n\n1,2,3,4\n", "row 2, element 1"),
        # a first row that is damaged is no header
        ("in.csv", b"nan,2,3,4\n1,2,3,4\n", "row 1, element 1"),
        ("in.csv", b",2,3,4\n", "row 1, element 1"),
        ("in.csv", b"x,2,3,4\n1,2,3,4\n", "row 1, element 1"),
        ("in.csv", b"1e,2,3,4\n1,2,3,4\n", "row 1, element 1"),
        ("in.csv", b"", "holds no rows"),
        ("in.csv", b"a,b,c,d\n", "holds no rows"),
        ("in.csv", b"\0" * 100, "row 1, element 1"),
    ],
)
def test_inputs_that_do_not_fit_are_named_and_leave_no_file(
    trained: Program, name: str, content: bytes, words: str
) -> None:
    (trained.folder / name).write_bytes(content)
    (trained.folder / "out.csv").write_bytes(b"old")
    before = sorted(trained.folder.iterdir())
    done = trained("predict", name, "out.csv")
    assert done.returncode == 5
    assert b"error[R0502]" in done.stderr and words in done.stderr.decode()
    assert (trained.folder / "out.csv").read_bytes() == b"old"
    assert sorted(trained.folder.iterdir()) == before


def test_missing_files_and_folders_are_named(trained: Program) -> None:
    done = trained("predict", "none.npy", "out.npy")
    assert done.returncode == 5 and b"cannot read none.npy: no such file" in done.stderr
    numpy.save(trained.folder / "in.npy", rows(1))
    done = trained("predict", "in.npy", "nowhere/out.npy")
    assert done.returncode == 5 and b"error[R0507]: cannot write nowhere/out.npy" in done.stderr


def test_a_header_may_have_spaces_quotes_and_a_mark_before_it(trained: Program) -> None:
    (trained.folder / "in.csv").write_bytes(b'\xef\xbb\xbfa, "b", \xc3\xa4,_d\n1,2,3,4\n')
    assert len(trained("predict", "in.csv", "-").stdout.splitlines()) == 1
    (trained.folder / "in.csv").write_bytes(b"\xef\xbb\xbf1,2,3,4\n")
    assert len(trained("predict", "in.csv", "-").stdout.splitlines()) == 1


def test_the_input_is_never_replaced_under_any_of_its_names(trained: Program) -> None:
    numpy.save(trained.folder / "in.npy", rows(3))
    before = (trained.folder / "in.npy").read_bytes()
    (trained.folder / "link.npy").symlink_to("in.npy")
    (trained.folder / "hard.npy").hardlink_to(trained.folder / "in.npy")
    for out in ("in.npy", "./in.npy", "link.npy", "hard.npy"):
        done = trained("predict", "in.npy", out)
        assert done.returncode == 2 and b"would replace its own input in.npy" in done.stderr
    assert (trained.folder / "in.npy").read_bytes() == before


def test_folders_and_pipes_are_named_and_not_waited_for(trained: Program) -> None:
    (trained.folder / "folder.npy").mkdir()
    os.mkfifo(trained.folder / "pipe.npy")
    for name, words in [("folder.npy", b"it is a folder"), ("pipe.npy", b"it is no regular file")]:
        done = trained("predict", name, "out.npy")
        assert done.returncode == 5 and b"cannot read " + name.encode() in done.stderr
        assert words in done.stderr


@pytest.mark.parametrize("name", ["in.npy", "in.csv"])
def test_an_input_that_is_cut_while_it_is_read_stops_the_program_in_words(
    trained: Program, name: str
) -> None:
    """The program waits for its reader while most of the input is still to be read."""
    path = trained.folder / name
    if name == "in.npy":
        numpy.save(path, rows(200_000))
    else:
        path.write_text("1,2,3,4\n" * 200_000)
    running = subprocess.Popen(
        ["./tiny", "predict", name, "-"],
        cwd=trained.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    running.stdout.read(1)
    os.truncate(path, 100)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 5
    assert b"error[R0502]: a file became shorter" in said
