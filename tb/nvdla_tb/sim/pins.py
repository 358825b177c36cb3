"""What agents of both back ends are bound to: pins and settings, and the listener to what they see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from cocotb.handle import SimHandleBase
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import AnyDetail, BadAccess
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.judge import Access, Judge
from nvdla_tb.judge.wrapped_rules import BROKEN
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.stimulus.settings import BenchSettings


class Events:
    """What agents see, passed on to the judge; a subclass may override what it listens to."""

    judge: Judge

    def see_access(self, access: Access) -> None:
        """Pass on a finished register access."""
        self.judge.csb(access)

    def see_writes(self, beats: Beats) -> None:
        """Pass on write beats of one memory port."""
        self.judge.writes(beats)

    def see_reads(self, ram: Ram, cycles: NDArray[np.int64], beats: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Pass on accepted reads of one memory port: their cycles, how many beats they ask for, and their ids."""
        self.judge.reads(ram, cycles, ids)

    def see_answers(self, ram: Ram, ids: NDArray[np.int64], written: NDArray[np.int64]) -> None:
        """Pass on accepted answers to writes of one memory port: ids, and when each write's last beat was."""
        self.judge.answers(ram, ids, written)

    def see_bad_access(self, access: BadAccess, at: int) -> None:
        """Pass on an access that memory refuses, and its cycle."""
        self.judge.bad_access(access, at)

    def see_violation(self, detail: AnyDetail, at: int) -> None:
        """Pass on a broken rule of a port, and its cycle."""
        self.judge.report(Check.PROTOCOL, detail, at)

    def see_line(self, level: bool, at: int) -> None:
        """Pass on a change of the interrupt line, and its cycle."""
        self.judge.line(at, level=level)


_BUS = {Ram.MC: "bus_mc", Ram.CVSRAM: "bus_cvsram"}
"""Pins of the wrapper around a wrapped NVDLA that are as many bits wide as its memory port has bytes."""


def is_wrapped(dut: SimHandleBase, ram: Ram | None) -> bool:
    """Return whether a memory port of the DUT, or that of its registers for None, is of another kind than NVDLA's."""
    return any(hasattr(dut, name) for name, broken in BROKEN.items() if broken.ram is ram)


@dataclass(frozen=True)
class Pins:
    """The pins and settings that agents are bound to.

    Attributes:
        dut: The top, with the canonical port names.
        config: The configuration of the RTL.
        settings: Latencies and stalls.
        registers: The register map.
        seed: Seed of all randomness.
        log_reads: Whether reads are pushed, too.
    """

    dut: SimHandleBase
    config: HwConfig
    settings: BenchSettings
    registers: RegisterMap
    seed: int
    log_reads: bool = False

    @property
    def rams(self) -> tuple[Ram, ...]:
        """The memories that the configuration has ports for."""
        return (Ram.MC, Ram.CVSRAM) if self.config.secondary_memif_enable else (Ram.MC,)

    @property
    def answers_all(self) -> bool:
        """Whether the DUT answers every write of a register, posted or not."""
        return is_wrapped(self.dut, None)

    def port_seed(self, ram: Ram) -> int:
        """Return the seed of all randomness of a memory port."""
        return self.seed + 1 + self.rams.index(ram)

    def bus_bytes(self, ram: Ram) -> int:
        """Return the width of a memory port's data: the configuration's, or that of a wrapper."""
        mark = getattr(self.dut, _BUS[ram], None)
        if mark is not None:
            return len(mark)
        config = self.config
        return config.primary_memif_width_bytes if ram is Ram.MC else config.secondary_memif_width_bytes

    def latency_cycles(self, ram: Ram) -> int:
        """Return the latency of a port: the one that is set, or the configuration's published one."""
        if self.settings.port.latency_cycles is not None:
            return self.settings.port.latency_cycles
        if ram is Ram.MC:
            return self.config.primary_memif_latency_cycles
        return self.config.secondary_memif_latency_cycles
