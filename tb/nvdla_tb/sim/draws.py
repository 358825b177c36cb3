"""Seeded random numbers per purpose and cycle, the same in the agents and in the compiled harness.

A number depends on seed, stream and cycle alone, so that it does not matter which agent draws first.
"""

from __future__ import annotations

from enum import IntEnum

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


class Stream(IntEnum):
    """The purpose of a random number; values as in the harness."""

    CSB_STALL = 0
    READ_JITTER = 1
    WRITE_JITTER = 2
    READ_CHOICE = 3
    WRITE_CHOICE = 4
    READ_STALL = 5
    WRITE_STALL = 6
    AR = 7
    AW = 8
    W = 9
    PAUSE = 10


class Draws:
    """The sequences that follow from one seed."""

    def __init__(self, seed: int) -> None:
        """Derive a key per stream; the seed is taken modulo 2**64."""
        self._keys = [_mix((seed * _STEP + stream + 1) & _MASK) for stream in Stream]

    def below(self, stream: Stream, cycle: int, limit: int) -> int:
        """Return a number from 0 to ``limit - 1``, for limits below 2**32."""
        return (self._draw(stream, cycle) >> 32) * limit >> 32

    def chance(self, stream: Stream, cycle: int, probability: float) -> bool:
        """Return True with a probability."""
        return (self._draw(stream, cycle) >> 11) * 2.0**-53 < probability

    def _draw(self, stream: Stream, cycle: int) -> int:
        return _mix((self._keys[stream] + cycle * _STEP) & _MASK)


def _mix(value: int) -> int:
    """Scatter 64 bits. Source: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return value ^ value >> 31
