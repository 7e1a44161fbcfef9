"""NVIDIA cards: PTX of our own, for sm_86 and sm_89."""
