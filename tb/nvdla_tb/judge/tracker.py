"""Starts of layers: the register files of both groups, rebuilt from CSB traffic alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from nvdla_models.config import HwConfig
from nvdla_tb.judge.layer_id import Started
from nvdla_tb.nvdla.engines import BDMA, CHAINS, chain_of, chosen_chain, done_unit_of
from nvdla_tb.nvdla.layers import BdmaLayer, ConvLayer, Layer, convolution_of
from nvdla_tb.nvdla.program.bdma import LAUNCHES, CopyQueue
from nvdla_tb.nvdla.program.codec import decode, uses_lut
from nvdla_tb.nvdla.program.conv_buffer import FETCHES_ALL, ConvBuffer, Fetch
from nvdla_tb.nvdla.program.ops import INTERRUPT_UNITS, done_bit, interrupt_of_unit, unit_of_interrupt
from nvdla_tb.nvdla.program.state import GROUPS, RegisterState
from nvdla_tb.nvdla.program.table import Refused, Words, value_of
from nvdla_tb.nvdla.registers import Register, RegisterMap

_ENABLE = "D_PERF_ENABLE"
_CDMA_PARTS = ("CDMA_DAT", "CDMA_WT")
"""CDMA is done when both of its interrupts have fired."""

_UP_TO_CACC = ("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
_UP_TO = {"CACC": _UP_TO_CACC, "SDP": ("SDP", "SDP_RDMA", *_UP_TO_CACC)}
"""Units that are done when a unit in the middle of a pipeline is: all before it."""

_FETCHES_NOTHING = (
    "SDP_RDMA.D_FEATURE_MODE_CFG.flying_mode",
    *(f"SDP_RDMA.D_{name.upper()}_CFG.{name}_disable" for name in ("brdma", "nrdma", "erdma")),
)
"""Fields that leave SDP_RDMA nothing to do when all are set: it is done as soon as it is enabled.

