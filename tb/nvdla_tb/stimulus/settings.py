"""Settings of the bench: each has a name, a unit and a default."""

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
    """Behaviour of the slave of one memory port. All randomness comes from the seed.

    ::

        slow = PortSettings(latency_cycles=200, jitter_cycles=50, ready_stall=0.3)
        bench = await Bench.start(dut, settings=BenchSettings(port=slow))

    Stop AW and W for the first 40 of every 50 cycles::

        PortSettings(pause_cycles=40, pause_period_cycles=50, pause_channels="aw w")

    Args:
        latency_cycles: Latency of answers; None for the published latency of the configuration.
        jitter_cycles: Largest addition to the latency, drawn uniformly.
        ready_stall: Probability per cycle that AR, AW or W is not ready.
        valid_stall: Probability per cycle that a due R or B waits.
        reorder: Whether answers of different ids may overtake each other; within an id the order is kept.
        write_latency_cycles: Latency of write answers; None for that of reads.
        pause_cycles: Number of cycles at the start of every period in which channels stand still.
        pause_period_cycles: Length of that period; 0 for no pauses.
        pause_channels: Channels that pause, such as ``"aw w"``. Empty: each of the five at random.
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
    """Settings of the bench that a scenario or a test may choose.

    ::

        settings = BenchSettings(port=PortSettings(ready_stall=0.5), csb_stall=0.2, poison_reads="count")
        bench = await Bench.start(dut, settings=settings)

    Args:
        port: Behaviour of all memory ports.
        csb_stall: Probability per cycle that the CSB agent pauses before a request.
        csb_outstanding: Number of reads and non-posted writes that may wait for their answers at once, 1 to 3. With
            several, a write is seen before the answer to a read that went out earlier.
        csb_period: Period of CSB's clock, in periods of the core's clock.
        csb_phase: Delay of the first edge of CSB's clock, in periods of the core's clock.
        serve_interrupts: Whether the bench serves interrupts. Otherwise the program must poll, or a driver must wait.
        reset_cycle: Cycle of the program at which the DUT is reset and the program begins anew; None for no reset.
        poison_reads: ``"error"`` if a read of bytes that nobody has written is a finding, ``"count"`` to count it only.
        stray_accesses: The same for memory accesses outside every allocation.
        unmapped_accesses: The same for register accesses at addresses without a register.
        hang_cycles: Number of cycles in which nothing moves on CSB and the memory ports, while work is outstanding,
            that make a hang; twice the time for which running convolutions may be silent is added. The bench's own
            service of interrupts does not count as movement.
        poll_deadline_cycles: Longest duration of one poll.
        continue_on_fail: Whether the program goes on after a poll that lasted longer; it is a finding either way.
        exact: Whether FP16 results are compared with the bit-accurate models instead of by the published thresholds.
        stop_at_first: Whether the scenario ends soon after the first wrong byte.
        saturated_reads: Ids, such as ``"1 2 3"``, of clients of the memory interface that always have reads: each turn
            must be as long as its weight says.
        saturated_writes: The same for writes.
        limits_reached: Whether the last layer must reach the programmed limit of outstanding requests.
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
