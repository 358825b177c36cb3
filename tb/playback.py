"""Plays a scenario without a simulator: the reference model takes the place of the DUT.

Register writes start layers, as the tracker sees it; each is predicted and written to memory at once, as by a
DUT that is infinitely fast. Golden results are then compared with that memory.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from models.config import HwConfig
from tb.counters import CounterBoard
from tb.memory import MemoryImage, Ram
from tb.predictor import Expectation, predict
from tb.program.ops import (
    CheckCrc,
    CheckFile,
    CheckNothing,
    CheckOp,
    InterruptNotify,
    MemInit,
    MemLoad,
    Op,
    Poll,
    Program,
    RegRead,
    RegWrite,
    SyncNotify,
    SyncWait,
)
from tb.program.order import in_play_order
from tb.program.table import Refused
from tb.scenario import Scenario, ScenarioError, apply_memory_op
from tb.tolerated import ToleratedSurface
from tb.tracker import LayerTracker, StartedLayer
from tb.verdict import Kind, Mismatch, Verdict


@dataclass
class Played:
    """What came of a scenario.

    Attributes:
        verdict: what was judged and what is wrong.
        expectations: what each layer was predicted to write, in their order.
        differing_bytes: golden bytes that the bit-accurate model does not reproduce, tolerated or not.
        counters: statistics counters that were compared.
    """

    verdict: Verdict = field(default_factory=Verdict)
    expectations: list[Expectation] = field(default_factory=list)
    differing_bytes: int = 0
    counters: int = 0


def play_model(scenario: Scenario, config: HwConfig) -> Played:
    """Play a scenario on the reference model alone.

    Golden bytes of FP16 surfaces are judged by the published thresholds, unless the scenario asks for
    exactness.

    Args:
        scenario: Memory contents, program and golden results.
        config: The configuration it is written for.

    Returns:
        The verdict; it is refused when a layer is not modelled, and fails when no golden result covers a
        byte that a layer writes.
    """
    player = _Player(config, scenario.settings.exact)
    try:
        player.play(scenario.ops)
    except Refused as error:
        player.played.verdict.refused = str(error)
    except ScenarioError as error:
        player.played.verdict.problems.append(str(error))
    return player.played


class _Player:
    """Plays one program; golden results are compared as soon as their ``sync_id`` is raised."""

    def __init__(self, config: HwConfig, exact: bool) -> None:
        rams = (Ram.MC, Ram.CVSRAM) if config.secondary_memif_enable else (Ram.MC,)
        self.played = Played()
        self._exact = exact
        self._memories = {ram: MemoryImage(limit=1 << config.memif_address_width_bits) for ram in rams}
        self._tracker = LayerTracker(config)
        self._counters = CounterBoard()
        self._interrupts: Counter[tuple[str, int]] = Counter()
        self._notifications: list[InterruptNotify] = []
        self._raised: set[str] = set()
        self._checks: dict[str, list[CheckOp]] = defaultdict(list)

    def play(self, program: Program) -> None:
        """Play to the end.

        Raises:
            Refused: when a layer is illegal or not modelled.
            ScenarioError: for a wait or a check that nothing ends.
        """
        for op in program:
            if isinstance(op, CheckCrc | CheckFile | CheckNothing):
                self._checks[op.sync_id].append(op)
        waits = [op for op in program if isinstance(op, SyncWait)]
        for op in in_play_order(program, self._raised):
            self._execute(op)
        for wait in waits:
            if wait.sync_id not in self._raised:
                raise ScenarioError(f"{wait.target} waits for sync id {wait.sync_id}, which nothing raises")
        for waiting in self._notifications:
            raise ScenarioError(f"sync id {waiting.sync_id} waits for {waiting.unit}_{waiting.group}, which never ends")
        missing = sorted(set(self._checks) - self._raised)
        if missing:
            raise ScenarioError(f"check waits for sync id {missing[0]}, which nothing raises")

    def _execute(self, op: Op) -> None:
        match op:
            case RegWrite():
                register = self._tracker.state.registers.parse(op.register)
                for started in self._tracker.write(register, op.value):
                    self._run(started)
            case MemInit() | MemLoad():
                apply_memory_op(self._memories, op)
            case InterruptNotify():
                self._notifications.append(op)
            case SyncNotify():
                self._raise(op.sync_id)
            case RegRead():
                self._see_idle(op.register)
                self._read_counter(op)
            case Poll():
                self._see_idle(op.register)
        self._notify()

    def _run(self, started: StartedLayer) -> None:
        expectation = predict(started, lambda ram, address, nbytes: self._memories[ram].read_array(address, nbytes))
        self.played.expectations.append(expectation)
        self._verdict.layers += 1
        image = self._memories[expectation.ram]
        untouched = image.read_array(expectation.address, len(expectation.data))
        image.write(expectation.address, np.where(expectation.must_write, expectation.data, untouched))
        self._interrupts.update(self._tracker.interrupts_of(started))
        self._counters.start(started, expectation.counts)
        self._counters.end(started.index)

    def _read_counter(self, op: RegRead) -> None:
        """Compare what a counter read on the hardware with the counts of the layer that ran last."""
        unit, _, register = op.register.partition(".")
        if op.expected is not None:
            group = self._tracker.state.producer(unit)
            complaint = self._counters.check(unit, register, group, op.expected)
            self._verdict.problems += [] if complaint is None else [complaint]
            self.played.counters = self._counters.judged

    def _notify(self) -> None:
        for notification in list(self._notifications):
            event = notification.unit, notification.group
            if self._interrupts[event]:
                self._interrupts[event] -= 1
                self._notifications.remove(notification)
                self._tracker.finish(*event)
                self._raise(notification.sync_id)

    def _see_idle(self, name: str) -> None:
        """End what software can see to have ended in a register."""
        if name == "GLB.S_INTR_STATUS":
            for started in self._tracker.running:
                self._tracker.finish(started.layer.unit, started.group)
        elif name == "BDMA.STATUS" or name.endswith(".S_STATUS"):
            self._tracker.read(self._tracker.state.registers.parse(name), 0)

    def _raise(self, sync_id: str) -> None:
        self._raised.add(sync_id)
        for check in self._checks[sync_id]:
            self._check(check)

    def _check(self, check: CheckOp) -> None:
        match check:
            case CheckCrc():
                self._count_predicted(check.ram, check.address, check.nbytes)
                crc = zlib.crc32(self._memories[check.ram].read(check.address, check.nbytes))
                if crc == check.crc:
                    self._verdict.crc_passed += 1
                    return
                self._verdict.crc_failed += 1
                self._verdict.problems.append(
                    f"CRC-32 of {check.address:#x} + {check.nbytes:#x} must be {check.crc:#010x}, not {crc:#010x}"
                )
            case CheckFile():
                same = [self._compare(check, offset, data) for offset, data in check.chunks]
                self._verdict.crc_passed += all(same)
                self._verdict.crc_failed += not all(same)

    def _compare(self, check: CheckFile, offset: int, data: bytes) -> bool:
        """Compare golden bytes with memory; they are judged as those of the layer that wrote there last."""
        address = check.address + offset
        self._count_predicted(check.ram, address, len(data))
        golden = np.frombuffer(data, dtype=np.uint8)
        differs = self._memories[check.ram].read_array(address, len(data)) != golden
        self.played.differing_bytes += int(np.count_nonzero(differs))
        right = True
        rest = np.ones(len(data), dtype=np.bool_)
        for expectation in reversed(self.played.expectations):
            theirs, ours = _overlap(expectation, check.ram, address, len(data))
            offsets = np.flatnonzero(rest[ours] & expectation.must_write[theirs]) + theirs.start
            at = offsets + expectation.address - address
            wrong = offsets[self._judge(expectation, offsets, golden[at], differs[at])]
            if len(wrong):
                right = False
                first = int(wrong[0])
                mismatch = self._mismatch(
                    Kind.VALUE, expectation, first, int(golden[expectation.address + first - address])
                )
                elements = len(np.unique(wrong // expectation.layout.precision.nbytes))
                self._verdict.add(Kind.VALUE, len(wrong), elements, mismatch)
            rest[at] = False
        stray = np.flatnonzero(differs & rest)
        if len(stray):
            where = address + int(stray[0])
            self._verdict.problems.append(
                f"{check.file_name}: {len(stray)} bytes that no layer writes differ from memory, first at {where:#x}"
            )
        return right and not len(stray)

    def _judge(
        self,
        expectation: Expectation,
        offsets: NDArray[np.int64],
        golden: NDArray[np.uint8],
        differs: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return which golden bytes are wrong: by the tolerance where an element is there as a whole."""
        if expectation.tolerated is None or self._exact:
            return differs
        present = np.zeros(len(expectation.data), dtype=np.bool_)
        present[offsets] = True
        nbytes = expectation.layout.precision.nbytes
        whole = present.reshape(-1, nbytes).all(axis=1).repeat(nbytes)[offsets]
        surface = ToleratedSurface(expectation, expectation.tolerated)
        wrong = differs.copy()
        wrong[whole] = surface.write(offsets[whole], golden[whole])
        if surface.margin is not None:
            self._verdict.margins.append(surface.margin)
        return wrong

    @staticmethod
    def _mismatch(kind: Kind, expectation: Expectation, offset: int, got: int) -> Mismatch:
        return Mismatch(
            kind,
            layer=expectation.started.name,
            ram=expectation.ram,
            element=expectation.layout.element_at(offset),
            address=expectation.address + offset,
            expected=int(expectation.data[offset]),
            got=got,
            cycle=None,
            axi_id=None,
        )

    def _count_predicted(self, ram: Ram, address: int, nbytes: int) -> None:
        """Count the bytes of a range that some layer was predicted to write."""
        predicted = np.zeros(nbytes, dtype=np.bool_)
        for expectation in self.played.expectations:
            theirs, ours = _overlap(expectation, ram, address, nbytes)
            predicted[ours] |= expectation.must_write[theirs]
        self._verdict.judged_bytes += int(np.count_nonzero(predicted))

    @property
    def _verdict(self) -> Verdict:
        return self.played.verdict


def _overlap(expectation: Expectation, ram: Ram, address: int, nbytes: int) -> tuple[slice, slice]:
    """Return the part of an expectation that lies in a range, and the same part of the range."""
    start, stop = max(address, expectation.address), min(address + nbytes, expectation.end)
    if expectation.ram is not ram or start >= stop:
        return slice(0, 0), slice(0, 0)
    return slice(start - expectation.address, stop - expectation.address), slice(start - address, stop - address)
