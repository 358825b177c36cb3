"""The public names of the package, as ``from nvdla_tb import Bench, Conv`` finds them."""

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.judge.finding import Check
from nvdla_tb.nvdla.layers import WidthSplit
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.short import Bdma, Cdp, Conv, Pdp, Rubik, Sdp
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.buses import CsbBus, DbbBus
from nvdla_tb.sim.csb import CsbMaster
from nvdla_tb.sim.csb_monitor import CsbMonitor, InterruptMonitor
from nvdla_tb.sim.dbb_memory import DbbMemory
from nvdla_tb.sim.dbb_monitor import DbbMonitor
from nvdla_tb.sim.interrupts import InterruptAgent
from nvdla_tb.sim.judging import PortJudge
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings

__all__ = [
    "Bdma",
    "Bench",
    "BenchSettings",
    "Cdp",
    "Check",
    "Conv",
    "CsbBus",
    "CsbMaster",
    "CsbMonitor",
    "DbbBus",
    "DbbMemory",
    "DbbMonitor",
    "HwConfig",
    "InputError",
    "InterruptAgent",
    "InterruptMonitor",
    "MemoryImage",
    "Pdp",
    "PortJudge",
    "PortSettings",
    "Precision",
    "Ram",
    "Rubik",
    "Sdp",
    "WidthSplit",
]
