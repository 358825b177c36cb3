"""What options of commands choose from."""

from __future__ import annotations

BACKENDS = ("native", "coroutine")
"""Agents compiled into the model, or in Python."""

QUICK, OPTIMISED = BUILDS = ("quick", "optimised")
"""How a model is compiled: at once, or for this processor by a profile."""
