"""Every diagnostic code with its short title, and the exit status its first letter stands for.

The list is that of the specification, section 26. A test compares it with what the phases raise and with
the explanation pages.
"""

from __future__ import annotations

from collections.abc import Iterable

from alpha.diagnostics.diagnostic import Diagnostic, Severity

OK = 0
PROGRAM = 1
USAGE = 2
ADMISSION = 3
TARGET = 4
STOPPED = 5
INTERNAL = 70
INTERRUPTED = 130

STATUS = {"E": PROGRAM, "P": PROGRAM, "A": ADMISSION, "T": TARGET, "R": STOPPED, "W": OK}

TITLES: dict[str, str] = {
    "E0001": "tab or carriage return",
    "E0002": "a character that starts no token",
    "E0003": "a keyword or unit as a name",
    "E0004": "indentation fits no block",
    "E0005": "bracket unclosed, or closed by another",
    "E0006": "bad escape or unclosed text",
    "E0007": "unknown unit",
    "E0008": "malformed number",
    "E0009": "syntax error",
    "E0010": "nested too deeply, or a file too large",
    "E0011": "not in this version yet",
    "E0101": "unknown name",
    "E0102": "unknown module",
    "E0103": "import cycle",
    "E0104": "defined twice, or hidden",
    "E0105": "module in two roots",
    "E0107": "module header and path differ",
    "E0108": "signature without definition",
    "E0109": "name not exposed",
    "E0110": "function of a model without a signature",
    "E0201": "layer broken",
    "E0202": "reference module in a build closure",
    "E0203": "literal in a pairing",
    "E0204": "pairing in a wrong place",
    "E0301": "types differ",
    "E0302": "wrong number of arguments",
    "E0303": "patterns missing",
    "E0304": "arm never reached",
    "E0305": "no record with these fields",
    "E0306": "record type unknown at a field",
    "E0307": "operand type unknown",
    "E0308": "constraint not met",
    "E0309": "wrong kind or number of type arguments",
    "E0310": "units differ",
    "E0401": "dtypes differ",
    "E0402": "literal does not fit its dtype",
    "E0403": "index from an unchecked integer",
    "E0404": "operation not defined for this dtype",
    "E0405": "cast not defined",
    "E0409": "choice on a staged value",
    "E0410": "value must be known",
    "E0411": "tensor in a proof",
    "E0412": "sizes differ",
    "E0413": "ranks differ",
    "E0414": "element counts differ in a reshape",
    "E0415": "undecided or undetermined dimension",
    "E0416": "a dimension inside itself",
    "E0417": "size-1 axis does not stretch",
    "E0418": "axis ambiguous or unknown",
    "E0419": "size does not divide",
    "E0420": "letters of an einsum",
    "E0421": "initialiser does not fit",
    "E0422": "shape literal needed",
    "E0423": "index or bound outside, or undecided",
    "E0501": "recursion",
    "E0502": "evaluation budget used up",
    "E0503": "size below 1",
    "E0504": "division by zero",
    "E0601": "key used twice",
    "E0602": "key drawn from and derived from",
    "E0603": "key captured by a loop",
    "E0604": "key label used twice",
    "E0610": "loss is not a scalar f32",
    "E0611": "not differentiable",
    "E0612": "parameter never reaches the loss",
    "E0613": "gradient of an integer",
    "E0701": "fact without evidence",
    "E0702": "unknown fact name",
    "E0703": "fact stated twice",
    "E0704": "record or model missing or changed",
    "E0705": "shared fact not Architectural",
    "E0706": "amount not whole, negative, or of the wrong unit",
    "E0707": "estimate as supply, or the reverse",
    "E0708": "grade does not fit the source",
    "E0710": "entry of a declaration missing or unknown",
    "E0801": "region used before it is written",
    "E0802": "read before any submit",
    "E0803": "`every` does not divide",
    "E0804": "recipe never submitted",
    "E0805": "region never used",
    "E0806": "launch does not match the program",
    "E0807": "schedule departs from the policy",
    "E0901": "data file missing",
    "E0902": "data digest differs from the lock",
    "E0903": "data does not fit the batch type",
    "E0904": "data file short or corrupt",
    "E0905": "examples, holdOut and batch do not fit",
    "E0906": "weights do not fit",
    "W0001": "unused import",
    "W0002": "unused definition",
    "W0003": "key never used",
    "W0004": "exported definition without a signature",
    "W0005": "a shipped module is hidden",
    "P0001": "proof false",
    "P0002": "rejection did not see its code",
    "P0003": "test fails",
    "A0301": "a demand is short",
    "A0302": "a supply is absent or zero",
    "A0303": "evidence too weak",
    "A0304": "a supply differs",
    "A0305": "the pairing's own condition is false",
    "A0306": "empty artifact",
    "T0401": "known target that cannot be emitted",
    "T0402": "unknown target",
    "T0403": "no target package",
    "T0404": "operation without a lowering",
    "T0405": "output kind or target does not fit",
    "R0501": "the machine differs",
    "R0502": "data missing or changed at run",
    "R0503": "index out of range in the data",
    "R0504": "a value is not finite",
    "R0505": "checkpoint does not fit",
    "R0506": "self-check or contract failed",
    "R0507": "write failed",
    "R0508": "device lost",
}


def status_of(code: str) -> int:
    """The exit status that an error of this code ends with."""
    return STATUS[code[0]]


def exit_status(diagnostics: Iterable[Diagnostic]) -> int:
    """The status of a run with these diagnostics: that of the first error, since the first failing stage decides."""
    for item in diagnostics:
        if item.severity is Severity.ERROR:
            return status_of(item.code)
    return OK
