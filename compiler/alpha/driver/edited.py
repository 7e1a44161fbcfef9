"""A check of a large package by parts: what an earlier check found of them, or two processes ahead of this one."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.diagnostics.diagnostic import Refused
from alpha.driver.again import Again
from alpha.driver.ahead import check_ahead
from alpha.driver.session import Session
from alpha.driver.units import Unusable, read_index, worthwhile


def check_edited(session: Session, names: Sequence[str]) -> bool:
    """Whether `names` could be checked by what is known of their modules, from an earlier check or made ahead of this.

    What there is to say is reported, as the whole check would. False if that cannot be done; then nothing is, and the
    whole check has to be made.
    """
    if not worthwhile(len(names)):
        return False
    try:
        known = read_index(session, names) or check_ahead(session, names)
        said = Again(session, names, known).run()
    except (Unusable, Refused):
        return False
    for diagnostic in said:
        session.diagnostics.report(diagnostic)
    return True
