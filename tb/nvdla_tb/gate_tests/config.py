"""The configuration of the device that the tests of the gate are played on."""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_tb.stimulus.exchange import Request

CONFIG = HwConfig.load(Request.from_env("nv_small").config)
