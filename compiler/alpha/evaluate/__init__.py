"""Core to values and graphs: the total functional language, run on an explicit stack with a counted budget."""
