"""Measured layers and golden traces, loaded once for all tests of the models."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import settings

from tests.unit.models.hardware_files import Measured, MeasuredLayer, Trace, load_measured, load_traces

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


@pytest.fixture(scope="session")
def traces() -> list[Trace]:
    """Return every nv_small trace; skip when they are absent."""
    return load_traces()
