"""How many processes play the tests, where the user leaves it open, with what environment, and which come first."""

from __future__ import annotations

import os

import pytest

# Tests play into folders of their own, and expect results where the command puts them without this.
os.environ.pop("NVDLA_RESULTS", None)
# A process a processor plays: numpy's threads, which every process starts, would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_xdist_auto_num_workers() -> int:
    """One more than processors: tests of clusters and batch systems mostly wait."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests of batch systems: they wait for minutes, while other processes play the rest."""
    items.sort(key=lambda item: item.path.name != "test_slurm.py")
