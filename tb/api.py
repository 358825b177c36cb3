"""The public names of the package, as ``from nvdla_tb import Bench, Conv`` finds them."""

from models.config import HwConfig
from models.errors import InputError
from models.precision import Precision
from tb.judge.finding import Check
from tb.nvdla.memory import MemoryImage, Ram
from tb.nvdla.short import Bdma, Cdp, Conv, Pdp, Rubik, Sdp
from tb.sim.bench import Bench
from tb.stimulus.settings import BenchSettings, PortSettings

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
