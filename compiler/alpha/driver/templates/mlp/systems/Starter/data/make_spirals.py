"""Write `spirals.csv`: points on three arms of a spiral, with a little noise, in an order without blocks.

It is run by hand: `python make_spirals.py`.
"""

import math
import random
from pathlib import Path

ARMS = 3
POINTS = 160
SEED = 1


def main() -> None:
    draw = random.Random(SEED)
    rows: list[str] = []
    for arm in range(ARMS):
        for place in range(POINTS):
            radius = 0.05 + 0.95 * place / POINTS
            angle = 2 * math.pi * arm / ARMS + 4.5 * radius + draw.gauss(0, 0.12)
            x, y = radius * math.cos(angle), radius * math.sin(angle)
            rows.append(f"{x:.3f},{y:.3f},{arm}")
    draw.shuffle(rows)
    text = "\n".join(["x,y,arm", *rows]) + "\n"
    Path(__file__).with_name("spirals.csv").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
