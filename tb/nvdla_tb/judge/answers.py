"""Done interrupts against the answers to the writes of their layers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.judge.detail import EarlyInterrupt
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.interrupts import Event
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.rule import Rule
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import done_bit
from nvdla_tb.nvdla.registers import Register


@dataclass(frozen=True)
class LastWrite:
    """The last write beat that belongs to a layer."""

    ram: Ram
    axi_id: int
    cycle: int
    address: int


Answered = Mapping[tuple[Ram, int], int]
"""By port and id, the cycle of the last beat of the newest burst that was answered; an id is answered in order."""


class AnswerRule(Rule):
    """Tells layers whose done interrupt rose while an answer to one of their writes was still out.

    When the line rises and the status then holds but one bit, the bit is known to be as old as the line; any other is
    taken to be as old as the read that shows it.

    Source: measured on the public nv_small RTL: the memory interface marks the last write of a layer, and SDP, PDP and
        CDP raise their interrupt with its answer, however late it comes; ``S_STATUS`` is idle before.
    """

    def __init__(
        self,
        fresh: Callable[[int], Iterable[Event]],
        last_write: Callable[[int], LastWrite | None],
        line_cycles: int,
        wrapped: Collection[Ram] = (),
    ) -> None:
        """Start from the reset state.

        Args:
            fresh: Returns the events of a word of the status whose bits were not seen before.
            last_write: Returns the last write of a layer by its index, None when there is none.
            line_cycles: How long the interrupt line may lag behind the registers.
            wrapped: Ports of a wrapper: it may answer writes before memory does, so that nothing is judged there.
        """
        self._wrapped, self._fresh = wrapped, fresh
        self._last_write = last_write
        self._line_cycles = line_cycles
        self.reset()

    def reset(self) -> None:
        """Forget all layers and answers, as a reset of the DUT does."""
        self._answered: dict[tuple[Ram, int], int] = {}
        self._due: dict[Event, deque[LayerId]] = {}
        self._mask = 0
        self._touched: int | None = None
        self._rise: tuple[int, Answered] | None = None

    def start(self, layer: LayerId, events: Collection[Event]) -> None:
        """Note a layer and the interrupts that it raises, of which the first ends it."""
        for event in list(events)[:1]:
            self._due.setdefault(event, deque()).append(layer)

    def answers(self, ram: Ram, ids: NDArray[np.int64], written: NDArray[np.int64]) -> None:
        """Take answers that were accepted.

        Args:
            ram: Their port.
            ids: int64 (n,), in their order.
            written: int64 (n,), cycles of the last beats of the bursts that they answer.
        """
        self._answered.update(((ram, axi_id), at) for axi_id, at in zip(ids.tolist(), written.tolist(), strict=True))

    def line(self, cycle: int, *, level: bool) -> tuple[()]:
        """Follow a change of the interrupt line."""
        self._rise = (cycle, dict(self._answered)) if level else None
        return ()

    def write(self, register: Register, value: int, cycle: int | None) -> tuple[()]:
        """Follow one CSB write."""
        if register.unit == "GLB" and register.name.startswith("S_INTR_"):
            self._touched = cycle
            if register.name == "S_INTR_MASK":
                self._mask = value
        return ()

    def read(self, register: Register, value: int, cycle: int | None) -> Iterator[Finding]:
        """Follow one read, and yield the layers that were done too early, by when the interrupt had risen."""
        if register.full_name != "GLB.S_INTR_STATUS":
            return
        for event in self._fresh(value):
            due = self._due.get(event)
            if not due:
                continue
            layer = due.popleft()
            last = self._last_write(layer.index)
            at, answered = self._rise if self._rise and self._alone(value, event) else (cycle, self._answered)
            if last is None or last.ram in self._wrapped:
                continue
            if answered.get((last.ram, last.axi_id), -1) < last.cycle:
                name = f"{event[0]}_{event[1]}"
                early = EarlyInterrupt(name, last.ram, last.axi_id, last.address, last.cycle)
                yield Finding(Check.UNANSWERED, early, at, layer)

    def _alone(self, value: int, event: Event) -> bool:
        """Return whether an event alone can have raised the line."""
        assert self._rise is not None
        untouched = self._touched is None or self._touched + self._line_cycles < self._rise[0]
        return untouched and value & ~self._mask == 1 << done_bit(*event)
