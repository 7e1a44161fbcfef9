"""Text to tree and back: grammar, layout, the lossless tree, the parser and the formatter."""
