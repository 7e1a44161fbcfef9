"""`make fuzz`: draws packages and compares every way to run them, and checks some with one token changed.

What fails stays in the folder, by its seed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
import traceback
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

from fuzz.farm import Different, Farm
from fuzz.modules import package

MUTANTS = 1
"""Changed packages that are checked for each one that is built."""

Found = tuple[int, str, dict[str, int]]


def _batch(work: tuple[int, int, Path, str | None]) -> list[Found]:
    """Seed, what went wrong ("" if nothing), and the ways its expressions were made, for a range of seeds."""
    first, stop, folder, emulator = work
    farm = Farm(folder / f"{first}", [emulator] if emulator else None)
    found: list[Found] = []
    try:
        for seed in range(first, stop):
            drawn = package(seed)
            try:
                farm.compare(drawn, str(seed))
                for number in range(MUTANTS):
                    farm.spoil(drawn, f"{seed}-{number}", number)
            except Different as different:
                found.append((seed, str(different), drawn.taken))
            except Exception:
                found.append((seed, traceback.format_exc(), drawn.taken))
            else:
                found.append((seed, "", drawn.taken))
    finally:
        farm.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()
    folder = options.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    emulator = shutil.which("qemu-aarch64-static")
    hosts = "x86-64, AArch64, PTX on the model of sm_86"
    if not emulator:
        hosts = hosts.replace("AArch64", "no AArch64 (qemu-aarch64-static is missing)")
    print(f"{options.count} packages, {hosts}")
    size = 20
    stop = options.first + options.count
    batches = [
        (first, min(first + size, stop), folder, emulator)
        for first in range(options.first, stop, size)
    ]
    taken: Counter[str] = Counter()
    failed = done = 0
    began = time.monotonic()
    with Pool(options.processes, maxtasksperchild=1) as pool:
        for found in pool.imap_unordered(_batch, batches):
            for seed, wrong, ways in found:
                taken.update(ways)
                done += 1
                if wrong:
                    failed += 1
                    print(f"seed {seed}: {wrong.strip().splitlines()[-1]}", flush=True)
                    (folder / f"{seed}.txt").write_text(wrong, "utf-8")
            if done % 200 < size:
                print(f"{done} of {options.count}, {time.monotonic() - began:.0f} s", flush=True)
    print(f"ways to make an expression: {dict(sorted(taken.items()))}")
    print(f"{done - failed} of {done} agree bit for bit")
    if not failed:
        shutil.rmtree(folder, ignore_errors=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
