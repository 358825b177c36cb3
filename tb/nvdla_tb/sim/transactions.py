"""What a test in Python has done: a log of all transactions, and a program that does the same again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path

import msgspec

from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.judge import Access
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import MemInit, MemLoad, Op, Program
from nvdla_tb.sim.altered import Alterations
from nvdla_tb.sim.answer import Judged, leave
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.scenario import Scenario, memory_ops
from nvdla_tb.stimulus.trace import TraceError, write

FILE_NAME = "transactions.log"
"""Name of the log in the folder of a run."""


def transactions(accesses: Iterable[Access], beats: Iterable[Beats]) -> Iterator[str]:
    """Yield a line for each register access and each write beat of the memory ports, by cycle."""
    lines = [*_accesses(accesses), *(line for part in beats for line in _beats(part))]
    return (f"{at:>8} {text}" for at, text in sorted(lines, key=itemgetter(0)))


class Played:
    """What a test has placed in memory and played; afterwards the same can be played again."""

    def __init__(self, alterations: Alterations, request: Request) -> None:
        """Begin with what memory holds before the first program; the launcher's request asks for an answer."""
        self._request = request
        self._left: bytes | None = None
        self._ops: tuple[Op, ...] = ()
        self._memories, self._alterations = alterations.memories, alterations
        self._known: set[tuple[Ram, int]] = set()

    def before(self, program: Program) -> None:
        """Take what was placed since the last program, and the program."""
        placed = [op for ram, image in self._memories.items() for op in memory_ops(image, ram)]
        loads = [op for op in placed if isinstance(op, MemInit | MemLoad) and self._is_new(op)]
        new = [self._alterations.undone(op) for op in loads]
        self._ops = (*self._ops, *new, *program)

    def after(self) -> None:
        """Know what the program has loaded, and what the DUT has left there, for nothing that the test placed."""
        for ram, image in self._memories.items():
            self._known |= {(ram, allocation.address) for allocation in image.allocations}

    def leave(self, bench: Judged, lines: Iterable[str]) -> None:
        """Leave the answer of the test, and unless it passed its log and its scenario, in the folder of its run.

        The answer of a bench that passes replaces none of another one that does not, and a test that has run nothing
        and found nothing leaves none.
        """
        verdict = msgspec.json.encode(bench.verdict)
        passed = bench.verdict.ending is Ending.PASSED
        if verdict == self._left or (self._left is None and passed and (bench.verdict.self_checking or self._fails())):
            return
        self._left = verdict
        leave(bench, self._ops, self._request)
        if passed:
            return
        folder = Path(str(self._request.result)).parent
        (folder / FILE_NAME).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        try:
            write(Scenario(self._request.so_far.identity, bench.config.name, self._ops, 0), folder / "scenario")
        except TraceError as error:
            # A test may do what no trace can say.
            print(f"no scenario is left: {error}")

    def _fails(self) -> bool:
        """Return whether another bench of the test has left an answer that is a failure."""
        path = Path(str(self._request.result))
        return path.is_file() and Result.load(path).ending is not Ending.PASSED

    def _is_new(self, op: MemInit | MemLoad) -> bool:
        image = self._memories[op.ram]
        allocation = image.allocation_at(op.address)
        return allocation is not None and (op.ram, allocation.address) not in self._known


def _accesses(accesses: Iterable[Access]) -> Iterator[tuple[int, str]]:
    for access in accesses:
        name = f"{access.address:#x}" if access.register is None else access.register.full_name
        kind = "write" if access.is_write else "read "
        yield access.cycle or 0, f"CSB {kind} {name} {access.value:#010x}"


def _beats(part: Beats) -> Iterator[tuple[int, str]]:
    columns = (part.cycle.tolist(), part.address.tolist(), part.axi_id.tolist(), part.data, part.strobe)
    for at, address, axi_id, data, strobe in zip(*columns, strict=True):
        lanes = " ".join(f"{byte:02x}" if lane else "--" for byte, lane in zip(data, strobe, strict=True))
        yield at, f"{part.ram.name} write {address:#x} {lanes} id {axi_id}"
