"""Which layer starts when: the register files of both groups, rebuilt from CSB traffic alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from models.config import HwConfig
from tb.layers import Layer
from tb.program.codec import ENGINES, UNMODELLED_UNITS, Engine, decode, engine_of_unit, uses_lut
from tb.program.ops import INTERRUPT_UNITS, InterruptNotify, Program, RegWrite
from tb.program.state import GROUPS, RegisterState
from tb.program.table import Refused
from tb.registers import Register, RegisterError, RegisterMap

_LAUNCHES = ("BDMA.CFG_LAUNCH0", "BDMA.CFG_LAUNCH1")
"""What starts BDMA, which has no OP_ENABLE."""


@dataclass(frozen=True)
class StartedLayer:
    """A layer that the hardware will run next on its engine; ``index`` counts all layers from 0."""

    index: int
    engine: str
    group: int
    layer: Layer

    @property
    def name(self) -> str:
        """What messages call the layer."""
        return f"layer {self.index} ({self.engine}, group {self.group})"


class LayerTracker:
    """Follows CSB writes and reads and yields every layer in the order the hardware runs them.

    Measured on the public nv_small RTL: an engine runs its groups strictly in turn; a group that is
    enabled out of turn stays pending until the other one has run.
    """

    def __init__(self, config: HwConfig) -> None:
        """Start from the reset state of ``config``."""
        self.config = config
        self.state = RegisterState(RegisterMap.of(config))
        self._count = 0
        self.reset()

    def reset(self) -> None:
        """Forget all registers and running layers, as a reset of the DUT does; layers are counted on."""
        self.state.reset()
        self._next_group = {engine.name: 0 for engine in ENGINES}
        self._running: dict[tuple[str, int], StartedLayer] = {}
        self._status_seen = 0

    @property
    def layers_seen(self) -> int:
        """How many layers were started."""
        return self._count

    @property
    def running(self) -> tuple[StartedLayer, ...]:
        """Layers that were started and whose end was not seen."""
        return tuple(self._running.values())

    def write(self, register: Register, value: int) -> Iterator[StartedLayer]:
        """Follow one CSB write.

        Args:
            register: The register written.
            value: The word written.

        Yields:
            The layers that this write lets the hardware run, in their order.

        Raises:
            Refused: when such a layer is illegal or not modelled.
        """
        if register.full_name == "GLB.S_INTR_STATUS":
            self._status_seen &= ~value
            return
        if register.full_name == "GLB.S_INTR_SET":
            # A bit that software raised says nothing about a layer.
            self._status_seen |= value
        if register.full_name in _LAUNCHES and value & 1:
            raise Refused(f"{register.full_name}.{register.fields[0].name} must stay NO: BDMA is not modelled")
        self._check_lut_is_idle(register)
        group = self.state.write(register, value)
        if group is None:
            return
        if register.unit in UNMODELLED_UNITS:
            raise Refused(f"{register.full_name}.op_en must stay DISABLE: {register.unit} is not modelled")
        yield from self._start(engine_of_unit(register.unit))

    def read(self, register: Register, value: int) -> list[StartedLayer]:
        """Follow one CSB read: done bits in GLB and idle states end layers.

        Args:
            register: The register read.
            value: The word returned.

        Returns:
            The layers that ended.
        """
        ended: list[StartedLayer] = []
        if register.full_name == "GLB.S_INTR_STATUS":
            fresh = value & ~self._status_seen
            self._status_seen |= value
            for engine in ENGINES:
                for group in range(GROUPS):
                    if fresh >> done_bit(engine.name, group) & 1:
                        ended += self.finish(engine.name, group)
        elif register.name == "S_STATUS":
            for engine in ENGINES:
                if engine.name == register.unit:
                    for group in range(GROUPS):
                        if register.field(f"status_{group}").extract(value) == 0:
                            ended += self.finish(engine.name, group)
        return ended

    def finish(self, engine_name: str, group: int) -> list[StartedLayer]:
        """Note that an engine's group is done; returns the layer that ended, if one was running."""
        layer = self._running.pop((engine_name, group), None)
        if layer is None:
            return []
        for unit in next(e.units for e in ENGINES if e.name == engine_name):
            self.state.finish(unit, group)
        return [layer]

    def _check_lut_is_idle(self, register: Register) -> None:
        """Refuse to touch lookup tables in use: which elements would see the change depends on timing.

        Source: LUT programming, "LUT storage programming": only while the sub-unit is idle.
        """
        if register.name.startswith("S_LUT_"):
            for started in self._running.values():
                if started.engine == register.unit and uses_lut(started.layer):
                    raise Refused(f"{register.full_name} must not be written while {started.name} uses the tables")

    def _start(self, engine: Engine) -> Iterator[StartedLayer]:
        while True:
            group = self._next_group[engine.name]
            enabled = all(self.state.enabled(unit, group) for unit in engine.units)
            if not enabled or (engine.name, group) in self._running:
                return
            words = {unit: self.state.words(unit, group) for unit in engine.units}
            decoded = decode(engine, words, self.config, self.state.lut(engine.name))
            layer = StartedLayer(self._count, engine.name, group, decoded)
            self._running[engine.name, group] = layer
            self._next_group[engine.name] = 1 - group
            self._count += 1
            yield layer


def done_bit(unit: str, group: int) -> int:
    """Return the bit of a unit's done interrupt in GLB's mask, set and status registers.

    Raises:
        ValueError: for a unit without a done interrupt, or a group that does not exist.
    """
    if unit not in INTERRUPT_UNITS:
        raise ValueError(f"interrupt unit must be one of {', '.join(INTERRUPT_UNITS)}, not {unit}")
    if group not in range(GROUPS):
        raise ValueError(f"group must be 0 or 1, not {group}")
    at = INTERRUPT_UNITS.index(unit)
    return (2 * at if at < 5 else 16 + 2 * (at - 5)) + group


def refusal(ops: Program, config: HwConfig) -> str | None:
    """Say why a program cannot be judged on a configuration, without playing it.

    Args:
        ops: The program.
        config: The configuration.

    Returns:
        The reason with register, field and rule, or None when every layer is predicted. A register
        that the configuration lacks is such a reason.
    """
    tracker = LayerTracker(config)
    try:
        for op in ops:
            if isinstance(op, RegWrite):
                list(tracker.write(tracker.state.registers.parse(op.register), op.value))
            elif isinstance(op, InterruptNotify):
                tracker.finish(op.unit, op.group)
    except (Refused, RegisterError) as error:
        return str(error)
    return None
