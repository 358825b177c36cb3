"""How the bench behaves around the DUT: every knob has a name, a unit and a stated default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import NoneType
from typing import Any, get_args, get_type_hints

from nvdla_models.errors import InputError

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


class SettingsError(InputError):
    """An unknown setting or a value outside its range."""


@dataclass(frozen=True)
class PortSettings:
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

    latency_cycles: int | None = None
    jitter_cycles: int = 0
    ready_stall: float = 0.0
    valid_stall: float = 0.0
    reorder: bool = False
    write_latency_cycles: int | None = None
    pause_cycles: int = 0
    pause_period_cycles: int = 0
    pause_channels: str = ""

    def __post_init__(self) -> None:
        _check_types(self)
        for name in ("latency_cycles", "jitter_cycles", "write_latency_cycles", "pause_period_cycles"):
            value = getattr(self, name)
            _require(value is None or 0 <= value <= 65535, name, "0 to 65535", value)
        for name in ("ready_stall", "valid_stall"):
            _require_probability(self, name)
        paused, period = self.pause_cycles, self.pause_period_cycles
        rule = f"at least 0 and below pause_period_cycles ({period})"
        _require(0 <= paused <= max(period - 1, 0), "pause_cycles", rule, paused)
        _require_words(self, "pause_channels", CHANNELS)

    @property
    def pauses(self) -> tuple[str, ...]:
        """Channels that stand still in every period."""
        return tuple(channel for channel in CHANNELS if channel in self.pause_channels.split())


@dataclass(frozen=True)
class BenchSettings:
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

    port: PortSettings = field(default_factory=PortSettings)
    csb_stall: float = 0.0
    csb_outstanding: int = 1
    csb_period: float = 1.0
    csb_phase: float = 0.0
    serve_interrupts: bool = True
    reset_cycle: int | None = None
    poison_reads: str = "error"
    stray_accesses: str = "error"
    unmapped_accesses: str = "error"
    hang_cycles: int = 60_000
    poll_deadline_cycles: int = 100_000
    continue_on_fail: bool = False
    exact: bool = False
    stop_at_first: bool = False
    saturated_reads: str = ""
    saturated_writes: str = ""
    limits_reached: bool = False

    def __post_init__(self) -> None:
        _check_types(self)
        for name in ("poison_reads", "stray_accesses", "unmapped_accesses"):
            value = getattr(self, name)
            _require(value in ("error", "count"), name, "error or count", value)
        _require_probability(self, "csb_stall")
        most, shortest, longest = MOST_CSB_OUTSTANDING, _SHORTEST_PERIOD, _LONGEST_PERIOD
        _require(1 <= self.csb_outstanding <= most, "csb_outstanding", f"1 to {most}", self.csb_outstanding)
        _require(shortest <= self.csb_period <= longest, "csb_period", f"{shortest} to {longest}", self.csb_period)
        _require(0.0 <= self.csb_phase < longest, "csb_phase", f"at least 0 and below {longest}", self.csb_phase)
        _require_words(self, "saturated_reads", READ_IDS)
        _require_words(self, "saturated_writes", WRITE_IDS)
        for name in ("hang_cycles", "poll_deadline_cycles", "reset_cycle"):
            value = getattr(self, name)
            _require(value is None or value >= 1, name, "at least 1", value)

    @property
    def saturated(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Clients that always have reads, and those that always have writes."""
        reads, writes = (tuple(map(int, ids.split())) for ids in (self.saturated_reads, self.saturated_writes))
        return reads, writes

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data, for files."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BenchSettings:
        """Build settings from plain data; what is left out keeps its default.

        Raises:
            SettingsError: for an unknown key or a bad value.
        """
        values = dict(data)
        port = values.pop("port", {})
        _refuse_unknown("settings.port", port, PortSettings)
        _refuse_unknown("settings", values, cls)
        return replace(cls(port=PortSettings(**port)), **values)


def _require(holds: bool, name: str, rule: str, value: object) -> None:
    if not holds:
        raise SettingsError(f"{name} must be {rule}, not {value}")


def _require_probability(settings: PortSettings | BenchSettings, name: str) -> None:
    value = getattr(settings, name)
    _require(0.0 <= value < 1.0, name, "a probability below 1", value)


def _require_words(settings: PortSettings | BenchSettings, name: str, allowed: tuple[str, ...]) -> None:
    for word in getattr(settings, name).split():
        _require(word in allowed, name, f"of {', '.join(allowed)}", word)


def _check_types(settings: PortSettings | BenchSettings) -> None:
    """Refuse a value of another type: files hold whatever their writer put there, and "no" is true."""
    for name, allowed in get_type_hints(type(settings)).items():
        value = getattr(settings, name)
        kinds = get_args(allowed) or ((int, float) if allowed is float else (allowed,))
        if type(value) not in kinds:
            wanted = " or ".join("none" if kind is NoneType else kind.__name__ for kind in kinds)
            raise SettingsError(f"{name} must be {wanted}, not {value!r}")


def _refuse_unknown(where: str, data: Any, kind: type) -> None:
    if not isinstance(data, Mapping):
        raise SettingsError(f"{where} must be a table of keys, not {data!r}")
    allowed = [f.name for f in fields(kind)]
    for key in data:
        if key not in allowed:
            raise SettingsError(f"{where} has no key {key}; allowed: {', '.join(allowed)}")
