"""Hostile files against every reader; see ``readers`` for how to add one, ``python -m tests.fuzz`` for a long run."""
