"""`make demo`: builds Digits, trains it in a fresh temporary folder and checks what it has learned."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ACCURACY = 0.96


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    alpha = Path(sys.executable).with_name("alpha")
    executable = root / "build" / "digits"
    show(f"alpha build Digits -o {executable.relative_to(root)}")
    subprocess.run([alpha, "build", "Digits", "-o", executable], cwd=root, check=True)
    with tempfile.TemporaryDirectory(prefix="alpha-demo-") as folder:
        show("build/digits train")
        subprocess.run([executable, "train"], cwd=folder, check=True)
        show("build/digits evaluate")
        record = subprocess.run(
            [executable, "evaluate"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    print(record, end="")
    found = re.search(r"accuracy\W+([0-9.]+(?:e-?[0-9]+)?)", record)
    if found is None:
        print("the executable printed no accuracy", file=sys.stderr)
        return 1
    accuracy = float(found.group(1))
    print(f"\nheld-out accuracy {accuracy:.4f} (at least {ACCURACY} expected)")
    return 0 if accuracy >= ACCURACY else 1


def show(command: str) -> None:
    print(f"$ {command}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failure:
        print(
            f"{Path(failure.cmd[0]).name} ended with status {failure.returncode}", file=sys.stderr
        )
        sys.exit(1)
