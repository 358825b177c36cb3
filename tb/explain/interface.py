"""The memory interface: what its clients hand to it and get from it, compared with what passes the memory port."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tb.explain.clients import AR, AW, PORT, READ_SIZE_BITS, WRITE_SIZE_BITS, B, R, Reader, W, Writer
from tb.explain.tap import Handover, Tapped
from tb.explain.units import READ_SIDE, WRITE_SIDE, Part, Suspect


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
    readers: Sequence[Reader], writers: Sequence[Writer], seen: Mapping[str, Tapped]
) -> tuple[SideResult, SideResult]:
    """Return what the interface did with reads and with writes.

    Args:
        readers: Units that read.
        writers: Units that write.
        seen: What was seen at each tap, by its name, until nothing moved any more.
    """
    port = _Port.of(seen)
    blocked = any(seen[reader.taps[1].name].is_offered for reader in readers)
    reads = [_Reads.of(reader, seen, port, is_blocked=blocked) for reader in readers]
    writes = [_Writes.of(writer, seen, port) for writer in writers]
    return _side(READ_SIDE, reads), _side(WRITE_SIDE, writes)


def _side(side: Part, judged: Sequence[_Reads] | Sequence[_Writes]) -> SideResult:
    """Return the result of a side from what its clients asked for."""
    wrong = min((found for one in judged for found in one.differences()), default=None)
    whole = wrong is None and all(one.is_whole for one in judged)
    return SideResult(side, sum(len(one.passed) for one in judged), None if wrong is None else wrong[1], whole)


_END = 1 << 62
"""Instead of the cycle of what is missing at the end."""

Difference = tuple[int, str]
"""The cycle of a difference, and its words."""


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
    """What passed the memory port, by id: atoms asked for, answered and written, and bursts not acknowledged."""

    address_bits: int
    atom_bits: int
    asked: Mapping[int, Sequence[_Atom]]
    answered: Mapping[int, Sequence[Handover]]
    written: Mapping[int, Sequence[_Atom]]
    unacknowledged: Mapping[int, int]
    is_busy: bool

    @classmethod
    def of(cls, seen: Mapping[str, Tapped]) -> _Port:
        address_bits, length_bits, id_bits = seen[AR.name].bits
        data_bits = seen[R.name].bits[0]
        asked: defaultdict[int, list[_Atom]] = defaultdict(list)
        answered: defaultdict[int, list[Handover]] = defaultdict(list)
        written: defaultdict[int, list[_Atom]] = defaultdict(list)
        unacknowledged: Counter[int] = Counter()

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
            unacknowledged[axi_id] += 1
            written[axi_id] += [
                _Atom(max(beat.cycle, word.cycle), atom.address, word.data)
                for atom, word in zip(atoms, data, strict=False)
            ]
        for beat in seen[B.name].beats:
            unacknowledged[_field(beat, 0, id_bits)] -= 1
        busy = any(seen[tap.name].is_offered for tap in PORT)
        return cls(address_bits, data_bits, asked, answered, written, unacknowledged, busy)


def _field(beat: Handover, low: int, bits: int) -> int:
    return int.from_bytes(beat.data, "little") >> low & ((1 << bits) - 1)


@dataclass(frozen=True)
class _Reads:
    """The reads of a unit, on both sides of the interface.

    Attributes:
        name: What one of them is called.
        asked: Atoms that the unit asked for.
        passed: Atoms that were asked for on the port.
        given: Atoms that the port answered.
        answers: Atoms that the unit got.
        atom_bits: Bits of an atom.
        is_blocked: Whether a request on the port, or an answer to any unit, is not taken.
        is_waiting: Whether the unit has not returned all credits, so that its requests may have to wait.
        is_refused: Whether a request of the unit is not taken.
    """

    name: str
    asked: Sequence[_Atom]
    passed: Sequence[_Atom]
    given: Sequence[Handover]
    answers: Sequence[Handover]
    atom_bits: int
    is_blocked: bool
    is_waiting: bool
    is_refused: bool

    @classmethod
    def of(cls, reader: Reader, seen: Mapping[str, Tapped], port: _Port, *, is_blocked: bool) -> _Reads:
        requests, answers, *credits = (seen[tap.name] for tap in reader.taps)
        asked = [atom for beat in requests.beats for atom in _atoms(beat, port, READ_SIZE_BITS)]
        return cls(
            f"a read of {reader.name}",
            asked,
            port.asked.get(reader.id, ()),
            port.answered.get(reader.id, ()),
            answers.beats,
            port.atom_bits,
            is_blocked or port.is_busy,
            any(len(credit.beats) < len(answers.beats) for credit in credits),
            requests.is_offered,
        )

    @property
    def is_whole(self) -> bool:
        return len(self.asked) == len(self.passed) == len(self.given) == len(self.answers)

    def differences(self) -> Iterator[Difference]:
        yield from _first(self.name, self.asked, self.passed)
        size = self.atom_bits // 8
        for number, (given, answer) in enumerate(zip(self.given, self.answers, strict=False)):
            where = f"{self.name} at {self.passed[number].address:#x}" if number < len(self.passed) else self.name
            if answer.cycle < given.cycle:
                yield answer.cycle, f"the answer to {where}, cycle {answer.cycle}, comes before the port's"
            if answer.data[:size] != given.data[:size]:
                values = f"{given.data[:size].hex(' ')} became {answer.data[:size].hex(' ')}"
                yield answer.cycle, f"in the answer to {where}, cycle {answer.cycle}, {values}"
        if len(self.answers) > len(self.given):
            cycle = self.answers[len(self.given)].cycle
            yield cycle, f"the answer to {self.name}, cycle {cycle}, is one more than the port gave"
        if not self.is_blocked:
            if len(self.answers) < len(self.given):
                lost = len(self.given) - len(self.answers)
                yield _END, f"{lost} of {len(self.given)} answers to {self.name} never came"
            elif len(self.passed) < len(self.asked) and not self.is_waiting:
                yield _END, f"{self.name} at {self.asked[len(self.passed)]}, never came to the port"
            elif self.is_refused and not self.is_waiting:
                yield _END, f"{self.name} is not taken"


@dataclass(frozen=True)
class _Writes:
    """The writes of a unit, on both sides of the interface.

    Attributes:
        name: What one of them is called.
        sent: Atoms that the unit wrote.
        owed: The last atom of each of its requests that asks for an answer.
        is_open: Whether its last request lacks data.
        passed: Atoms that were written on the port.
        answers: Answers that the unit got.
        is_blocked: Whether a request on the port is not taken, or not acknowledged.
        is_refused: Whether a request of the unit is not taken.
    """

    name: str
    sent: Sequence[_Atom]
    owed: Sequence[_Atom]
    is_open: bool
    passed: Sequence[_Atom]
    answers: Sequence[Handover]
    is_blocked: bool
    is_refused: bool

    @classmethod
    def of(cls, writer: Writer, seen: Mapping[str, Tapped], port: _Port) -> _Writes:
        requests, answers = (seen[tap.name] for tap in writer.taps)
        sent: list[_Atom] = []
        owed: list[_Atom] = []
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
                    owed.append(sent[-1])
        passed, missing = port.written.get(writer.id, ()), port.unacknowledged.get(writer.id, 0)
        blocked = port.is_busy or missing > 0
        return cls(
            f"a write of {writer.name}", sent, owed, bool(places), passed, answers.beats, blocked, requests.is_offered
        )

    @property
    def is_whole(self) -> bool:
        return len(self.sent) == len(self.passed) and len(self.answers) == len(self.owed) and not self.is_open

    def differences(self) -> Iterator[Difference]:
        yield from _first(self.name, self.sent, self.passed)
        for atom, answer in zip(self.owed, self.answers, strict=False):
            if answer.cycle < atom.cycle:
                yield answer.cycle, f"the answer in cycle {answer.cycle} to {self.name}, {atom}, comes before it"
        if len(self.answers) > len(self.owed):
            cycle = self.answers[len(self.owed)].cycle
            yield cycle, f"the answer in cycle {cycle} to {self.name} was not asked for"
        if self.is_blocked:
            return
        if len(self.passed) < len(self.sent) and not self.is_open:
            yield _END, f"{self.name}, {self.sent[len(self.passed)]}, never came to the port"
        elif len(self.answers) < len(self.owed):
            yield _END, f"the answer to {self.name}, {self.owed[len(self.answers)]}, never came"
        elif self.is_refused:
            yield _END, f"{self.name} is not taken"


def _atoms(beat: Handover, port: _Port, size_bits: int) -> list[_Atom]:
    """Return the atoms of a unit's request."""
    first, size = _field(beat, 0, port.address_bits), _field(beat, port.address_bits, size_bits)
    return [_Atom(beat.cycle, first + number * port.atom_bits // 8) for number in range(size + 1)]


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
