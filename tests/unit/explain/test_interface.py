"""What clients of the memory interface hand to it and get is compared with the memory port, beat by beat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from nvdla_tb.explain.interface import judge_interface, unpacked
from nvdla_tb.explain.tap import PORT, Handover, Reader, StageError, Tapped, Writer, check_widths

READER = Reader("SDP_RDMA", 1, "reads", "answers", "credits")
OTHER = Reader("CDMA (data)", 8, "more_reads", "more_answers")
WRITER = Writer("SDP", 1, "writes", "acknowledged")
ADDRESS_BITS, LENGTH_BITS, ID_BITS, ATOM_BITS = 32, 4, 8, 64
FIRST = 0x8000_0040


@dataclass
class Wires:
    """Beats by tap, each (cycle, word), and the taps at which a beat is offered at the end."""

    beats: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    offered: set[str] = field(default_factory=set)

    def seen(self) -> dict[str, Tapped]:
        burst = (ADDRESS_BITS, LENGTH_BITS, ID_BITS)
        bits = {AR: burst, AW: burst, R: (ATOM_BITS, ID_BITS), W: (ATOM_BITS, ATOM_BITS // 8), B: (ID_BITS,)}
        for reader in (READER, OTHER):
            for tap, width in zip(reader.taps, (47, 65, 0), strict=False):
                bits[tap.name] = (width,) if width else ()
        bits |= {WRITES: (66,), ACKNOWLEDGED: ()}
        return {name: self._tapped(name, widths) for name, widths in bits.items()}

    def _tapped(self, name: str, widths: tuple[int, ...]) -> Tapped:
        nbytes = -(-sum(widths) // 8)
        beats = [Handover(cycle, word.to_bytes(nbytes, "little")) for cycle, word in self.at(name)]
        return Tapped(beats, widths, name in self.offered)

    def at(self, name: str) -> list[tuple[int, int]]:
        return self.beats.setdefault(name, [])

    def told(self, *, cut: bool = False) -> tuple[str, str]:
        reads, writes = judge_interface([READER, OTHER], [WRITER], self.seen(), cut=cut)
        return str(reads), str(writes)


AR, R, AW, W, B = (tap.name for tap in PORT)
READS, ANSWERS, CREDITS = (tap.name for tap in READER.taps)
WRITES, ACKNOWLEDGED = (tap.name for tap in WRITER.taps)


def burst(address: int, beats: int, axi_id: int) -> int:
    return address | (beats - 1) << ADDRESS_BITS | axi_id << ADDRESS_BITS + LENGTH_BITS


def right() -> Wires:
    """Return four atoms that are read in two bursts, and three that are written one by one."""
    wires = Wires()
    wires.at(READS).append((10, FIRST | 3 << ADDRESS_BITS))
    for cycle, address in ((14, FIRST), (15, FIRST + 16)):
        wires.at(AR).append((cycle, burst(address, 2, 1)))
    for number in range(4):
        wires.at(R).append((40 + number, 0x1122_3344_5566_7700 + number | 1 << ATOM_BITS))
        wires.at(ANSWERS).append((44 + number, 0x1122_3344_5566_7700 + number | 1 << ATOM_BITS))
        wires.at(CREDITS).append((50 + number, 0))
    wires.at(WRITES).append((60, FIRST | 2 << ADDRESS_BITS | 1 << ADDRESS_BITS + 13))
    for number in range(3):
        wires.at(WRITES).append((61 + number, 0xA0 + number | 1 << 64 | 1 << 65))
        wires.at(AW).append((70 + number, burst(FIRST + 8 * number, 1, 1)))
        wires.at(W).append((71 + number, 0xA0 + number | 0xFF << ATOM_BITS))
        wires.at(B).append((80 + number, 1))
    wires.at(ACKNOWLEDGED).append((85, 0))
    return wires


def test_what_is_passed_on_as_it_came_is_right_and_clears_the_interface() -> None:
    wires = right()
    assert wires.told() == (
        "read side of the memory interface: 4 atoms, all right",
        "write side of the memory interface: 3 atoms, all right",
    )
    reads, writes = judge_interface([READER, OTHER], [WRITER], wires.seen())
    assert reads.is_whole
    assert writes.is_whole
    assert reads.suspect is None


def change(name: str, number: int, cycle: int = 0, flip: int = 0) -> Callable[[Wires], None]:
    def apply(wires: Wires) -> None:
        at, word = wires.at(name)[number]
        wires.at(name)[number] = at + cycle, word ^ flip

    return apply


def drop(*places: tuple[str, int]) -> Callable[[Wires], None]:
    def apply(wires: Wires) -> None:
        for name, number in places:
            del wires.at(name)[number]

    return apply


def offer(name: str, *places: tuple[str, int]) -> Callable[[Wires], None]:
    def apply(wires: Wires) -> None:
        drop(*places)(wires)
        wires.offered.add(name)

    return apply


READ = "a read of SDP_RDMA, id 1"
WRITE = "a write of SDP, id 1"


@pytest.mark.parametrize(
    ("change", "side", "said"),
    [
        (change(AR, 1, flip=0x40), 0, f"{READ}, 0x80000050, cycle 10, became 0x80000010, cycle 15"),
        (change(AR, 1, flip=1 << ADDRESS_BITS + LENGTH_BITS), 0, f"{READ} at 0x80000050, cycle 10, never came"),
        (change(READS, 0, cycle=5), 0, f"{READ} at 0x80000040, cycle 14, was not asked for"),
        (
            change(ANSWERS, 2, flip=0x100),
            0,
            f"in the answer to {READ} at 0x80000050, cycle 46, 02 77 66 55 44 33 22 11 became 02 76 66 55 44 33 22 11",
        ),
        (change(ANSWERS, 0, cycle=-8), 0, f"the answer to {READ} at 0x80000040, cycle 36, comes before the port's"),
        (drop((ANSWERS, 3), (CREDITS, 3)), 0, f"1 of 4 answers to {READ} never came"),
        (change(AW, 1, flip=8), 1, f"{WRITE}, a1 00 00 00 00 00 00 00 ff at 0x80000048"),
        (change(W, 2, flip=1), 1, f"{WRITE}, a2 00 00 00 00 00 00 00 ff at 0x80000050, cycle 63, became a3 00"),
        (change(W, 0, flip=1 << ATOM_BITS), 1, f"{WRITE}, a0 00 00 00 00 00 00 00 ff at 0x80000040, cycle 61, became"),
        (drop((AW, 2), (W, 2), (B, 2)), 1, f"{WRITE}, a2 00 00 00 00 00 00 00 ff at 0x80000050, cycle 63, never came"),
        (drop((ACKNOWLEDGED, 0)), 1, f"the answer to {WRITE}, a2 00 00 00 00 00 00 00 ff at 0x80000050, cycle 63"),
        (offer(READS), 0, f"{READ} is not taken"),
        (offer(WRITES), 1, f"{WRITE} is not taken"),
        (change(ACKNOWLEDGED, 0, cycle=-30), 1, f"the answer in cycle 55 to {WRITE}"),
        (
            change(ACKNOWLEDGED, 0, cycle=-4),
            1,
            f"the answer in cycle 81 to {WRITE}, a2 00 00 00 00 00 00 00 ff at 0x80000050, cycle 63, "
            "comes before the port's",
        ),
        (drop((B, 2)), 1, f"the answer in cycle 85 to {WRITE}, a2 00 00 00 00 00 00 00 ff at 0x80000050, cycle 63, "),
    ],
)
def test_a_difference_is_told_with_its_place(change: Callable[[Wires], None], side: int, said: str) -> None:
    wires = right()
    change(wires)
    told = wires.told()
    assert told[side].partition(" interface: ")[2].startswith(said)
    assert told[1 - side].endswith(", all right")


@pytest.mark.parametrize(
    ("change", "side"),
    [
        (offer(ANSWERS, (ANSWERS, 3), (CREDITS, 3)), 0),
        (offer(OTHER.taps[1].name, (ANSWERS, 3), (CREDITS, 3)), 0),
        (drop((AR, 1), (R, 3), (R, 2), (ANSWERS, 3), (ANSWERS, 2), (CREDITS, 3), (CREDITS, 2), (CREDITS, 1)), 0),
        (drop((R, 3), (ANSWERS, 3), (CREDITS, 3)), 0),
        (drop((WRITES, 3), (AW, 2), (W, 2), (B, 2), (ACKNOWLEDGED, 0)), 1),
        (drop((B, 2), (ACKNOWLEDGED, 0)), 1),
        (offer(AW, (AW, 2), (W, 2), (B, 2), (ACKNOWLEDGED, 0)), 1),
    ],
)
def test_what_waits_for_others_is_neither_wrong_nor_whole(change: Callable[[Wires], None], side: int) -> None:
    wires = right()
    change(wires)
    assert wires.told()[side].endswith(" right so far")


@pytest.mark.parametrize(
    ("change", "side"),
    [
        (drop((ANSWERS, 3), (CREDITS, 3)), 0),
        (drop((AR, 1), (R, 3), (R, 2), (ANSWERS, 3), (ANSWERS, 2)), 0),
        (offer(READS), 0),
        (drop((AW, 2), (W, 2), (B, 2)), 1),
        (drop((ACKNOWLEDGED, 0)), 1),
        (offer(WRITES), 1),
    ],
)
def test_what_a_stop_cut_off_is_not_wrong(change: Callable[[Wires], None], side: int) -> None:
    wires = right()
    change(wires)
    assert " right" not in wires.told()[side]
    assert "all right" in wires.told(cut=True)[side] or wires.told(cut=True)[side].endswith(" right so far")


def test_what_is_wrong_before_a_stop_is_told() -> None:
    wires = right()
    change(AR, 1, flip=0x40)(wires)
    assert "became 0x80000010, cycle 15" in wires.told(cut=True)[0]


def test_of_several_differences_the_earliest_is_told() -> None:
    wires = right()
    change(ANSWERS, 2, flip=1)(wires)
    change(AR, 1, flip=0x40)(wires)
    assert "became 0x80000010, cycle 15" in wires.told()[0]


def test_signals_of_another_width_than_the_port_asks_for_are_refused() -> None:
    bits = {name: tapped.bits for name, tapped in Wires().seen().items()}
    check_widths([READER, OTHER], [WRITER], bits)
    check_widths([], [], {})
    said = "^writes_pd must have 66 bits with 32 bits of address and 64 of data on the memory port, not 67$"
    with pytest.raises(StageError, match=said):
        check_widths([READER, OTHER], [WRITER], bits | {WRITES: (67,)})


def test_packets_of_writes_are_atoms_with_their_addresses() -> None:
    wires = right()
    found = unpacked(wires.seen()[WRITES], ADDRESS_BITS)
    assert [(beat.cycle, beat.address, beat.data) for beat in found] == [
        (61 + number, FIRST + 8 * number, bytes([0xA0 + number, *bytes(7)])) for number in range(3)
    ]
