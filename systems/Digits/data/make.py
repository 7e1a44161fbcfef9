"""Write `digits.csv` from the copy of the digits test set that scikit-learn ships.

    python make.py [PATH]

PATH is `digits.csv.gz`, a folder that holds an installed scikit-learn, or nothing to use the one that Python imports.
A row is 64 pixels (0 to 16, row-major) and a label (0 to 9). Writers stand in blocks in the original, so the rows are
put into another order once, here: ascending by the SHA-256 of `alpha digits <seed> <row>`, rows counted from 0. That
order depends on no random generator, so every version of every tool writes the same file.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path

SEED = 1
ROWS = 1_797
ORIGINAL = "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"
"""SHA-256 of the uncompressed original."""


def original(arguments: list[str]) -> Path:
    """The compressed original that the command line names."""
    inside = Path("sklearn", "datasets", "data", "digits.csv.gz")
    if not arguments:
        spec = find_spec("sklearn")
        if spec is None or spec.origin is None:
            sys.exit("scikit-learn is not installed: give the path of its digits.csv.gz")
        return Path(spec.origin).parent.parent / inside
    given = Path(arguments[0])
    return given / inside if given.is_dir() else given


def place(row: int) -> str:
    return hashlib.sha256(f"alpha digits {SEED} {row}".encode()).hexdigest()


def main() -> None:
    text = gzip.decompress(original(sys.argv[1:]).read_bytes())
    if hashlib.sha256(text).hexdigest() != ORIGINAL:
        sys.exit("this is not the original that digits.csv was made from")
    rows = text.decode("ascii").split()
    assert len(rows) == ROWS
    shuffled = [rows[row] for row in sorted(range(ROWS), key=place)]
    target = Path(__file__).with_name("digits.csv")
    target.write_text("\n".join(shuffled) + "\n", encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
