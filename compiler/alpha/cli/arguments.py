"""What a command takes, the reading of a command line into it, and its help.

A library for this takes longer to import than a short command to run.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence

from alpha.base.record import record
from alpha.diagnostics.closest import did_you_mean

_WIDTH = 78
_COLUMN = 30
"""Where the words behind an option begin at most."""


class WrongUsage(Exception):
    """A command line that says nothing this command can do. The text is one sentence for the user."""


@record
class Option:
    """An option. `value` names what follows it, `choices` all that may; a flag has neither.

    Of an option with a `default`, the default is among the choices.
    """

    name: str
    help: str
    value: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    short: str = ""
    required: bool = False

    @property
    def is_flag(self) -> bool:
        return not self.value and not self.choices

    @property
    def shown(self) -> str:
        names = f"{self.short}, {self.name}" if self.short else self.name
        if self.is_flag:
            return names
        return f"{names} {self.value or '[' + '|'.join(self.choices) + ']'}"


HELP = Option("--help", "Show this message and exit.", short="-h")
FORMAT = Option(
    "--format",
    "How diagnostics and reports are written.",
    choices=("text", "json", "sarif"),
    default="text",
)


@record
class Given:
    """What a command line gave: the places in order, the values by the name of their option."""

    places: tuple[str, ...]
    values: Mapping[str, str]
    flags: frozenset[str]

    def text(self, option: str) -> str:
        """The value of an option that has a default or is required."""
        return self.values[option]


@record
class Command:
    """`places` shows what stands behind the options: at least `least` words, at most `most` (None: any number).

    `ahead` means that options end at the first place, as what follows belongs to another program.
    """

    name: str
    run: Callable[[Given], int]
    options: tuple[Option, ...]
    places: str = ""
    least: int = 0
    most: int | None = 0
    ahead: bool = False

    @property
    def usage(self) -> str:
        return f"Usage: alpha {self.name} [OPTIONS] {self.places}".rstrip()

    def help(self) -> str:
        """The whole help: usage, what the command does, its options."""
        rows = [(option.shown, _words(option)) for option in (*self.options, HELP)]
        return f"{self.usage}\n\n{paragraphs(self.run.__doc__ or '')}\n\nOptions:\n{table(rows)}"

    def read(self, words: Sequence[str]) -> Given | None:
        """What `words` give to this command; None if they ask for its help. Raises WrongUsage."""
        known = {option.name: option for option in self.options}
        known |= {option.short: option for option in self.options if option.short}
        places: list[str] = []
        flags: set[str] = set()
        values = {o.name: o.default for o in self.options if o.default is not None}
        rest = list(reversed(words))
        while rest:
            word = rest.pop()
            if word == "--" or (places and self.ahead):
                places += [word] * (word != "--") + rest[::-1]
                break
            if not word.startswith("-") or word == "-":
                places.append(word)
                continue
            name, equals, value = word.partition("=")
            if word[:2] in known and not equals and len(word) > 2:
                name, equals, value = word[:2], "=", word[2:]  # as in `-oFILE`
            if name in (HELP.name, HELP.short):
                return None
            option = known.get(name)
            if option is None:
                guess = did_you_mean(name, [option.name for option in self.options])
                raise WrongUsage(f"there is no option `{name}`" + (f"; {guess}" if guess else ""))
            if option.is_flag:
                if equals:
                    raise WrongUsage(f"`{name}` takes no value")
                flags.add(option.name)
                continue
            if not equals:
                if not rest:
                    raise WrongUsage(f"`{name}` needs a value: {_values(option)}")
                value = rest.pop()
            if option.choices and value not in option.choices:
                raise WrongUsage(f"`{name}` is {_values(option)}, not `{value}`")
            values[option.name] = value
        for option in self.options:
            if option.required and option.name not in values:
                raise WrongUsage(f"`alpha {self.name}` needs `{option.name}`: {_values(option)}")
        if len(places) < self.least:
            raise WrongUsage(f"`alpha {self.name}` needs {self.places}")
        if self.most is not None and len(places) > self.most:
            more = ", ".join(f"`{word}`" for word in places[self.most :])
            raise WrongUsage(f"`alpha {self.name}` does not take {more}")
        return Given(tuple(places), values, frozenset(flags))


def paragraphs(text: str) -> str:
    """The paragraphs of a docstring, wrapped and indented."""
    wrapped = (
        textwrap.fill(" ".join(part.split()), _WIDTH, initial_indent="  ", subsequent_indent="  ")
        for part in text.split("\n\n")
    )
    return "\n\n".join(part for part in wrapped if part)


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Lines of two columns, the second one wrapped; each ends with a newline."""
    rows = list(rows)
    column = min(_COLUMN, max(len(left) for left, _ in rows) + 2)
    lines = []
    for left, right in rows:
        words = textwrap.wrap(right, _WIDTH - column - 2)
        if len(left) + 2 > column:
            lines.append(f"  {left}")
        else:
            lines.append(f"  {left:<{column}}{words.pop(0)}")
        lines += [" " * (column + 2) + more for more in words]
    return "".join(f"{line}\n" for line in lines)


def _values(option: Option) -> str:
    return f"one of {', '.join(option.choices)}" if option.choices else option.value


def _words(option: Option) -> str:
    if option.required:
        return f"{option.help} [required]"
    return f"{option.help} [default: {option.default}]" if option.default else option.help
