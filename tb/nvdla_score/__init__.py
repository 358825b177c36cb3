"""Seeded bugs and source mutants: how many of them the bench catches, and whether it says why."""
