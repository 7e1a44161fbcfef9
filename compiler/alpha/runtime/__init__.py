"""The freestanding runtime of built executables and the typed subset it is written in."""
