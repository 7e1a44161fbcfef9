"""The tensor graph: nodes, the table of operations, gradients, passes, text form and verifier."""
