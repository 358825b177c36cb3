"""Measured layers, loaded once for all tests of the models."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import settings

from tests.measured import Measured, MeasuredLayer, load_measured

# The literal oracles are slow by design; a busy machine must not fail them.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


@pytest.fixture(scope="session")
def measured() -> Measured:
    """Return a loader of all layers that match a file pattern; skip when the files are absent."""
    return cache(load_measured)


@pytest.fixture
def measured_layers(measured: Measured) -> list[MeasuredLayer]:
    """Return every measured layer."""
    return measured("*")
