"""The operations of the language on values, split by family; `table.operations` puts them together."""
