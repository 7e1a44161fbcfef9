"""Evidence of a fact: which grade may meet which kind of demand, and how a citation reads."""

from __future__ import annotations

from alpha.evaluate.system import Evidence

GRADES = ("Architectural", "Measured", "Modelled")
"""Strongest first: stated by the maker, recorded on the device, derived from a checked model."""


def allowed(kind: str, grade: str) -> bool:
    """Modelled evidence may meet a Resource demand, never an Abi or a Feature."""
    return grade != "Modelled" or kind == "Resource"


def weakest(grades: list[str]) -> str:
    """The weakest grade relied on; "" if there is none."""
    return max(grades, key=GRADES.index, default="")


def citation(evidence: Evidence) -> str:
    """`document, place` of a manual or header; the path of a run record; the name of a model."""
    return ", ".join(evidence.citation)
