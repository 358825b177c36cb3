"""Where a hand-over inside the RTL is watched, and a beat that was seen there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.errors import InputError

MOST_BITS = 64
MOST_DELAY = 1000


class StageError(InputError):
    """A file of hand-overs, or one of these, that cannot be used; the message names it and the rule."""


@dataclass(frozen=True, kw_only=True)
class Tap:
    """Signals of a hand-over, as paths from the RTL's top.

    Attributes:
        name: What it is called.
        valid: Signal that is 1 for a beat.
        ready: Signal that is 1 when a beat is taken; None when every valid one is.
        data: Signals, from bit 0 up.
        mask: Signals with a bit an element, 0 for one that counts as 0; empty for none.
        element_bits: Bits of an element.
        address: Signal of where it is written, None for what is not written.
        delay: Cycles by which the data come after valid.
        is_pin: Whether the signals are pins of the device, by their canonical names.
    """

    name: str
    valid: str
    ready: str | None = None
    data: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    element_bits: int = 8
    address: str | None = None
    delay: int = 0
    is_pin: bool = False

    def __post_init__(self) -> None:
        """Check the ranges."""
        if not 0 <= self.delay <= MOST_DELAY:
            raise StageError(f"{self.name}: delay must be 0 to {MOST_DELAY} cycles, not {self.delay}")
        if not 1 <= self.element_bits <= MOST_BITS:
            raise StageError(f"{self.name}: element_bits must be 1 to {MOST_BITS}, not {self.element_bits}")


@dataclass(frozen=True)
class Handover:
    """One beat.

    Attributes:
        cycle: cycle of the handshake.
        data: as bytes, bit 0 first.
        address: where it is written, None for what is not written.
        unknown: which bits are neither 0 nor 1, as bytes; empty for none.
    """

    cycle: int
    data: bytes
    address: int | None = None
    unknown: bytes = b""


@dataclass(frozen=True)
class Tapped:
    """What was seen at a tap.

    Attributes:
        beats: In the order of their handshakes.
        bits: Of each data signal.
        is_offered: Whether a beat is offered and not taken at the end.
    """

    beats: Sequence[Handover] = ()
    bits: tuple[int, ...] = ()
    is_offered: bool = False
