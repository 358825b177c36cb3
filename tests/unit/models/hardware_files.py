"""Loader of layers measured on the real hardware."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.references import MEASURED, NO_MEASURED


@dataclass(frozen=True, eq=False)
class MeasuredLayer:
    """One measured layer: arrays as stored (FP16 as uint16 patterns) and what the file says of itself."""

    name: str
    arrays: dict[str, npt.NDArray[Any]]
    meta: dict[str, Any]


Measured = Callable[[str], list[MeasuredLayer]]


def load_measured(pattern: str = "*") -> list[MeasuredLayer]:
    """Return the measured layers whose names match; skip the test when the files are absent."""
    if not MEASURED.is_dir():
        pytest.skip(NO_MEASURED)
    layers = []
    for path in sorted(MEASURED.glob(f"{pattern}.npz")):
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files if key != "meta"}
            layers.append(MeasuredLayer(path.stem, arrays, json.loads(str(file["meta"]))))
    return layers
