"""The drawing of the arena: launches to the right, bytes upwards, a rectangle a buffer. Equal plans give equal bytes.

Every rectangle has a title, which browsers show: the buffer, its type, its bytes, its launches, its line of source. The
colours are readable on white and on black; the text follows the reader's preference.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from alpha.admission.amounts import byte_text
from alpha.admission.peak import Moment, peak
from alpha.base.record import record
from alpha.driver.memory_view import WORKSPACE, Picture, kind_of
from alpha.plan.plan import Buffer, Loop, ProgramPlan

WIDTH, HEIGHT = 1200, 480
"""Of the field in which the arena is drawn, in pixels."""

LEFT, TOP, GAP = 76, 64, 10
"""Room for the scale, for names and loops, and between programs."""

NARROWEST = 36
"""Pixels of a program with few launches, so that it can be seen and named."""

LOOP_STEP = 7
"""Pixels from a loop's bracket to that of a loop inside it."""

STYLE = """\
text{font:12px system-ui,sans-serif;fill:#24292f}
.small{font-size:10px}.line{stroke:#6e7781;stroke-width:1;fill:none}.peak{stroke:#cf222e;stroke-width:1.5;fill:none}
rect{stroke:#24292f;stroke-opacity:.35;stroke-width:.5}
.parameters{fill:#4c8dd6}.slots{fill:#8f6fd0}.batch{fill:#3fa66b}.numbers{fill:#9a9a9a}.workspace{fill:#e0a03c}
.mark{fill:#cf222e}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.line{stroke:#8b949e}rect{stroke:#e6edf3}.peak{stroke:#ff7b72}.mark{fill:#ff7b72}}
"""


@record
class Scale:
    """Where launches and bytes are drawn. `starts` and `widths` are those of each program, in pixels."""

    starts: dict[str, float]
    widths: dict[str, float]
    launches: dict[str, int]
    arena: int

    @staticmethod
    def of(picture: Picture) -> Scale:
        counts = {program.name: max(1, len(program.regions)) for program in picture.programs}
        room = WIDTH - GAP * (len(counts) - 1) - NARROWEST * len(counts)
        total = sum(counts.values())
        widths = {name: NARROWEST + room * count / total for name, count in counts.items()}
        starts: dict[str, float] = {}
        at = float(LEFT)
        for name, width in widths.items():
            starts[name] = at
            at += width + GAP
        return Scale(starts, widths, counts, max(1, picture.plan.arena))

    def x(self, program: str, launch: int) -> float:
        """The left end of a launch."""
        return self.starts[program] + self.widths[program] * launch / self.launches[program]

    def y(self, offset: int) -> float:
        return TOP + HEIGHT - HEIGHT * offset / self.arena


def memory_svg(picture: Picture) -> str:
    """A whole SVG document, ending with a newline."""
    scale, moment = Scale.of(picture), peak(picture.plan)
    arena = byte_text(picture.plan.arena)
    high = TOP + HEIGHT + 64
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 16} {high}" '
        f'width="{LEFT + WIDTH + 16}" height="{high}" role="img">',
        f"<title>{_title(picture)}: {escape(arena)}</title>",
        f"<style>\n{STYLE}</style>",
        *_ruler(scale),
    ]
    for buffer in picture.buffers:
        lines += _buffer(scale, buffer, picture.programs)
    for program in picture.programs:
        lines += _program(scale, program)
    if moment is not None and moment.program in scale.starts:
        lines += _peak(scale, moment)
    return "\n".join([*lines, *_legend(picture), "</svg>"]) + "\n"


def _title(picture: Picture) -> str:
    device = picture.plan.device
    return "The arena over time" if device is None else f"The arena of {device.name} over time"


def _ruler(scale: Scale) -> list[str]:
    """Marks at five heights of the arena."""
    lines: list[str] = []
    for part in range(5):
        offset = scale.arena * part // 4
        y = scale.y(offset)
        lines.append(_line(LEFT - 5, y, LEFT - 1, y))
        lines.append(_text(LEFT - 8, y + 4, byte_text(offset), "small", "end"))
    return lines


