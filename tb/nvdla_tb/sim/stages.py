"""Watches hand-overs inside the RTL, named by a file: see ``nvdla_tb.explain.handovers``."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import RisingEdge

from nvdla_tb.explain.handovers import HandoverFile
from nvdla_tb.explain.tap import Handover, StageError, Tap, Tapped, check_widths
from nvdla_tb.sim.clocking import HIGH, cycle


class StageWatch:
    """Records every beat at some taps."""

    def __init__(self, dut: SimHandleBase, clock: SimHandleBase, handovers: HandoverFile) -> None:
        """Find the signals.

        Raises:
            StageError: when one does not exist, is not visible, or has another width than the memory port asks for.
        """
        self.handovers = handovers
        self.is_started = False
        self._clock = clock
        self._signals = {tap.name: _Signals(dut, tap) for tap in handovers.taps}
        bits = {name: signals.bits for name, signals in self._signals.items()}
        check_widths(handovers.readers, handovers.writers, bits)
        self._beats: dict[str, list[Handover]] = {name: [] for name in self._signals}

    @property
    def seen(self) -> dict[str, Tapped]:
        """What was seen until now, by the names of the taps."""
        return {
            name: Tapped(self._beats[name], signals.bits, signals.is_offered) for name, signals in self._signals.items()
        }

    def start(self) -> None:
        """Start to watch."""
        self.is_started = True
        for tap in self.handovers.taps:
            cocotb.start_soon(self._watch(tap))

    async def _watch(self, tap: Tap) -> None:
        """Record the beats of a tap at every edge of the clock, and sleep while none is valid or due."""
        signals, beats, edge = self._signals[tap.name], self._beats[tap.name], RisingEdge(self._clock)
        valid, ready, address = signals.valid, signals.ready, signals.address
        wake = RisingEdge(valid)
        due: deque[int] = deque()
        while True:
            await edge
            is_valid = valid.value == HIGH
            if is_valid and (ready is None or ready.value == HIGH):
                due.append(cycle() + tap.delay)
            if due and due[0] == cycle():
                at = None if address is None else int(address.value)
                data, unknown = signals.word()
                beats.append(Handover(due.popleft(), data, at, unknown))
            if not is_valid and not due:
                await wake


class _Signals:
    """The signals of a tap."""

    def __init__(self, dut: SimHandleBase, tap: Tap) -> None:
        self.valid = _signal(dut, tap, tap.valid)
        self.ready = None if tap.ready is None else _signal(dut, tap, tap.ready)
        self.address = None if tap.address is None else _signal(dut, tap, tap.address)
        self.data, self.mask = ([_signal(dut, tap, path) for path in paths] for paths in (tap.data, tap.mask))
        self.element_bits = tap.element_bits

    @property
    def bits(self) -> tuple[int, ...]:
        """Of each data signal."""
        return tuple(map(len, self.data))

    @property
    def is_offered(self) -> bool:
        """Whether a beat is valid now and not taken."""
        return bool(self.ready is not None and self.valid.value == HIGH and self.ready.value != HIGH)

    def word(self) -> tuple[bytes, bytes]:
        """Return the data of this cycle, bit 0 first, and which bits are neither 0 nor 1; empty for none."""
        bits = _bits(self.data)
        if not bits:
            return b"", b""
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


def _bits(signals: Sequence[SimHandleBase]) -> str:
    """Return the bits of signals, those of the first one last."""
    return "".join(str(signal.value) for signal in reversed(signals))


def _signal(dut: SimHandleBase, tap: Tap, path: str) -> SimHandleBase:
    handle = dut
    for name in (path,) if tap.is_pin else ("dut", *path.split(".")):
        if not hasattr(handle, name):
            raise StageError(f"{tap.name}: the RTL must have {path}, visible in a model built with --debug")
        handle = getattr(handle, name)
    return handle
