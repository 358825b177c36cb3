"""The memory interface: what its clients hand to it and get from it, compared with what passes the memory port."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nvdla_tb.explain.tap import (
    AR,
    AW,
    PORT,
    READ_SIZE_BITS,
    WRITE_SIZE_BITS,
    B,
    Handover,
    R,
    Reader,
    Tapped,
    W,
    Writer,
)
from nvdla_tb.explain.units import READ_SIDE, WRITE_SIDE, Part, Suspect


@dataclass(frozen=True)
class SideResult:
    """What the memory interface did with the reads, or the writes, of its clients.

    Attributes:
        side: What is said to be at fault.
        atoms: How many passed.
        wrong: The first difference in words, None when there is none.
        is_whole: Whether all that it was asked for has been done.
    """

    side: Part
    atoms: int
    wrong: str | None
    is_whole: bool

    @property
    def suspect(self) -> Suspect | None:
        """The side, when it is at fault."""
        return None if self.wrong is None else Suspect((self.side,), self.wrong)

    def __str__(self) -> str:
        """Return the result as one line."""
        if self.wrong is not None:
            return f"{self.side.words}: {self.wrong}"
        return f"{self.side.words}: {self.atoms} atoms, {'all right' if self.is_whole else 'right so far'}"


def judge_interface(
    readers: Sequence[Reader], writers: Sequence[Writer], seen: Mapping[str, Tapped], *, cut: bool = False
) -> tuple[SideResult, SideResult]:
    """Return what the interface did with reads and with writes.

    Args:
        readers: Units that read.
        writers: Units that write.
        seen: What was seen at each tap, by its name, until nothing moved any more.
        cut: Whether the run was stopped before: what had not come by then may have been on its way.
    """
    port = _Port.of(seen)
    blocked = port.is_busy or any(seen[reader.taps[1].name].is_offered for reader in readers)
    reads = [_judge_reads(reader, seen, port, is_blocked=blocked) for reader in readers]
    writes = [_judge_writes(writer, seen, port) for writer in writers]
    last = _END - 1 if cut else _END
    return _side(READ_SIDE, reads, last), _side(WRITE_SIDE, writes, last)


def _side(side: Part, judged: Sequence[_Judged], last: int) -> SideResult:
    """Return the result of a side from what its clients asked for, with differences up to a cycle."""
    wrong = min((found for one in judged for found in one.differences if found[0] <= last), default=None)
    whole = wrong is None and all(one.is_whole for one in judged)
    return SideResult(side, sum(one.passed for one in judged), None if wrong is None else wrong[1], whole)


_END = 1 << 62
"""Instead of the cycle of what is missing at the end."""

Difference = tuple[int, str]
"""The cycle of a difference, and its words."""


class _Judged(NamedTuple):
    """The reads or writes of a unit: atoms that passed the port, whether all is done, and what differs."""

    passed: int
    is_whole: bool
    differences: list[Difference]


@dataclass(frozen=True)
class _Atom:
    """An atom that is read or written; of a read that is asked for without data."""

    cycle: int
    address: int
    data: bytes = b""

    def __str__(self) -> str:
        data = f"{self.data.hex(' ')} at " if self.data else ""
        return f"{data}{self.address:#x}, cycle {self.cycle}"


@dataclass(frozen=True)
class _Port:
    """What passed the memory port, by id: atoms asked for, answered and written, and when each was acknowledged."""

    address_bits: int
    atom_bits: int
    asked: Mapping[int, Sequence[_Atom]]
    answered: Mapping[int, Sequence[Handover]]
    written: Mapping[int, Sequence[_Atom]]
    acknowledged: Mapping[int, Sequence[int]]
    is_busy: bool

    @classmethod
    def of(cls, seen: Mapping[str, Tapped]) -> _Port:
        address_bits, length_bits, id_bits = seen[AR.name].bits
        data_bits = seen[R.name].bits[0]
        asked: defaultdict[int, list[_Atom]] = defaultdict(list)
        answered: defaultdict[int, list[Handover]] = defaultdict(list)
        written: defaultdict[int, list[_Atom]] = defaultdict(list)
        bursts: defaultdict[int, deque[int]] = defaultdict(deque)
        acknowledged: defaultdict[int, list[int]] = defaultdict(list)

        def burst(beat: Handover) -> tuple[int, list[_Atom]]:
            first, length = _field(beat, 0, address_bits), _field(beat, address_bits, length_bits)
            atoms = [_Atom(beat.cycle, first + number * data_bits // 8) for number in range(length + 1)]
            return _field(beat, address_bits + length_bits, id_bits), atoms

        for beat in seen[AR.name].beats:
            axi_id, atoms = burst(beat)
            asked[axi_id] += atoms
        for beat in seen[R.name].beats:
            answered[_field(beat, data_bits, id_bits)].append(beat)
        data = iter(seen[W.name].beats)
        for beat in seen[AW.name].beats:
            axi_id, atoms = burst(beat)
            bursts[axi_id].append(len(atoms))
            written[axi_id] += [
                _Atom(max(beat.cycle, word.cycle), atom.address, word.data)
                for atom, word in zip(atoms, data, strict=False)
            ]
        for beat in seen[B.name].beats:
            axi_id = _field(beat, 0, id_bits)
            acknowledged[axi_id] += [beat.cycle] * (bursts[axi_id].popleft() if bursts[axi_id] else 0)
        busy = any(seen[tap.name].is_offered for tap in PORT)
        return cls(address_bits, data_bits, asked, answered, written, acknowledged, busy)


def _field(beat: Handover, low: int, bits: int) -> int:
    return int.from_bytes(beat.data, "little") >> low & ((1 << bits) - 1)


def _judge_reads(reader: Reader, seen: Mapping[str, Tapped], port: _Port, *, is_blocked: bool) -> _Judged:
    """Judge the reads of a unit on both sides of the interface.

    They are blocked when a request on the port, or an answer to any unit, is not taken.
    """
    name = f"a read of {reader.name}"
    requests, answered, *credits = (seen[tap.name] for tap in reader.taps)
    asked = [atom for beat in requests.beats for atom in _atoms(beat, port, READ_SIZE_BITS)]
    passed, given, answers = port.asked.get(reader.id, ()), port.answered.get(reader.id, ()), answered.beats
    differences = list(_first(name, asked, passed))
    size = port.atom_bits // 8
    for number, (one, answer) in enumerate(zip(given, answers, strict=False)):
        where = f"{name} at {passed[number].address:#x}" if number < len(passed) else name
        if answer.cycle < one.cycle:
            words = f"the answer to {where}, cycle {answer.cycle}, comes before the port's"
            differences.append((answer.cycle, words))
        if answer.data[:size] != one.data[:size]:
            values = f"{one.data[:size].hex(' ')} became {answer.data[:size].hex(' ')}"
            differences.append((answer.cycle, f"in the answer to {where}, cycle {answer.cycle}, {values}"))
    if len(answers) > len(given):
        cycle = answers[len(given)].cycle
        differences.append((cycle, f"the answer to {name}, cycle {cycle}, is one more than the port gave"))
    # A unit that has not returned all credits may have to wait with its requests.
    is_waiting = any(len(credit.beats) < len(answers) for credit in credits)
    if not is_blocked:
        if len(answers) < len(given):
            lost = len(given) - len(answers)
            differences.append((_END, f"{lost} of {len(given)} answers to {name} never came"))
        elif len(passed) < len(asked) and not is_waiting:
            differences.append((_END, f"{name} at {asked[len(passed)]}, never came to the port"))
        elif requests.is_offered and not is_waiting:
            differences.append((_END, f"{name} is not taken"))
    return _Judged(len(passed), len(asked) == len(passed) == len(given) == len(answers), differences)


def _judge_writes(writer: Writer, seen: Mapping[str, Tapped], port: _Port) -> _Judged:
    """Judge the writes of a unit on both sides of the interface."""
    name = f"a write of {writer.name}"
    requests, answered = (seen[tap.name] for tap in writer.taps)
    sent: list[_Atom] = []
    owed: list[int] = []  # how many atoms were sent up to the last one of each request that asks for an answer
    places: list[_Atom] = []
    asks = False
    mask_bits = requests.bits[0] - 1 - port.atom_bits
    for beat in requests.beats:
        if not _field(beat, requests.bits[0] - 1, 1):
            places = _atoms(beat, port, WRITE_SIZE_BITS)
            asks = bool(_field(beat, port.address_bits + WRITE_SIZE_BITS, 1))
        elif places:
            mask = _field(beat, port.atom_bits, mask_bits)
            data = beat.data[: port.atom_bits // 8] + _strobe(mask, mask_bits, port.atom_bits // 8)
            sent.append(_Atom(beat.cycle, places.pop(0).address, data))
            if asks and not places:
                owed.append(len(sent))
    passed, answers = port.written.get(writer.id, ()), answered.beats
    acknowledged = port.acknowledged.get(writer.id, ())
    differences = list(_first(name, sent, passed))
    for count, answer in zip(owed, answers, strict=False):
        atom, due = sent[count - 1], next(iter(acknowledged[count - 1 : count]), _END)
        if answer.cycle < atom.cycle or (count <= len(passed) and answer.cycle < due):
            before = "it" if answer.cycle < atom.cycle else "the port's"
            words = f"the answer in cycle {answer.cycle} to {name}, {atom}, comes before {before}"
            differences.append((answer.cycle, words))
    if len(answers) > len(owed):
        cycle = answers[len(owed)].cycle
        differences.append((cycle, f"the answer in cycle {cycle} to {name} was not asked for"))
    if not port.is_busy and len(acknowledged) >= len(passed):
        if len(passed) < len(sent) and not places:
            differences.append((_END, f"{name}, {sent[len(passed)]}, never came to the port"))
        elif len(answers) < len(owed):
            differences.append((_END, f"the answer to {name}, {sent[owed[len(answers)] - 1]}, never came"))
        elif requests.is_offered:
            differences.append((_END, f"{name} is not taken"))
    return _Judged(len(passed), len(sent) == len(passed) and len(answers) == len(owed) and not places, differences)


def _atoms(beat: Handover, port: _Port, size_bits: int) -> list[_Atom]:
    """Return the atoms of a unit's request."""
    first, size = _field(beat, 0, port.address_bits), _field(beat, port.address_bits, size_bits)
    return [_Atom(beat.cycle, first + number * port.atom_bits // 8) for number in range(size + 1)]


def unpacked(tapped: Tapped, address_bits: int) -> list[Handover]:
    """Return the atoms of a unit's packets of writes, each with its address, without strobes.

    Args:
        tapped: its requests, as ``Writer.taps`` watches them.
        address_bits: of the memory port.
    """
    found: list[Handover] = []
    address, (bits,) = 0, tapped.bits
    # Behind the atom there is a bit of its mask for every 8 bytes.
    atom_bytes = (bits - 1) * 8 // 65
    for beat in tapped.beats:
        if not _field(beat, bits - 1, 1):
            address = _field(beat, 0, address_bits)
            continue
        found.append(Handover(beat.cycle, beat.data[:atom_bytes], address))
        address += atom_bytes
    return found


def _strobe(mask: int, mask_bits: int, nbytes: int) -> bytes:
    """Return the strobes of an atom's bytes, as a word, from its mask."""
    lanes = nbytes // mask_bits
    strobe = sum(((1 << lanes) - 1) << lanes * part for part in range(mask_bits) if mask >> part & 1)
    return strobe.to_bytes(-(-nbytes // 8), "little")


def _first(name: str, before: Sequence[_Atom], after: Sequence[_Atom]) -> Iterator[Difference]:
    """Yield the first difference between what a unit asked for and what came to the port."""
    for number, got in enumerate(after):
        want = before[number] if number < len(before) else None
        if want is None or want.cycle > got.cycle:
            yield got.cycle, f"{name} at {got}, was not asked for"
            return
        if (want.address, want.data) != (got.address, got.data):
            yield got.cycle, f"{name}, {want}, became {got}"
            return
