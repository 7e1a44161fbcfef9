"""Write `sums.txt`: sums of small numbers in words, in an order without pattern.

It is run by hand: `python make_sums.py`.
"""

import random
from pathlib import Path

WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
)  # fmt: skip
LINES = 1200
SEED = 1


def main() -> None:
    draw = random.Random(SEED)
    lines: list[str] = []
    for _ in range(LINES):
        a, b = draw.randint(0, 9), draw.randint(0, 9)
        lines.append(f"{WORDS[a]} and {WORDS[b]} is {WORDS[a + b]}.\n")
    Path(__file__).with_name("sums.txt").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
