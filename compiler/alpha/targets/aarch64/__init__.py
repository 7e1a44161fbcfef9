"""AArch64 Linux hosts."""
