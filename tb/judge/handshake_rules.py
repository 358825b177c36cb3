"""The rules between the host of the Deep Learning HDL processor and its core, which registers and memory show.

Source: ``docs/dlhdl-standin.md``, "Modes"; the public pages about the handshake name the signals, not the rules.
"""

from __future__ import annotations

from enum import IntEnum

HANDSHAKE_RULES = (
    "InputAddr and InputSize must stay while InputValid is 1",
    "InputAddr must be that of the next slot",
    "InputSize must be that of a frame in bytes",
    "no frame must be asked for after the last one",
    "a slot must not be read before InputNext says that its frame is there",
    "OutputAddr and OutputSize must stay while OutputValid is 1",
    "OutputAddr must be that of the next result",
    "OutputSize must be that of a result in bytes",
    "OutputValid must not rise before the result is whole in memory",
    "a result must not be overwritten before OutputNext says that it was read",
    "no result must be offered of a frame that was not given",
    "done must not rise before the last result is whole in memory",
    "StreamingDone must not rise before the last OutputNext",
    "memory must rest while IPCore_Enable is 0",
)


class HandshakeRule(IntEnum):
    """Indices of ``HANDSHAKE_RULES``."""

    INPUT_STAYS = 0
    INPUT_ADDRESS = 1
    INPUT_SIZE = 2
    INPUT_BEYOND = 3
    READ_EARLY = 4
    OUTPUT_STAYS = 5
    OUTPUT_ADDRESS = 6
    OUTPUT_SIZE = 7
    OUTPUT_EARLY = 8
    OVERWRITTEN = 9
    OUTPUT_UNASKED = 10
    DONE_EARLY = 11
    STREAMING_DONE_EARLY = 12
    HELD = 13
