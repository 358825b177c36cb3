"""The ports of the device under the bench's wrapper: which memories it has, how wide they are, and what is wrapped."""

from __future__ import annotations

from cocotb.handle import SimHandleBase

from nvdla_models.config import HwConfig
from nvdla_tb.judge.wrapped_rules import BROKEN
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.stimulus.settings import PortSettings

_BUS = {Ram.MC: "bus_mc", Ram.CVSRAM: "bus_cvsram"}
"""Pins of the wrapper around a wrapped NVDLA that are as many bits wide as its memory port has bytes."""


def is_wrapped(dut: SimHandleBase, ram: Ram | None) -> bool:
    """Return whether a memory port of the DUT, or that of its registers for None, is of another kind than NVDLA's."""
    return any(hasattr(dut, name) for name, broken in BROKEN.items() if broken.ram is ram)


def rams_of(config: HwConfig) -> tuple[Ram, ...]:
    """Return the memories that a configuration has ports for."""
    return (Ram.MC, Ram.CVSRAM) if config.secondary_memif_enable else (Ram.MC,)


def port_seed(seed: int, ram: Ram) -> int:
    """Return the seed of all randomness of a memory port."""
    return seed + 1 + (Ram.MC, Ram.CVSRAM).index(ram)


def bus_bytes(dut: SimHandleBase, config: HwConfig, ram: Ram) -> int:
    """Return the width of a memory port's data: the configuration's, or that of a wrapper."""
    mark = getattr(dut, _BUS[ram], None)
    if mark is not None:
        return len(mark)
    return config.primary_memif_width_bytes if ram is Ram.MC else config.secondary_memif_width_bytes


def latency_cycles(config: HwConfig, settings: PortSettings, ram: Ram) -> int:
    """Return the latency of a port: the one that is set, or the configuration's published one."""
    if settings.latency_cycles is not None:
        return settings.latency_cycles
    return config.primary_memif_latency_cycles if ram is Ram.MC else config.secondary_memif_latency_cycles