def _buffer(scale: Scale, buffer: Buffer, programs: tuple[ProgramPlan, ...]) -> list[str]:
    """A rectangle in each program that the buffer lives in."""
    top, height = scale.y(buffer.offset + buffer.bytes), HEIGHT * buffer.bytes / scale.arena
    lines: list[str] = []
    for program in programs:
        if buffer.program not in ("", program.name):
            continue
        first, last = (
            (buffer.first, buffer.last) if buffer.program else (0, scale.launches[program.name] - 1)
        )
        left, right = scale.x(program.name, first), scale.x(program.name, last + 1)
        lines.append(
            f'<rect class="{kind_of(buffer)}" x="{left:.2f}" y="{top:.2f}" '
            f'width="{right - left:.2f}" height="{height:.2f}">'
            f"<title>{escape(_described(buffer, program))}</title></rect>"
        )
    return lines


def _described(buffer: Buffer, program: ProgramPlan) -> str:
    end = buffer.offset + buffer.bytes
    lines = [
        f"{buffer.name}  {buffer.type}",
        f"{byte_text(buffer.bytes)} at {buffer.offset:,} to {end:,}",
    ]
    if buffer.program:
        first, last = buffer.first + 1, buffer.last + 1
        span = f"launch {first}" if first == last else f"launches {first} to {last}"
        lines.append(f"{program.name}, {span} of {len(program.regions)}")
    else:
        lines.append("lives through all programs")
    if buffer.span is not None:
        lines.append(str(buffer.span))
    return "\n".join(lines)


def _program(scale: Scale, program: ProgramPlan) -> list[str]:
    left, width = scale.starts[program.name], scale.widths[program.name]
    base = TOP + HEIGHT
    count = len(program.regions)
    named = f"{program.name}: {count} launch{'' if count == 1 else 'es'}"
    lines = [
        _line(left, base + 4, left + width, base + 4),
        f"<g>{_text(left, base + 18, program.name, 'small')}<title>{escape(named)}</title></g>",
    ]
    for loop in program.loops:
        lines += _loop(scale, program, loop)
    return lines


def _loop(scale: Scale, program: ProgramPlan, loop: Loop) -> list[str]:
    """A bracket above the launches that are run several times; one further in stands lower, without words."""
    depth = sum(
        other.first <= loop.first and loop.last <= other.last and other is not loop
        for other in program.loops
    )
    y = TOP - 22 + LOOP_STEP * depth
    left, right = scale.x(program.name, loop.first), scale.x(program.name, loop.last + 1)
    way = ", from the last turn to the first" if loop.backward else ""
    where = "" if loop.span is None else f"\n{loop.span}"
    title = f"launches {loop.first + 1} to {loop.last + 1}, {loop.count:,} times{way}{where}"
    path = f"M{left + 1:.2f} {y + 5}V{y}H{right - 1:.2f}V{y + 5}"
    words = "" if depth else _text(left + 1, y - 2, f"{loop.count:,} times", "small")
    return [f'<g><path class="line" d="{path}"/>{words}<title>{escape(title)}</title></g>']


def _peak(scale: Scale, moment: Moment) -> list[str]:
    left, right = (scale.x(moment.program, moment.region + more) for more in (0, 1))
    middle = (left + right) / 2
    side = "end" if middle > LEFT + WIDTH / 2 else "start"
    where = "" if moment.span is None else f", {moment.span}"
    said = f"peak: {byte_text(moment.live)} live at {moment.program}, launch {moment.region + 1}{where}"
    return [
        f'<path class="peak" d="M{middle:.2f} {TOP - 36}V{TOP + HEIGHT + 4}"/>',
        _text(middle + (-5 if side == "end" else 5), TOP - 38, said, "", side),
    ]


def _legend(picture: Picture) -> list[str]:
    y = TOP + HEIGHT + 40
    lines: list[str] = []
    at = LEFT
    for kind, size in picture.totals().items():
        words = f"{kind} {byte_text(size)}"
        lines.append(f'<rect class="{kind}" x="{at}" y="{y - 10}" width="12" height="12"/>')
        lines.append(_text(at + 18, y, words))
        at += 40 + 7 * len(words)
    words = f"arena {byte_text(picture.plan.arena)}; {WORKSPACE} is shared by the programs"
    lines.append(_text(at, y, words))
    return lines


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path class="line" d="M{x1:.2f} {y1:.2f}L{x2:.2f} {y2:.2f}"/>'


def _text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    classes = f' class="{style}"' if style else ""
    return f'<text{classes} x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}">{escape(words)}</text>'
