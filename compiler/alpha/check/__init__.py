"""Tree to core: names, types and shapes."""
