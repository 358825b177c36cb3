"""What a test is asked at its end, whoever has driven the device: the verdict of what monitors have seen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.judge import Access, Judge, Ports
from nvdla_tb.judge.line import LINE_CYCLES
from nvdla_tb.judge.predictor import ReadMemory
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.text import why_not_passed
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.sim.csb_monitor import CsbMonitor, InterruptMonitor
from nvdla_tb.sim.dbb_monitor import DbbMonitor
from nvdla_tb.sim.ending import FindingsError, judge_at_end, judge_before_another
from nvdla_tb.sim.events import Events
from nvdla_tb.stimulus.settings import BenchSettings


class Judging(Events):
    """A listener to monitors that has a verdict; see ``Bench`` and ``PortJudge``.

    Attributes:
        judge: The judge.
        verdict: Counts and findings so far.
    """

    verdict: Verdict

    @abstractmethod
    def finish(self) -> Verdict:
        """Judge what is left and return the verdict."""

    def check(self) -> None:
        """Judge everything so far.

        Raises:
            FindingsError: an ``AssertionError`` with every finding, when the scenario failed, was refused or compared
                nothing.
        """
        verdict = self.finish()
        self.leave()
        if verdict.ending is not Ending.PASSED:
            raise FindingsError("\n".join(why_not_passed(verdict)))

    def leave(self) -> None:
        """Leave the answer of a test that is asked for one."""

    def expect_findings(self, *checks: Check, refusal: bool = False) -> None:
        """Declare findings that the test provokes: each of these checks must find something, and no other may.

        ::

            bench.expect_findings(Check.VALUE)

        Args:
            checks: Checks that must find something.
            refusal: Whether a layer must be refused.

        Raises:
            InputError: for anything but checks.
        """
        for check in checks:
            if not isinstance(check, Check):
                raise InputError(f"checks must be members of Check, such as Check.VALUE, not {check!r}")
            if check is Check.RAISED:
                raise InputError("checks must be of what the device does: a test must not expect its own errors")
        verdict = self.verdict
        verdict.expected += [check for check in checks if check not in verdict.expected]
        verdict.expects_refusal |= refusal

    def conclude(self) -> list[str]:
        """Judge what the test has run, at its end, and return why it must not pass; empty when it may."""
        verdict = self.finish()
        self.leave()
        return [] if verdict.ending is Ending.PASSED else why_not_passed(verdict)


def judge_with(
    config: HwConfig, settings: BenchSettings, board: Scoreboard, read_memory: ReadMemory, ports: Ports
) -> Judge:
    """Return a judge that is as strict as the settings say."""
    return Judge(
        config,
        board,
        read_memory,
        ports,
        line_cycles=settings.slower_cycles(LINE_CYCLES),
        saturated=settings.saturated,
        limits_reached=settings.limits_reached,
        poison_reads=settings.poison_reads == "error",
        stray_accesses=settings.stray_accesses == "error",
        unmapped_accesses=settings.unmapped_accesses == "error",
    )


def checked_name(config: object, settings: object) -> str | None:
    """Return the name of the configuration that a test gives, None when it gives none.

    Raises:
        InputError: for anything but a configuration and settings.
    """
    if settings is not None and not isinstance(settings, BenchSettings):
        raise InputError(f"settings must be BenchSettings, not {type(settings).__name__}")
    if config is not None and not isinstance(config, HwConfig):
        hints = {BenchSettings: ": pass it as settings=...", str: f": HwConfig.load({config!r})"}
        hint = hints.get(type(config), "")
        raise InputError(f"config must be HwConfig, not {type(config).__name__}{hint}")
    return None if config is None else config.name


class PortJudge(Judging):
    """Judges every byte that a device writes, from monitors alone, in a test bench of your own.

    ::

        judge = await PortJudge.start(config, csb_monitor, interrupt_monitor, memory.monitor)
        ...                                 # write registers, wait for interrupts
        await memory.rests()
        judge.check()                       # raises with every finding

    The test is judged when it ends, whether or not it calls ``check``: it fails with any finding, and when nothing was
    compared. A layer that cannot be judged is a refusal; nothing after it is predicted, and the test fails.

    Attributes:
        verdict: Counts and findings so far.
    """

    def __init__(
        self,
        config: HwConfig,
        csb: CsbMonitor,
        line: InterruptMonitor,
        ports: Mapping[Ram, DbbMonitor],
        settings: BenchSettings,
    ) -> None:
        """Listen to monitors; ``start`` also judges the test at its end."""
        images = {ram: _image_of(port) for ram, port in ports.items()}
        board = Scoreboard(settings.exact)

        def read_memory(ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
            return images[ram].read_array(address, nbytes)

        self.judge = judge_with(config, settings, board, read_memory, Ports(ports))
        self.judge.plays_on = True
        self.verdict = self.judge.verdict
        # That of memory: a judge compares cycles of all ports.
        self._cycles = next(iter(ports.values())).cycles
        self._csb = csb
        csb.attach(self, self._cycles)
        line.attach(self, self._cycles)
        for port in ports.values():
            port.attach(self, self._cycles)
        csb.reset.call(self.judge.reset)
        self.judge.reset()

    @classmethod
    async def start(
        cls,
        config: HwConfig,
        csb: CsbMonitor,
        line: InterruptMonitor,
        *ports: DbbMonitor,
        settings: BenchSettings | None = None,
    ) -> Self:
        """Return a judge that hears of everything from now on, and judges the test when it ends.

        Args:
            config: The configuration of the device.
            csb: The monitor of CSB.
            line: The monitor of the interrupt line.
            ports: The monitors of all memory ports of the configuration, with the images of their memories.
            settings: Strictness, and ``csb_period``; the agents have what else is in there.

        Raises:
            InputError: when the monitors are not those of the configuration's ports, or lack an image.
        """
        by_ram = {port.ram: port for port in ports}
        wanted = (Ram.MC, Ram.CVSRAM) if config.secondary_memif_enable else (Ram.MC,)
        if len(ports) != len(by_ram) or set(by_ram) != set(wanted):
            names = ", ".join(port.ram.value for port in ports) or "none"
            wants = " and ".join(ram.value for ram in wanted)
            raise InputError(f"ports must be one monitor of {wants} for {config.name}, not of {names}")
        judge_before_another()
        judge = cls(config, csb, line, by_ram, settings or BenchSettings())
        await judge_at_end(judge.conclude)
        return judge

    def finish(self) -> Verdict:
        """Judge what is left and return the verdict."""
        return self.judge.finish(self._cycles.now())

    def conclude(self) -> list[str]:
        """Judge what the test has run, with the last access of one that ends with it."""
        self._csb.end()
        return super().conclude()

    def see_access(self, access: Access) -> None:
        """Judge a finished register access."""
        try:
            super().see_access(access)
        except Refused:
            # The verdict has the reason. Nothing predicts what follows.
            self.verdict.unpredicted = True
            self.judge.board.give_up()


def _image_of(port: DbbMonitor) -> MemoryImage:
    if port.memory is None:
        raise InputError(f"memory must be given to the DbbMonitor of {port.ram.value}, so that operands are known")
    return port.memory
