"""The rules between the host of the Deep Learning HDL processor and its core, which registers and memory show.

Source: ``docs/dlhdl.md``, "Modes"; the public pages about the handshake name the signals, not the rules.
"""

from __future__ import annotations

from nvdla_tb.judge.rule import NumberedRule


class HandshakeRule(NumberedRule):
    """The rules by name."""

    INPUT_STAYS = "InputAddr and InputSize must stay while InputValid is 1"
    INPUT_ADDRESS = "InputAddr must be that of the next slot"
    INPUT_SIZE = "InputSize must be that of a frame in bytes"
    INPUT_BEYOND = "no frame must be asked for after the last one"
    READ_EARLY = "a slot must not be read before InputNext says that its frame is there"
    OUTPUT_STAYS = "OutputAddr and OutputSize must stay while OutputValid is 1"
    OUTPUT_ADDRESS = "OutputAddr must be that of the next result"
    OUTPUT_SIZE = "OutputSize must be that of a result in bytes"
    OUTPUT_EARLY = "OutputValid must not rise before the result is whole in memory"
    OVERWRITTEN = "a result must not be overwritten before OutputNext says that it was read"
    OUTPUT_UNASKED = "no result must be offered of a frame that was not given"
    DONE_EARLY = "done must not rise before the last result is whole in memory"
    STREAMING_DONE_EARLY = "StreamingDone must not rise before the last OutputNext"
    HELD = "memory must rest while IPCore_Enable is 0"
