"""The configuration of the device that the tests of the gate are played on."""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.exchange import Request

CONFIG = HwConfig.load(Request.from_env("nv_small").config)

ATOM = CONFIG.atom_elements(Precision.INT8)
"""Elements of one byte in an atom."""

SETTLED_CYCLES = 1500 + 4 * CONFIG.primary_memif_latency_cycles
"""In which a small layer ends, whose reads and writes take the published latency."""
