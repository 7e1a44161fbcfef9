"""Names that a later version of the language gives a meaning: using one is E0011, not an unknown name.

Section 29 of the specification lists them. A name of a package's own hides such a one as it hides any prelude name.
"""

from __future__ import annotations

LATER = frozenset(
    {"argsort", "conv1d", "cumsum", "onnx", "parquet", "remat", "scan", "scatterAdd", "topK"}
)
