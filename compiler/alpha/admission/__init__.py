"""Admission: the demands of a build against the supplies of a profile; without its token nothing is emitted."""

from alpha.admission.admitted import Admission, Admitted, admit

__all__ = ["Admission", "Admitted", "admit"]
