"""The typed core: what the checker makes and the evaluator runs. Every name is resolved, every type explicit."""
