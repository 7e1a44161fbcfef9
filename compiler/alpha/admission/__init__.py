"""Demands against supplies: comparison, report and the Admitted token."""
