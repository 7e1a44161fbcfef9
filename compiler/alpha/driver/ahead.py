"""Two processes that check a large package of which nothing is known yet, ahead of the check that says what there is.

Each takes the modules that fall to it, in the order of imports, and keeps what it finds in the cache, where the other
finds what its own modules import. A module of which anything is to be said is left alone, and so is what imports it.
Then comes a check like that after an edit: it checks what was left, and all that is said comes from one process, in
the order in which it always comes. So neither an answer nor an entry of the cache depends on these processes. One that
fails or is killed only leaves more to be checked afterwards.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from alpha.base.record import replace
from alpha.check.modules import PRELUDE
from alpha.core.dim import TooLarge
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.driver.again import Again
from alpha.driver.session import Session
from alpha.driver.units import (
    Homes,
    Known,
    Unit,
    Unusable,
    files_read,
    keep_index,
    keep_unit,
    key_of,
)
from alpha.evaluate.files import FileAccess

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from queue import SimpleQueue

WORTH_TWO = 150
"""The number of modules from which on a second process saves more than it costs."""

_IMPORT = re.compile(r"^import +([A-Z]\w*(?:\.[A-Z]\w*)*)", re.MULTILINE)
_AWAY = 2_000
"""What it costs to find a module that the other process has checked, as bytes of a module that is checked here."""


def check_ahead(session: Session, names: Sequence[str]) -> Known:
    """What two processes find out of `names` and what they import. Raises Unusable where it is better done by one."""
    if len(names) < WORTH_TWO or not _two_processors() or not _alone():
        raise Unusable
    half = _Half(session, names)
    half.begin()
    from multiprocessing import get_context  # rare, and slow to import

    context = get_context("fork")
    here, there = context.Pipe()
    second = context.Process(target=_second, args=(half, here, there), daemon=True)
    gc.freeze()  # so that neither process copies pages for the sake of collecting
    second.start()
    there.close()
    try:
        half.work(0, here)
    finally:
        second.kill()
        second.join()
        here.close()
        gc.unfreeze()
    keep_index(session, names, half.found, FileAccess.of_modules({}))
    return half.found


def _two_processors() -> bool:
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


def _alone() -> bool:
    """Whether this is the only thread: a fork leaves the others behind, with what they hold."""
    threading = sys.modules.get("threading")
    return threading is None or threading.active_count() == 1


def _second(half: _Half, other: Connection[Any, Any], own: Connection[Any, Any]) -> None:
    """The second process. What it has to say, it leaves to be found by the first."""
    import signal

    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_DFL)  # it is the first one that says why it ends
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    other.close()
    with suppress(Exception):
        half.work(1, own)


class _Half(Again):
    """One of the two. `found` is what it knows in the end."""

    def __init__(self, session: Session, names: Sequence[str]) -> None:
        super().__init__(session, names, Known({}))
        self._own_names = frozenset(names)
        self._order_of_imports: list[str] = []
        self._share: Mapping[str, int] = {}
        self._left: set[str] = set()
        self.found = Known({})

    def begin(self) -> None:
        """What both need: the order of the modules, what falls to whom, and the prelude."""
        order = self._order_of_imports = self._order()
        if any(name.startswith("Platform.") for name in order):
            raise Unusable  # the rules between systems and platforms look at whole chains of imports
        self._homes = Homes(order)
        for name in PRELUDE:
            self._look_at(name)
            key = self._units[name].key if name in self._units else ""
            if self._session.cache.find("unit", key) is None:
                raise Unusable  # a cache that keeps nothing, or a damaged library
        costs = {name: len(self._data[name]) for name in order}
        self._share = shares([n for n in order if n not in PRELUDE], self._imports, costs)

    def work(self, which: int, other: Connection[Any, Any]) -> None:
        """Checks the modules that fall to process `which`, and takes what the other tells of its own."""
        from queue import SimpleQueue
        from threading import Thread

        told: SimpleQueue[Any] = SimpleQueue()
        # Both processes read all the time, so that neither waits for the other to take what it sends.
        Thread(target=_listen, args=(other, told), daemon=True).start()
        files = FileAccess.of_modules({name: found.file for name, found in self._paths.items()})
        evaluator = self._evaluator(files, Diagnostics())
        with suppress(EOFError, OSError):
            for name, share in self._share.items():
                if share != which:
                    continue
                for each in self._imports[name]:
                    while each not in self._units and each not in self._left:
                        self._take(told.get())
                unit = self._look_at(name)
                if unit is not None and name in self._own_names and evaluator.check_module(name):
                    self._settle(name)
                    unit = self._units[name]
                other.send((name, unit, unit and replace(self._faces[name], declared={})))
            other.send(("", *files_read(files)))
            while which == 0:
                self._take(told.get())
        read, locks = files_read(files)
        self.found.files += read
        self.found.locks += locks
        known = {name: self._units.get(name) for name in self._order_of_imports}
        self.found.units = {name: unit for name, unit in known.items() if unit is not None}

    def _look_at(self, name: str) -> Unit | None:
        """Reads and checks one module; None if it is left alone."""
        try:
            if self._left.intersection(self._imports[name]):
                raise Unusable
            if super()._imported(name) != self._imports[name]:
                raise Unusable
            self._check_imports_of(name)
            root = self._paths[name].root.label
            key = key_of(name, root, self._digests[name], self._imports[name], self._units)
            self._check(name, key)
            unit = self._units[name]
            if not unit.quiet:
                raise Unusable
        except (Unusable, Refused, TooLarge):
            self._units.pop(name, None)
            self._left.add(name)
            return None
        keep_unit(self._session, unit.key, self._cores[name], self._stored[name])
        del self._trees[name]
        return unit

    def _imported(self, name: str) -> tuple[str, ...]:
        """As the text says at first sight; whoever reads the module compares that with what it imports."""
        return tuple(dict.fromkeys(_IMPORT.findall(self._source(name).text)))

    def _take(self, message: tuple[str, Any, Any] | None) -> None:
        """Takes what the other process has found. Raises EOFError at its end."""
        if message is None:
            raise EOFError
        name, unit, face = message
        if not name:
            self.found.files += unit
            self.found.locks += face
            raise EOFError
        if unit is None:
            self._left.add(name)
            return
        self._units[name], self._faces[name] = unit, face
        self._offered.add(name)


def _listen(other: Connection[Any, Any], told: SimpleQueue[Any]) -> None:
    with suppress(EOFError, OSError):
        while True:
            told.put(other.recv())
    told.put(None)


def shares(
    order: Sequence[str], imports: Mapping[str, Sequence[str]], costs: Mapping[str, int]
) -> dict[str, int]:
    """Which of two processes checks each module of `order`, where it is done first if `costs` tell the time."""
    share: dict[str, int] = {}
    free, done = [0, 0], dict[str, int]()
    for name in order:
        ends = []
        for which in (0, 1):
            ready = [done[n] + _AWAY * (share[n] != which) for n in imports[name] if n in done]
            ends.append(max(free[which], *ready, 0) + costs[name])
        which = ends.index(min(ends))
        share[name], free[which], done[name] = which, ends[which], ends[which]
    return share
