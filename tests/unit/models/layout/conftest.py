"""Measured layers and golden traces, loaded once for all layout tests."""

from __future__ import annotations

import pytest

from tests.unit.models.layout.hardware_files import MeasuredLayer, Trace, load_measured, load_traces


@pytest.fixture(scope="session")
def measured_layers() -> list[MeasuredLayer]:
    """Return every measured layer; skip when the files are absent."""
    return load_measured()


@pytest.fixture(scope="session")
def traces() -> list[Trace]:
    """Return every nv_small trace; skip when they are absent."""
    return load_traces()
