"""Exact numbers for a build: every buffer's place and live range, every launch, every demand with its derivation."""
