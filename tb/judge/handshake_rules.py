"""The rules between the host of the Deep Learning HDL processor and its core, which registers and memory show.

Source: ``docs/dlhdl-standin.md``, "Modes"; the public pages about the handshake name the signals, not the rules.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class HandshakeRule(IntEnum):
    """A rule by its number, and its ``text``."""

    text: str

    def __new__(cls, number: int, text: str) -> Self:
        """Return the rule of a number, with its words."""
        rule = int.__new__(cls, number)
        rule._value_, rule.text = number, text
        return rule

    INPUT_STAYS = 0, "InputAddr and InputSize must stay while InputValid is 1"
    INPUT_ADDRESS = 1, "InputAddr must be that of the next slot"
    INPUT_SIZE = 2, "InputSize must be that of a frame in bytes"
    INPUT_BEYOND = 3, "no frame must be asked for after the last one"
    READ_EARLY = 4, "a slot must not be read before InputNext says that its frame is there"
    OUTPUT_STAYS = 5, "OutputAddr and OutputSize must stay while OutputValid is 1"
    OUTPUT_ADDRESS = 6, "OutputAddr must be that of the next result"
    OUTPUT_SIZE = 7, "OutputSize must be that of a result in bytes"
    OUTPUT_EARLY = 8, "OutputValid must not rise before the result is whole in memory"
    OVERWRITTEN = 9, "a result must not be overwritten before OutputNext says that it was read"
    OUTPUT_UNASKED = 10, "no result must be offered of a frame that was not given"
    DONE_EARLY = 11, "done must not rise before the last result is whole in memory"
    STREAMING_DONE_EARLY = 12, "StreamingDone must not rise before the last OutputNext"
    HELD = 13, "memory must rest while IPCore_Enable is 0"
