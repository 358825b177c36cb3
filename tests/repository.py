"""The checkout that the tests run in, and how they compile models that simulate little."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

UNOPTIMISED = "OPT_FAST=-O0 OPT_GLOBAL=-O0"
"""The value of ``MAKEFLAGS`` for a model that plays a few scenarios, which it does sooner than g++ optimises.

The optimiser is no part of a model's key: never for models that the user has, too.
"""
