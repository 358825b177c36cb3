"""Golden traces and layers measured on the real hardware: beside the project, or where the environment says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "nvdla"

TRACES = Path(os.environ.get("NVDLA_TRACES_DIR", _BESIDE / "traces"))
"""Folder of the trace sets: ``nv_small``, ``nv_small_measured``."""

TRACES_V1 = Path(os.environ.get("NVDLA_TRACES_V1_DIR", _BESIDE / "traces_v1"))
"""Folder of the traces of the public project's default branch, ``input.txn``."""

MEASURED = Path(os.environ.get("NVDLA_MEASURED_DIR", _BESIDE / "measured_nv_full"))
"""Folder of the measured layers, ``.npz`` files."""

NO_TRACES = f"golden traces are not in {TRACES}: set NVDLA_TRACES_DIR to the folder of the trace sets"
NO_TRACES_V1 = f"traces of nv_full are not in {TRACES_V1}: set NVDLA_TRACES_V1_DIR to their folder"
NO_MEASURED = f"measured layers are not in {MEASURED}: set NVDLA_MEASURED_DIR to the folder of their .npz files"

needs_traces = pytest.mark.skipif(not TRACES.is_dir(), reason=NO_TRACES)
needs_traces_v1 = pytest.mark.skipif(not TRACES_V1.is_dir(), reason=NO_TRACES_V1)
needs_measured = pytest.mark.skipif(not MEASURED.is_dir(), reason=NO_MEASURED)

NETWORKS = Path(os.environ.get("NVDLA_NETWORKS_DIR", _BESIDE / "networks"))
"""Folder of compiled networks: ``loadables``, ``golden``, ``digits``."""

NO_NETWORKS = f"compiled networks are not in {NETWORKS}: set NVDLA_NETWORKS_DIR to the folder of the loadables"

needs_networks = pytest.mark.skipif(not NETWORKS.is_dir(), reason=NO_NETWORKS)
