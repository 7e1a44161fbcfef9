"""x86-64 Linux hosts."""
