"""Options and settings of the whole suite."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

# Machines of continuous integration are slow and shared: a law is judged by its answer, not by its time. The suite
# draws the same examples every time, so that its word on a commit does not depend on luck; `make fuzz` draws new ones.
settings.register_profile("alpha", deadline=None, derandomize=True)
settings.load_profile("alpha")


# A shell that starts the suite in its background has it ignore interruptions and hang-ups, and what a test starts would
# ignore them as well: those tests are about what happens at a terminal.
for ignored, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, usual)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the expectations of spec pages")


@pytest.fixture(autouse=True)
def a_cache_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No test reads or fills the cache of whoever runs it; the suite shares one of its own."""
    folder = tmp_path_factory.getbasetemp().parent / "alpha-cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
