"""Write `shapes.csv`: noisy pictures of bars, crosses and boxes, in an order without blocks.

It is run by hand: `python make_shapes.py`.
"""

import random
from pathlib import Path

SIDE = 8
PICTURES = 480
SEED = 1


def picture(draw: random.Random, shape: int) -> list[int]:
    """The pixels of one picture, row after row: ink is bright, paper has specks."""
    size = draw.randint(4, 6)
    top, left = draw.randint(0, SIDE - size), draw.randint(0, SIDE - size)
    middle = size // 2
    pixels: list[int] = []
    for y in range(SIDE):
        for x in range(SIDE):
            row, column = y - top, x - left
            inside = 0 <= row < size and 0 <= column < size
            lies, stands = row == middle, column == middle
            edge = row in (0, size - 1) or column in (0, size - 1)
            ink = inside and (lies, stands, lies or stands, edge)[shape]
            bright = draw.randint(5, 9) if ink else draw.randint(0, 2)
            pixels.append(9 - bright if draw.random() < 0.01 else bright)
    return pixels


def main() -> None:
    draw = random.Random(SEED)
    rows = []
    for number in range(PICTURES):
        shape = number % 4
        rows.append(",".join(map(str, [*picture(draw, shape), shape])))
    draw.shuffle(rows)
    Path(__file__).with_name("shapes.csv").write_text("\n".join(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
