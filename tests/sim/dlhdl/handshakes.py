"""Registers, batches and streaming: scripts that look at the handshake step by step.

The layer of all of them is a convolution of 1 x 1 that adds 1 to a frame of some values, one to a beat (C = N = 2).
"""

from __future__ import annotations

from tests.sim.dlhdl.play import (
    CONV_WEIGHTS,
    CONVOLUTION,
    INPUT,
    LIST,
    OFFSETS,
    OUTPUT,
    SETUP,
    Case,
    batch,
    by_name,
    check,
    expect,
    layer,
    program,
    pulse,
    signed,
    store,
    until,
    words,
    write,
)

WIDTH = 24


def memory(mark: bytes = b"") -> dict[int, bytes]:
    """Return list, weights and biases; two slots on either side, frames 0x40 and results 0x80 apart."""
    one = layer(CONVOLUTION, (WIDTH, 1, 1), (WIDTH, 1, 1), biases=0x10)
    played = program(one, input_size=0x40, input_slots=2, output_size=0x80, output_slots=2)
    return {LIST: mark + played[len(mark) :], CONV_WEIGHTS: signed([1, 0]), CONV_WEIGHTS + 0x10: words(1)}


def frame(number: int) -> bytes:
    """Return a frame's values, with something in the padding lanes."""
    return signed(value for x in range(WIDTH) for value in (10 * number + x, 55))


def result(number: int) -> bytes:
    """Return what becomes of a frame: each value plus 1, padding lanes 0."""
    return signed(value for x in range(WIDTH) for value in (10 * number + x + 1, 0))


def offered(slot: int) -> list[str]:
    """Return the commands that wait for the offer of an input slot, and look at it twice."""
    one_look = [expect("InputAddr", INPUT + 0x40 * slot), expect("InputSize", 0x40), expect("InputValid", 1)]
    return [until("InputValid", 1), *one_look, "d 0 30", *one_look]


def given(slot: int, number: int) -> list[str]:
    """Return the commands that fill an offered slot with a frame."""
    return [*offered(slot), *store(INPUT + 0x40 * slot, frame(number)), *pulse("InputNext")]


def ready(slot: int, number: int) -> list[str]:
    """Return the commands that wait for the offer of a result, and compare it."""
    return [
        until("OutputValid", 1),
        expect("OutputAddr", OUTPUT + 0x80 * slot),
        expect("OutputSize", 0x80),
        *check(OUTPUT + 0x80 * slot, result(number)),
    ]


def started(frames: int) -> list[str]:
    """Return the commands that start a run in streaming mode."""
    return [*SETUP, write("StreamingMode", 1), write("FrameCount", frames), *pulse("inputStart")]


def five_frames() -> Case:
    """Five frames through two slots on either side, each of which is full at some time.

    With no result read, frames 0 and 1 are computed, and frame 2 waits for an output slot, while frame 3 fills the
    input; a fifth frame is not asked for until frame 2 is computed.
    """
    script = [
        *started(5),
        *offered(0),
        "d 0 200",
        expect("OutputValid", 0),
        *given(0, 0),
        *given(1, 1),
        *ready(0, 0),
        *given(0, 2),
        *given(1, 3),
        "d 0 800",
        expect("InputValid", 0),
        *ready(0, 0),
        *pulse("OutputNext"),
        *ready(1, 1),
        *given(0, 4),
        "d 0 400",
        expect("InputValid", 0),
        *pulse("OutputNext"),
        *ready(0, 2),
        *pulse("OutputNext"),
        *ready(1, 3),
        *pulse("OutputNext"),
        *ready(0, 4),
        "d 0 100",
        expect("StreamingDone", 0),
        *pulse("OutputNext"),
        until("StreamingDone", 1),
        expect("InputValid", 0),
        expect("OutputValid", 0),
        expect("done", 0),
    ]
    return Case(4, memory(), {OUTPUT: result(4), OUTPUT + 0x80: result(3)}, script, repeated=True)


def early() -> Case:
    """A result is offered when it is complete, not while its frame is computed."""
    look = [expect("OutputValid", 0)] * 3
    script = [
        *started(1),
        *given(0, 7),
        *look,
        *ready(0, 7),
        "d 0 400",
        expect("InputValid", 0),
        expect("OutputValid", 1),
        *pulse("OutputNext"),
        until("StreamingDone", 1),
    ]
    return Case(4, memory(), {OUTPUT: result(7)}, script)


def stopped() -> Case:
    """Endless streaming ends with InputStop: the offer is withdrawn, the given frame is computed, and a run follows.

    InputNext and OutputNext without an offer change nothing. With no frame under way StreamingDone rises at once.
    """
    script = [
        *started(0),
        *pulse("OutputNext"),
        *given(0, 1),
        *offered(1),
        *pulse("InputStop"),
        expect("InputValid", 0),
        *pulse("InputNext"),
        *ready(0, 1),
        "d 0 400",
        expect("StreamingDone", 0),
        expect("InputValid", 0),
        *pulse("OutputNext"),
        until("StreamingDone", 1),
        expect("OutputValid", 0),
        *pulse("inputStart"),
        *offered(0),
        expect("StreamingDone", 0),
        *pulse("InputStop"),
        expect("StreamingDone", 1),
        expect("InputValid", 0),
        write("StreamingMode", 0),
        write("FrameCount", 0),
        *pulse("inputStart"),
        until("done", 1),
        expect("StreamingDone", 0),
    ]
    return Case(4, memory(), {OUTPUT: result(1)}, script)


