"""The measured layers that tests use: the full set where it is, else the few that the project carries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests import references
from tests.repository import ROOT

CARRIED = ROOT / "tests" / "data" / "measured"
MEASURED = references.MEASURED if references.MEASURED.is_dir() else CARRIED

Arrays = dict[str, np.ndarray[Any, Any]]


def rewritten(path: Path, source: str, change: Callable[[Arrays, dict[str, Any]], object]) -> Path:
    """Write a carried layer to ``path`` with its arrays and meta changed in place, and return the path."""
    with np.load(CARRIED / f"{source}.npz") as file:
        arrays = {key: file[key] for key in file.files}
    meta = json.loads(str(arrays.pop("meta")))
    change(arrays, meta)
    np.savez_compressed(path, meta=np.array(json.dumps(meta)), **arrays)
    return path
