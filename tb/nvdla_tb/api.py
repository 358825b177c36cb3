"""The public names of the package, as ``from nvdla_tb import Bench, Conv`` finds them."""

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.judge.finding import Check
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.short import Bdma, Cdp, Conv, Pdp, Rubik, Sdp
from nvdla_tb.sim.bench import Bench
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings

__all__ = [
    "Bdma",
    "Bench",
    "BenchSettings",
    "Cdp",
    "Check",
    "Conv",
    "HwConfig",
    "InputError",
    "MemoryImage",
    "Pdp",
    "PortSettings",
    "Precision",
    "Ram",
    "Rubik",
    "Sdp",
]
