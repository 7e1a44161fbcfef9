"""Alpha: a typed language and compiler toolchain for learning systems."""

__version__ = "0.1.0"
