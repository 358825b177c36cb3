"""When the DUT has to interrupt: once for each layer that it was told to run, and for nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from nvdla_tb.judge.detail import UnexpectedInterrupt
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.line import LINE_CYCLES
from nvdla_tb.judge.rule import Rule
from nvdla_tb.nvdla.program.ops import INTERRUPT_UNITS, done_bit
from nvdla_tb.nvdla.program.state import GROUPS
from nvdla_tb.nvdla.registers import Register

Event = tuple[str, int]
"""The source of a done interrupt, and its register group."""

_PARTS = {"CDMA": ("CDMA_DAT", "CDMA_WT"), "CACC": ("CACC",)}
"""Units that are done with a layer while SDP may still run the one before."""


_MOST_UNEXPECTED = 5
"""How often an interrupt that no layer owes is a finding."""


class InterruptRules(Rule):
    """Follows GLB's status and tells done bits that no layer owes, and those that never came.

    A bit that software sets says nothing about a layer; one that was read stays known until it is cleared.
    The parts of a layer may be done after its end: measured on the embedded device, weights are fetched to
    the end of their padding, which nothing waits for.

    A bit may be cleared before it was ever read. An event sets it even in the clock of a clear, so that the line then
    shows a pulse at least, unless the bit is masked or CSB's clock is too slow to see it.

    Source: public nv_small RTL, ``NV_NVDLA_GLB_ic``; measured with clears all the time that layers run.

    Attributes:
        seen: how many done bits were seen that layers owed.
    """

    def __init__(self, line_cycles: int = LINE_CYCLES) -> None:
        """Start from the reset state; the interrupt line may lag so many cycles behind the registers."""
        self._line_cycles = line_cycles
        self._pulses_show = line_cycles <= LINE_CYCLES
        self._unexpected: Counter[Event] = Counter()
        self.seen = 0
        self.reset()

    @property
    def owed(self) -> list[str]:
        """The names, such as ``SDP_1``, of done bits that were not seen since they were owed last.

        How often does not count, as a bit that nobody clears stands for more than one layer; but one that was cleared
        all the time that its layer ran, with no pulse of the line, is owed even when it comes for the next layer.
        """
        unseen = {event for event, count in self._unseen.items() if count}
        return sorted(f"{unit}_{group}" for unit, group in unseen | self._lost)

    @property
    def possible(self) -> int:
        """The bits that layers still owe."""
        return sum(1 << done_bit(unit, group) for (unit, group), count in self._owed.items() if count)

    def reset(self) -> None:
        """Forget all bits and layers, as a reset of the DUT does."""
        self._known = self._mask = 0
        self._level = False
        self._cleared: dict[Event, int] = {}
        self._owed: Counter[Event] = Counter()
        self._unseen: Counter[Event] = Counter()
        self._waiting: set[Event] = set()
        self._lost: set[Event] = set()

    def enable(self, unit: str, group: int, cycle: int | None = None, *, waits: bool = False) -> None:
        """Note the interrupts of a unit that begins as soon as it is enabled, before its layer can as a whole.

        One that ``waits`` for its other group need not come before its layer has begun.
        """
        events = [(part, group) for part in _PARTS.get(unit, ())]
        self._owed.update(events)
        self._expect(events, cycle, waits=waits)

    def start(self, events: Collection[Event], cycle: int | None = None) -> None:
        """Note the interrupts of a layer that was started, those of its first units apart."""
        parts = {part for names in _PARTS.values() for part in names}
        begun = [event for event in events if event[0] not in parts]
        self._owed.update(begun)
        self._expect(begun, cycle)
        due = self._waiting.intersection(events)
        self._unseen.update(due)
        self._waiting -= due

    def write(self, register: Register, value: int, cycle: int | None) -> tuple[()]:
        """Follow one CSB write, with which nothing is wrong."""
        match register.full_name:
            case "GLB.S_INTR_STATUS":
                cleared = value & ~self._known
                self._known &= ~value
                self._cleared |= dict.fromkeys(_events(cleared), cycle or 0)
                self._saw(_events(cleared & self._mask if self._pulses_show and not self._level else cleared))
            case "GLB.S_INTR_SET":
                self._known |= value
            case "GLB.S_INTR_MASK":
                self._mask = value
                for event in _events(value):
                    self._cleared.pop(event, None)
        return ()

    def line(self, cycle: int, *, level: bool) -> tuple[()]:
        """Follow a change of the line; a pulse may be that of a bit which was cleared not long ago."""
        self._level = level
        if level:
            recent = [event for event, cleared in self._cleared.items() if cycle - cleared <= self._line_cycles]
            self._unseen.subtract([event for event in recent if self._unseen[event]])
        return ()

    def fresh(self, value: int) -> list[Event]:
        """Return the done interrupts that a word of the status shows and that were not known before."""
        return _events(value & ~self._known)

    def read(self, register: Register, value: int, cycle: int | None) -> Iterator[Finding]:
        """Follow one CSB read, and yield the done interrupts that no layer owes."""
        if register.full_name != "GLB.S_INTR_STATUS":
            return
        fresh, self._known = self.fresh(value), self._known | value
        self._saw(_events(value))
        for event in fresh:
            if self._owed[event]:
                self._owed[event] -= 1
                self.seen += 1
                continue
            self._unexpected[event] += 1
            # A bit that cannot be cleared is fresh at every read.
            if self._unexpected[event] <= _MOST_UNEXPECTED:
                yield Finding(Check.INTERRUPT, UnexpectedInterrupt(f"{event[0]}_{event[1]}"), cycle)

    def _expect(self, events: Collection[Event], cycle: int | None, *, waits: bool = False) -> None:
        """Note events that have yet to come; what was cleared before did not clear them."""
        for event in events:
            # Its layer before is done, or the unit could not be enabled.
            cleared = self._cleared.pop(event, None)
            if cycle is None or cleared is None or not self._pulses_show:
                continue
            # Had it been set after the clear, the line would be high.
            if self._unseen[event] and not self._level and cycle - cleared > self._line_cycles:
                self._lost.add(event)
        (self._waiting if waits else self._unseen).update(events)

    def _saw(self, events: Iterable[Event]) -> None:
        for event in events:
            self._unseen[event] = 0
            self._waiting.discard(event)


def _events(bits: int) -> list[Event]:
    """Return the done interrupts whose bits are set in a word of the status."""
    return [(unit, group) for unit in INTERRUPT_UNITS for group in range(GROUPS) if bits >> done_bit(unit, group) & 1]
