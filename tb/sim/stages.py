"""Watches hand-overs inside the RTL, named by a file: see ``tb.explain.stages``."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import RisingEdge

from tb.explain.stages import Handover, Stage, StageError
from tb.sim.clocking import HIGH, cycle


class StageWatch:
    """Records every beat of some stages."""

    def __init__(self, dut: SimHandleBase, clock: SimHandleBase, stages: Sequence[Stage]) -> None:
        """Find the signals.

        Raises:
            StageError: when one does not exist, or is not visible.
        """
        self.stages = tuple(stages)
        self.seen: dict[str, list[Handover]] = {stage.name: [] for stage in stages}
        self._clock = clock
        self._signals = {stage.name: _Signals.of(dut, stage) for stage in stages}

    def start(self) -> None:
        """Start to watch."""
        for stage in self.stages:
            cocotb.start_soon(self._watch(stage))

    async def _watch(self, stage: Stage) -> None:
        signals, seen, edge = self._signals[stage.name], self.seen[stage.name], RisingEdge(self._clock)
        valid, ready, address = signals.valid, signals.ready, signals.address
        due: deque[int] = deque()
        while True:
            await edge
            if valid.value == HIGH and (ready is None or ready.value == HIGH):
                due.append(cycle() + stage.delay)
            if due and due[0] == cycle():
                at = None if address is None else int(address.value)
                data, unknown = signals.word()
                seen.append(Handover(due.popleft(), data, at, unknown))


@dataclass(frozen=True)
class _Signals:
    """The signals of a stage."""

    valid: SimHandleBase
    ready: SimHandleBase | None
    data: tuple[SimHandleBase, ...]
    mask: tuple[SimHandleBase, ...]
    element_bits: int
    address: SimHandleBase | None

    @classmethod
    def of(cls, dut: SimHandleBase, stage: Stage) -> _Signals:
        ready, address = (None if path is None else _signal(dut, stage, path) for path in (stage.ready, stage.address))
        data, mask = (tuple(_signal(dut, stage, path) for path in paths) for paths in (stage.data, stage.mask))
        return cls(_signal(dut, stage, stage.valid), ready, data, mask, stage.element_bits, address)

    def word(self) -> tuple[bytes, bytes]:
        """Return the data of this cycle, bit 0 first, and which bits are neither 0 nor 1; empty for none."""
        bits = _bits(self.data)
        if self.mask:
            # Bit 0 of both is the last character.
            parts = (bits[end - self.element_bits : end] for end in range(len(bits), 0, -self.element_bits))
            empty = "0" * self.element_bits
            kept = [
                part if there == "1" else empty for part, there in zip(parts, reversed(_bits(self.mask)), strict=True)
            ]
            bits = "".join(reversed(kept))
        nbytes = -(-len(bits) // 8)
        if _KNOWN.issuperset(bits):
            return int(bits, 2).to_bytes(nbytes, "little"), b""
        known = "".join(bit if bit in _KNOWN else "0" for bit in bits)
        unknown = "".join("0" if bit in _KNOWN else "1" for bit in bits)
        return int(known, 2).to_bytes(nbytes, "little"), int(unknown, 2).to_bytes(nbytes, "little")


_KNOWN = frozenset("01")


def _bits(signals: tuple[SimHandleBase, ...]) -> str:
    """Return the bits of signals, those of the first one last."""
    return "".join(str(signal.value) for signal in reversed(signals))


def _signal(dut: SimHandleBase, stage: Stage, path: str) -> SimHandleBase:
    handle = dut
    for name in ("dut", *path.split(".")):
        if not hasattr(handle, name):
            raise StageError(f"{stage.name}: the RTL must have {path}, visible in a model built with --debug")
        handle = getattr(handle, name)
    return handle