Source: measured on the public nv_small RTL.
"""


@dataclass(frozen=True)
class StartedLayer(Started[Layer]):
    """A layer that NVDLA will run next on its engine; a batch is one for each of its ``cubes``.

    ``groups`` are the register groups of its units, ``counting`` the statistics that are enabled for it, as
    ``UNIT.field`` of ``D_PERF_ENABLE``. ``fetch`` is what a convolution fetches.
    """

    groups: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    counting: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    fetch: Fetch = FETCHES_ALL


@dataclass
class _Running:
    """A layer or the cubes of a batch, the register groups that it still holds, and the done bits of parts seen."""

    started: tuple[StartedLayer, ...]
    held: dict[str, int]
    parts_done: set[str]


class LayerTracker:
    """Follows CSB writes and reads and yields every layer in the order the hardware runs them.

    Measured on the public nv_small RTL: a unit runs its groups strictly in turn; a group that is enabled
    out of turn stays pending until the other one has run. Each unit takes turns on its own: a layer starts
    when the next group of every unit that takes part is enabled, and ends with the last unit. Units that
    are done before it give their group back before it.
    """

    def __init__(self, config: HwConfig, buffer: ConvBuffer | None = None) -> None:
        """Start from the reset state of ``config``.

        Args:
            config: The configuration.
            buffer: The convolution buffer as earlier layers left it, to go on with; None for an empty one.
        """
        self.config = config
        self.state = RegisterState(RegisterMap.of(config))
        self.layers_seen = 0
        self.reset()
        if buffer is not None:
            self._buffer = buffer

    def reset(self) -> None:
        """Forget all registers and running layers, as a reset of the DUT does. Layer numbering continues."""
        self.state.reset()
        self._next_group = {unit: 0 for chain in CHAINS for unit in chain.units}
        self._running: dict[tuple[str, int], _Running] = {}
        self._queue = CopyQueue()
        self._copies: dict[int, list[StartedLayer]] = {}
        self._status_seen = 0
        self._buffer = ConvBuffer()

    @property
    def running(self) -> tuple[StartedLayer, ...]:
        """Layers that were started and whose end was not seen."""
        layers = (started for running in self._running.values() for started in running.started)
        return (*layers, *(started for group in self._copies.values() for started in group))

    def interrupts_of(self, started: StartedLayer) -> tuple[tuple[str, int], ...]:
        """Return the done interrupts, as (unit, group), that a running layer raises; those of a batch its last cube."""
        if isinstance(started.layer, BdmaLayer):
            return (("BDMA", started.group),) if started is self._copies[started.group][-1] else ()
        if started.cube < started.cubes - 1:
            return ()
        last = started.layer.unit
        held = self._running[last, started.group].held
        parts = (("SDP", "SDP"), ("CACC", "CACC"), *((part, "CDMA") for part in _CDMA_PARTS))
        return (
            (interrupt_of_unit(last), started.group),
            *((interrupt, held[unit]) for interrupt, unit in parts if unit in held and unit != last),
        )

    def write(self, register: Register, value: int) -> Iterator[StartedLayer]:
        """Follow one CSB write.

        Yields:
            The layers that this write lets the hardware run, in their order.

        Raises:
            Refused: when such a layer is illegal or not modelled.
        """
        if not register.is_mapped:
            return
        if register.full_name == "GLB.S_INTR_STATUS":
            self._status_seen &= ~value
            return
        if register.full_name == "GLB.S_INTR_SET":
            # A bit that software raised says nothing about a layer.
            self._status_seen |= value
        self._check_lut_is_idle(register)
        group = self.state.write(register, value)
        if register.unit == "BDMA" and value & 1:
            yield from self._copy(register.name)
        if group is None:
            return
        yield from self._start(done_unit_of(register.unit))

    def read(self, register: Register, value: int) -> list[StartedLayer]:
        """Follow one CSB read: done bits in GLB and idle states end layers.

        Returns:
            The layers that ended.
        """
        self.state.see_read(register)
        ended: list[StartedLayer] = []
        if register.full_name == "GLB.S_INTR_STATUS":
            fresh = value & ~self._status_seen
            self._status_seen |= value
            for unit in INTERRUPT_UNITS:
                for group in range(GROUPS):
                    if fresh >> done_bit(unit, group) & 1:
                        ended += self.finish(unit, group)
        elif register.name == "S_STATUS":
            for group in range(GROUPS):
                if register.field(f"status_{group}").extract(value) == 0:
                    ended += self.finish(register.unit, group)
        elif register.full_name == "BDMA.STATUS":
            for group in range(GROUPS):
                if register.field(f"grp{group}_busy").extract(value) == 0:
                    ended += self.finish("BDMA", group)
        return ended

    def finish(self, unit: str, group: int) -> list[StartedLayer]:
        """Note that a register group of a unit, or of what raises an interrupt, is done.

        Returns:
            What ended, if a layer was running there and the unit is its last.
        """
        if unit == "BDMA":
            return self._copies.pop(group, [])
        running = self._running.pop((unit_of_interrupt(unit), group), None)
        if running is not None:
            self._give_back(running, tuple(running.held))
            return list(running.started)
        for running in self._running.values():
            if unit in _CDMA_PARTS and running.held.get("CDMA") == group:
                running.parts_done.add(unit)
                if running.parts_done == set(_CDMA_PARTS):
                    self._give_back(running, ("CDMA",))
            elif running.held.get(unit) == group:
                self._give_back(running, _UP_TO.get(unit, (unit,)))
        return []

    def finish_all(self) -> list[StartedLayer]:
        """Note that everything that runs is done, and return what ended."""
        return [ended for started in self.running for ended in self.finish(started.layer.unit, started.group)]

    def _give_back(self, running: _Running, units: tuple[str, ...]) -> None:
        for unit in units:
            group = running.held.pop(unit, None)
            if group is not None:
                self.state.finish(unit, group)

    def _check_lut_is_idle(self, register: Register) -> None:
        """Refuse to touch lookup tables in use: which elements would see the change depends on timing.

        Source: LUT programming, "LUT storage programming": only while the sub-unit is idle.
        """
        if register.name.startswith("S_LUT_"):
            for running in self._running.values():
                started = running.started[0]
                used = uses_lut(started.layer) and chain_of(started.layer).lut_unit == register.unit
                if register.unit in running.held and used:
                    raise Refused(f"{register.full_name} must not be written while {started.name} uses the tables")

    def _copy(self, register: str) -> Iterator[StartedLayer]:
        """Follow what enables a copy of BDMA, or launches the copies of a group."""
        if register == "CFG_OP":
            layer = decode(BDMA.chains[0], {"BDMA": self.state.words("BDMA", 0)}, self.config)
            assert isinstance(layer, BdmaLayer)
            self._queue.enable(layer, len(self._copies))
        elif register in LAUNCHES:
            group = LAUNCHES.index(register)
            layers = self._queue.launch(group, busy=group in self._copies)
            started = [StartedLayer(self.layers_seen + n, "BDMA", group, layer) for n, layer in enumerate(layers)]
            self._copies[group] = started
            self.layers_seen += len(started)
            yield from started

    def _start(self, unit: str) -> Iterator[StartedLayer]:
        while self._waits(unit):
            chain = chosen_chain(unit, self._next_words, self.state.registers)
            if chain is None or not all(self._waits(part) for part in chain.units):
                return
            groups = {part: self._next_group[part] for part in chain.units}
            words = {part: self._next_words(part) for part in chain.units}
            decoded = decode(chain, words, self.config, self.state.lut(chain.lut_unit))
            layers = decoded.cubes if isinstance(decoded, ConvLayer) else (decoded,)
            group, counting = groups[chain.done_unit], self._counting(words)
            started = tuple(
                StartedLayer(
                    self.layers_seen + n, chain.name, group, layer, n, len(layers), groups=groups, counting=counting
                )
                for n, layer in enumerate(layers)
            )
            convolution = convolution_of(decoded)
            if convolution is not None:
                fetch = self._buffer.begin(started[0].name, convolution)
                started = tuple(replace(each, fetch=fetch) for each in started)
            self._running[chain.done_unit, group] = _Running(started, dict(groups), set())
            self._next_group |= {part: 1 - number for part, number in groups.items()}
            if "CDMA" in chain.units and "SDP_RDMA" not in chain.units:
                self._pass_idle_rdma()
            self.layers_seen += len(started)
            yield from started
            # A layer that was enabled before this one on another of its units may be next there.
            for other in dict.fromkeys(done_unit_of(part) for part in chain.units):
                if other != unit:
                    yield from self._start(other)

    def _counting(self, words: Words) -> frozenset[str]:
        """Return the statistics that are enabled, as ``UNIT.field``."""
        return frozenset(
            f"{unit}.{flag.name}"
            for unit in words
            if _ENABLE in words[unit]
            for flag in self.state.registers.register(unit, _ENABLE).fields
            if flag.extract(words[unit][_ENABLE])
        )

    def _next_words(self, unit: str) -> Mapping[str, int]:
        return self.state.words(unit, self._next_group[unit])

    def _waits(self, unit: str) -> bool:
        """Return whether the next group of a unit is enabled and no layer holds it."""
        group = self._next_group[unit]
        held = any(running.held.get(unit) == group for running in self._running.values())
        return self.state.enabled(unit, group) and not held

    def _pass_idle_rdma(self) -> None:
        """Let SDP_RDMA pass when it is enabled for a layer that needs nothing from it."""
        group, registers = self._next_group["SDP_RDMA"], self.state.registers
        if self._waits("SDP_RDMA") and all(value_of(name, self._next_words, registers) for name in _FETCHES_NOTHING):
            self.state.finish("SDP_RDMA", group)
            self._next_group["SDP_RDMA"] = 1 - group
