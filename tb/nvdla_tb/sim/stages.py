"""Watches hand-overs inside the RTL, named by a file: see ``nvdla_tb.explain.handovers``."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

import cocotb
from cocotb.handle import PackedObject, SimHandleBase
from cocotb.triggers import RisingEdge

from nvdla_tb.explain.handovers import HandoverFile
from nvdla_tb.explain.tap import Handover, StageError, Tap, Tapped, check_widths
from nvdla_tb.sim.clocking import HIGH, cycle
from nvdla_tb.sim.read_back import Misheld


class StageWatch:
    """Records every beat at some taps.

    Attributes:
        handovers: The file that names them.
        is_started: Whether it watches.
        misheld: Registers that held what nobody wrote, when they were read back.
    """

    def __init__(self, dut: SimHandleBase, clock: SimHandleBase, handovers: HandoverFile) -> None:
        """Find the signals.

        Raises:
            StageError: when one does not exist, is not visible, or has another width than the memory port asks for.
        """
        self.handovers = handovers
        self.is_started = False
        self.misheld: Sequence[Misheld] = ()
        self._dut, self._clock = dut, clock
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

    def signals_of(self, tap: Tap) -> list[str]:
        """Return the signals of a tap as wave files name them: paths below the top, of vectors with their range."""
        return list(dict.fromkeys(self._in_waves(tap, _parts(path)[0]) for path in tap.paths))

    def _in_waves(self, tap: Tap, path: str) -> str:
        handle = _signal(self._dut, tap, path)
        name = ".".join(_scopes(tap, path))
        is_vector = isinstance(handle, PackedObject)
        return f"{name}[{handle.range.left}:{handle.range.right}]" if is_vector else name

    def start(self) -> None:
        """Start to watch."""
        self.is_started = True
        for tap in self.handovers.taps:
            cocotb.start_soon(self._watch(tap))

    async def _watch(self, tap: Tap) -> None:
        """Record the beats of a tap at every edge of the clock, and sleep while none is taken or due."""
        signals, beats, edge = self._signals[tap.name], self._beats[tap.name], RisingEdge(self._clock)
        valid, ready, address = signals.valid, signals.ready, signals.address
        wake, taken = RisingEdge(valid), None if ready is None else RisingEdge(ready)
        due: deque[tuple[int, tuple[int | None, ...]]] = deque()
        while True:
            await edge
            is_valid = valid.value == HIGH
            if is_valid and (ready is None or ready.value == HIGH):
                due.append((cycle() + tap.delay, signals.beside()))
            if due and due[0][0] == cycle():
                at = None if address is None else int(address.value)
                data, unknown = signals.word()
                beats.append(Handover(cycle(), data, at, unknown, due.popleft()[1]))
            if not is_valid and not due:
                await wake
            elif taken is not None and not due and ready is not None and ready.value != HIGH:
                # A beat that is not taken may wait to the end of a hang.
                await taken


class _Signals:
    """The signals of a tap."""

    def __init__(self, dut: SimHandleBase, tap: Tap) -> None:
        self.valid = _signal(dut, tap, tap.valid)
        self.ready = None if tap.ready is None else _signal(dut, tap, tap.ready)
        self.address = None if tap.address is None else _signal(dut, tap, tap.address)
        self.data, self.mask, self.sides = (
            [_Bits(dut, tap, path) for path in paths] for paths in (tap.data, tap.mask, tap.sides.values())
        )
        self.element_bits = tap.element_bits

    @property
    def bits(self) -> tuple[int, ...]:
        """Of each data signal."""
        return tuple(signal.count for signal in self.data)

    @property
    def is_offered(self) -> bool:
        """Whether a beat is valid now and not taken."""
        return bool(self.ready is not None and self.valid.value == HIGH and self.ready.value != HIGH)

    def beside(self) -> tuple[int | None, ...]:
        """Return the numbers beside the data in this cycle; None for one with unknown bits."""
        return tuple(
            int(bits, 2) if _KNOWN.issuperset(bits) else None for bits in (str(signal) for signal in self.sides)
        )

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


class _Bits:
    """All bits of a signal, or those that its path names."""

    def __init__(self, dut: SimHandleBase, tap: Tap, path: str) -> None:
        plain, high, low = _parts(path)
        self._signal = _signal(dut, tap, plain)
        total = len(self._signal)
        first = 0 if high is None else int(low or high)
        last = total - 1 if high is None else int(high)
        tap.must(first <= last < total, f"{path} must name bits of {plain}, which has {total}")
        self.count = last - first + 1
        self._slice = slice(total - 1 - last, total - first)

    def __str__(self) -> str:
        """Return the bits of this cycle, bit 0 last."""
        return str(self._signal.value)[self._slice]


_PATH = re.compile(r"(.*?)(?:\[(\d+)(?::(\d+))?\])?")


def _parts(path: str) -> tuple[str, str | None, str | None]:
    """Return a path without bits, and the bits that it names."""
    found = _PATH.fullmatch(path)
    assert found is not None, path
    return found[1], found[2], found[3]


def _bits(signals: Sequence[_Bits]) -> str:
    """Return the bits of signals, those of the first one last."""
    return "".join(map(str, reversed(signals)))


def _signal(dut: SimHandleBase, tap: Tap, path: str) -> SimHandleBase:
    handle = dut
    for name in _scopes(tap, path):
        if not hasattr(handle, name):
            raise StageError(f"{tap.name}: the RTL must have {path}, visible in a model built with --debug")
        handle = getattr(handle, name)
    return handle


def _scopes(tap: Tap, path: str) -> tuple[str, ...]:
    """Return a path as names below the top."""
    return (path,) if tap.is_pin else ("dut", *path.split("."))
