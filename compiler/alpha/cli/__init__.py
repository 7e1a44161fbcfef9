"""The alpha command: thin click commands."""
