"""Predicted cycles: a model of the time that hardware of nv_small's sizes takes for layers, from its structure."""

from nvdla_tb.nvdla.timing.machine import Machine, WhatIf
from nvdla_tb.nvdla.timing.timeline import Span, Timeline

__all__ = ["Machine", "Span", "Timeline", "WhatIf"]