def two_batches() -> Case:
    """`done` rises when the last of three frames is in memory; a start in between is ignored, one after it is not."""
    frames = b"".join(frame(i).ljust(0x40, b"\x77") for i in range(3))
    results = {OUTPUT + 0x80 * i: result(i) for i in range(3)}
    compare = [line for address, data in results.items() for line in check(address, data)]
    script = [
        *batch(3),
        *compare,
        *store(OUTPUT, bytes(16)),
        *pulse("inputStart"),
        expect("done", 0),
        *pulse("inputStart"),
        until("done", 1),
        *compare,
    ]
    return Case(4, {**memory(), INPUT: frames}, results, script, repeated=True)


def second_program() -> Case:
    """Weights, biases and exponents of a list that replaces the first one count: (2 v + 3) / 2 in place of v + 1."""
    values = frame(2)
    halves = signed(v for x in range(WIDTH) for v in ((2 * (20 + x) + 3 + 1) // 2, 0))
    other = layer(CONVOLUTION, (WIDTH, 1, 1), (WIDTH, 1, 1), biases=0x10, exponents=(0, 0, 0, 1))
    script = [
        *batch(),
        *check(OUTPUT, result(2)),
        *store(LIST + 64, other),
        *store(CONV_WEIGHTS, signed([2, 0])),
        *store(CONV_WEIGHTS + 0x10, words(3)),
        *pulse("inputStart"),
        until("done", 1),
    ]
    return Case(4, {**memory(), INPUT: values}, {OUTPUT: halves}, script, repeated=True)


def unplayable() -> Case:
    """A wrong word 0, no layers, and a layer of kind 6 end a run without `done`; the core then plays a right list."""
    wrong_kind = layer(6, (WIDTH, 1, 1), (WIDTH, 1, 1))
    right = memory()[LIST]
    script = [
        *SETUP,
        write("FrameCount", 1),
        *pulse("inputStart"),
        "d 0 400",
        expect("done", 0),
        *store(LIST, right[:64]),
        *store(LIST + 4, words(0)),
        *pulse("inputStart"),
        "d 0 400",
        expect("done", 0),
        *store(LIST + 4, words(1)),
        *store(LIST + 64, wrong_kind),
        *pulse("inputStart"),
        "d 0 600",
        expect("done", 0),
        *store(LIST, right),
        *pulse("inputStart"),
        until("done", 1),
    ]
    return Case(4, {**memory(mark=b"\x45"), INPUT: frame(0)}, {OUTPUT: result(0)}, script)


def held() -> Case:
    """The core does nothing while IPCore_Enable is 0, and loses nothing by it."""
    script = [
        *SETUP,
        write("FrameCount", 1),
        expect("IPCore_Enable", 1),
        write("IPCore_Enable", 0),
        *pulse("inputStart"),
        "d 0 800",
        expect("done", 0),
        *check(OUTPUT, bytes([0xA5] * 4)),
        write("IPCore_Enable", 1),
        "d 0 80",
        write("IPCore_Enable", 0),
        "d 0 40",
        write("IPCore_Enable", 1),
        "d 0 100",
        write("IPCore_Enable", 0),
        "d 0 40",
        write("IPCore_Enable", 1),
        until("done", 1),
    ]
    return Case(4, {**memory(), INPUT: frame(3)}, {OUTPUT: result(3)}, script)


def reset() -> Case:
    """A software reset clears the registers, wherever it hits a run; after it the whole run is right."""
    waits = (0x20, 0x71, 0xC3, 0x115, 0x187, 0x205)
    cut = [line for wait in waits for line in (*batch()[:-1], f"d 0 {wait:x}", *cleared())]
    return Case(4, {**memory(), INPUT: frame(4)}, {OUTPUT: result(4)}, [*cut, *batch()], repeated=True)


def cleared() -> list[str]:
    """Return the commands that reset the core by software, and look at some registers."""
    zeros = ("IPCore_Reset", "FrameCount", "skd_ddr_addr", "conv_weight_ddr_addr", "done")
    return [write("IPCore_Reset", 1), *(expect(name, 0) for name in zeros), expect("IPCore_Enable", 1)]


READ_ONLY = (
    *("IPCore_Reset", "IPCore_Timestamp", "done", "InputValid", "InputAddr", "InputSize"),
    *("OutputValid", "OutputAddr", "OutputSize", "StreamingDone"),
)
"""Registers that a write does not change, or that do not store it."""


def registers() -> Case:
    """Every register of the header keeps a value of its own; the others of the map read 0 and store nothing."""
    stored = [name for name in OFFSETS if name not in READ_ONLY]
    others = [o for o in range(0, 0x500, 4) if o not in OFFSETS.values()] + [0x804, 0x104C, 0x824C]
    script = [
        expect("IPCore_Timestamp", 2601010000),
        *(write(name, 0x1234000 + 2 * i + (name == "IPCore_Enable")) for i, name in enumerate(stored)),
        *(f"w {offset:x} ffffffff" for offset in others),
        *(write(name, 0xFFFFFFFE) for name in READ_ONLY),
        *(expect(name, 0x1234000 + 2 * i + (name == "IPCore_Enable")) for i, name in enumerate(stored)),
        *(f"e {offset:x} 0" for offset in others),
        *(expect(name, 0) for name in READ_ONLY if name != "IPCore_Timestamp"),
        expect("IPCore_Timestamp", 2601010000),
        f"l {OFFSETS['FrameCount']:x} 77",
        expect("FrameCount", 0x1234000 + 2 * stored.index("FrameCount")),
        "r 0 0",
        *(expect(name, int(name == "IPCore_Enable")) for name in stored),
    ]
    return Case(4, {}, {}, script)


CASES = by_name(five_frames, early, stopped, two_batches, second_program, unplayable, held, reset, registers)
