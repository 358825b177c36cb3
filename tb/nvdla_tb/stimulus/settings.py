"""How the bench behaves around the DUT: every knob has a name, a unit and a stated default."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from nvdla_models.errors import InputError
from nvdla_tb.plain_data import check_fields

_SHORTEST_PERIOD, _LONGEST_PERIOD = 0.05, 20.0

MOST_CSB_OUTSTANDING = 3
"""Answers that find room on their way back: reads and non-posted writes beyond that may lose theirs.

Source: public nv_small RTL, ``NV_NVDLA_csb_master``, whose units do not wait when the answers' FIFO of two, with a
    register in front of it, is full: read off. Measured there with five ratios of clocks and four rates of pauses: with
    three outstanding no answer is lost. The documents know no limit.
"""

CHANNELS = ("ar", "aw", "w", "r", "b")
"""Channels of a memory port; in the order of the harness."""

READ_IDS, WRITE_IDS = ("1", "2", "3", "5", "6", "8", "9"), ("1", "2", "3")
"""Ids of clients of the memory interface whose weights are judged: SDP, PDP, CDP, operands of SDP, and CDMA."""


_Cycles = Annotated[int, Meta(ge=0, le=65535)]
_AtLeastOne = Annotated[int, Meta(ge=1)]
_Probability = Annotated[float, Meta(ge=0.0, lt=1.0)]
_Severity = Literal["error", "count"]


class SettingsError(InputError):
    """An unknown setting or a value outside its range."""


def _check_words(name: str, text: str, allowed: tuple[str, ...]) -> None:
    for word in text.split():
        if word not in allowed:
            raise SettingsError(f"{name} must be of {', '.join(allowed)}, not {word}")


class PortSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Behaviour of one memory port's slave; all randomness comes from the scenario's seed.

    ::

        slow = PortSettings(latency_cycles=200, jitter_cycles=50, ready_stall=0.3)
        bench = await Bench.start(dut, settings=BenchSettings(port=slow))

    Stop AW and W for the first 40 of every 50 cycles::

        PortSettings(pause_cycles=40, pause_period_cycles=50, pause_channels="aw w")

    ``latency_cycles`` None means the configuration's published latency. Stalls are probabilities
    per cycle: ``ready_stall`` that AR, AW or W is not ready, ``valid_stall`` that a due R or B waits.
    ``jitter_cycles`` is added to the latency, uniformly. ``reorder`` lets responses of different ids
    overtake each other; within an id the order is kept.

    ``write_latency_cycles`` is that of write answers alone, None the same as for reads. For the first ``pause_cycles``
    of every ``pause_period_cycles`` channels stand still, and afterwards they make up for it: those that
    ``pause_channels`` names (such as ``aw w``) each time, or any of the five, each at random, when it names none.
    """

    latency_cycles: _Cycles | None = None
    jitter_cycles: _Cycles = 0
    ready_stall: _Probability = 0.0
    valid_stall: _Probability = 0.0
    reorder: bool = False
    write_latency_cycles: _Cycles | None = None
    pause_cycles: int = 0
    pause_period_cycles: _Cycles = 0
    pause_channels: str = ""

    def __post_init__(self) -> None:
        check_fields(self, SettingsError)
        paused, period = self.pause_cycles, self.pause_period_cycles
        if not 0 <= paused <= max(period - 1, 0):
            rule = f"at least 0 and below pause_period_cycles ({period})"
            raise SettingsError(f"pause_cycles must be {rule}, not {paused}")
        _check_words("pause_channels", self.pause_channels, CHANNELS)

    @property
    def pauses(self) -> tuple[str, ...]:
        """Channels that stand still in every period."""
        return tuple(channel for channel in CHANNELS if channel in self.pause_channels.split())


class BenchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything around the DUT that a scenario may choose.

    ::

        settings = BenchSettings(port=PortSettings(ready_stall=0.5), csb_stall=0.2, poison_reads="count")
        bench = await Bench.start(dut, settings=settings)

    ``port`` says how the memory ports behave; both of a configuration with a second memory.

    ``csb_stall`` is the probability per cycle that the CSB agent pauses before a request; ``csb_outstanding`` how many
    reads and non-posted writes of a program may wait for their answers at once; ``csb_period`` the period of CSB's
    clock in those of the core's, and ``csb_phase`` how much later than in phase it rises for the first time.
    With several outstanding, a write is seen before the answer to a read that went out earlier.
    ``serve_interrupts`` False leaves interrupts to the program, which must poll for them; ``reset_cycle`` resets the
    DUT that many cycles after the program began, which then begins anew.
    ``poison_reads`` and ``stray_accesses`` say whether a read of never-written bytes and an access
    outside every allocation fail the scenario (``error``) or are only counted (``count``), and ``unmapped_accesses``
    the same of register accesses at addresses without a register.
    ``hang_cycles`` is how long nothing may move on CSB and the memory ports while work is
    outstanding, but for the bench's own service of interrupts; ``poll_deadline_cycles`` how long one poll
    may last, and ``continue_on_fail`` that the program goes on after a poll that lasted longer, which is a finding all
    the same. ``exact`` compares FP16 results with the bit-accurate models instead of the published thresholds.
    ``stop_at_first`` ends the scenario soon after the first wrong byte. ``saturated_reads`` and ``saturated_writes``
    name the ids, such as ``1 2 3``, of clients of the memory interface that always have requests: each turn must be as
    long as the weight says. ``limits_reached`` says that the last layer has as many requests as may be outstanding: so
    many must have been so at some time.
    """

    port: PortSettings = PortSettings()
    csb_stall: _Probability = 0.0
    csb_outstanding: Annotated[int, Meta(ge=1, le=MOST_CSB_OUTSTANDING)] = 1
    csb_period: Annotated[float, Meta(ge=_SHORTEST_PERIOD, le=_LONGEST_PERIOD)] = 1.0
    csb_phase: Annotated[float, Meta(ge=0.0, lt=_LONGEST_PERIOD)] = 0.0
    serve_interrupts: bool = True
    reset_cycle: _AtLeastOne | None = None
    poison_reads: _Severity = "error"
    stray_accesses: _Severity = "error"
    unmapped_accesses: _Severity = "error"
    hang_cycles: _AtLeastOne = 60_000
    poll_deadline_cycles: _AtLeastOne = 100_000
    continue_on_fail: bool = False
    exact: bool = False
    stop_at_first: bool = False
    saturated_reads: str = ""
    saturated_writes: str = ""
    limits_reached: bool = False

    def __post_init__(self) -> None:
        check_fields(self, SettingsError)
        _check_words("saturated_reads", self.saturated_reads, READ_IDS)
        _check_words("saturated_writes", self.saturated_writes, WRITE_IDS)

    @property
    def saturated(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Clients that always have reads, and those that always have writes."""
        reads, writes = (tuple(map(int, ids.split())) for ids in (self.saturated_reads, self.saturated_writes))
        return reads, writes

    def slower_cycles(self, cycles: int) -> int:
        """Return as many cycles of the core's clock as the slower clock takes for so many."""
        return math.ceil(cycles * max(1.0, self.csb_period))
