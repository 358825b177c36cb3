"""Plays a scenario without a simulator: the reference model takes the place of the DUT.

Register writes start layers, as the judge sees it; each is predicted and written to memory at once, as by a
DUT that is infinitely fast. Golden results are then compared with that memory, and expected values of registers with
what software has written there; a register that hardware changes is not predicted, and counted as unchecked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import LineNeverRises, Note, PollNeverHolds, WrongRegister
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.golden import GoldenBoard
from nvdla_tb.judge.judge import Access, Judge
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.program.ops import (
    Comparison,
    InterruptNotify,
    LineWait,
    MemInit,
    MemLoad,
    Poll,
    RegRead,
    RegWrite,
)
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.registers import INTR_STATUS, Register, RegisterMap
from nvdla_tb.stimulus.dumps import Dumps
from nvdla_tb.stimulus.model_line import ModelLine
from nvdla_tb.stimulus.player import InstantPlayer, Stalled
from nvdla_tb.stimulus.scenario import Scenario, ScenarioError, apply_memory_op, empty_memories

_MOVES = ("S_STATUS", "S_POINTER", "D_OP_ENABLE")
"""Registers that show how far the layers of a unit are."""


@dataclass(frozen=True)
class Played:
    """A verdict, and what each layer was predicted to write, in their order."""

    verdict: Verdict
    expectations: tuple[Expectation, ...] = ()


def play_model(scenario: Scenario, config: HwConfig, dumps: Path | None = None) -> Played:
    """Play a scenario on the reference model alone.

    Golden bytes of FP16 surfaces are judged by the published thresholds, unless the scenario asks for
    exactness.

    Args:
        scenario: Memory contents, program and golden results.
        config: The configuration it is written for.
        dumps: Folder for what memory holds at each golden result and at the end, None to keep nothing of it.

    Returns:
        The verdict; it is refused when a layer is not modelled, and fails when no golden result covers a
        byte that a layer writes.
    """
    model = _Model(scenario, config, dumps)
    try:
        model.play()
    except (Refused, _StuckError):
        # The judge has put the reason into the verdict.
        pass
    except ScenarioError as error:
        model.judge.report(Check.PROGRAM, Note(str(error)))
    if model.dumps is not None:
        model.dumps.at_end()
    return Played(model.judge.finish(), tuple(model.board.expectations))


class _StuckError(Exception):
    """A poll or a wait for the line that never ends: nothing after it is played."""


class _Model:
    """Carries out the steps of a program, as a DUT that ends each layer as it starts."""

    def __init__(self, scenario: Scenario, config: HwConfig, dumps: Path | None) -> None:
        self._memories = empty_memories(config)
        self.dumps = None if dumps is None else Dumps(dumps, self._memories)
        self.board = GoldenBoard(self._memories, exact=scenario.settings.exact)
        self.judge = Judge(
            config,
            self.board,
            lambda ram, *where: self._memories[ram].read_array(*where),
            unmapped_accesses=scenario.settings.unmapped_accesses == "error",
        )
        self.judge.watchers.append(self)
        self._registers = RegisterMap.of(config)
        self._player = InstantPlayer(scenario.ops)
        self._used: set[str] = set()
        # Otherwise the bench serves the line, and what the program reads of it depends on when.
        self._line = None if scenario.settings.serve_interrupts else ModelLine()
        self._goes_on = scenario.settings.continue_on_fail

    def play(self) -> None:
        """Play to the end.

        Raises:
            Refused: when a layer is illegal or not modelled.
            _StuckError: at a poll or a wait for the line that never ends.
            ScenarioError: for a wait or a check that nothing ends.
        """
        for step in self._player.steps():
            match step:
                case RegWrite() | RegRead() | Poll():
                    self._access(step)
                case MemInit() | MemLoad():
                    apply_memory_op(self._memories, step)
                case InterruptNotify():
                    self.judge.done(step.unit, step.group)
                case LineWait():
                    self._await_line()
                case Stalled():
                    raise step.error()
                case check:
                    if self.dumps is not None:
                        self.dumps.at_check(check)
                    self.board.check(check)
        self._player.end()

    def started(self, layer: StartedLayer, expectation: Expectation, cycle: int | None) -> None:
        """Raise the interrupts of a layer: it ends as it starts."""
        del expectation, cycle
        interrupts = self.judge.tracker.interrupts_of(layer)
        self._player.fire(interrupts)
        if self._line is not None:
            self._line.owe(interrupts)

    def ended(self, layer: StartedLayer, cycle: int | None) -> None:
        """Do nothing: what follows the end waits for its interrupt."""

    def _access(self, op: RegWrite | RegRead | Poll) -> None:
        register = self._registers.parse(op.register)
        address = self._registers.address(register)
        if not register.is_mapped:
            value = op.value if isinstance(op, RegWrite) else 0
            self.judge.csb(Access(None, address, value, is_write=isinstance(op, RegWrite)))
            self.judge.verdict.unchecked += isinstance(op, RegRead) and op.expected is not None
            return
        match op:
            case RegWrite():
                if register.name == "D_OP_ENABLE":
                    self._used.add(register.unit)
                self.judge.csb(Access(register, address, op.value, is_write=True))
                if self._line is not None:
                    self._line.write(register, op.value)
            case RegRead() | Poll():
                if op.register == INTR_STATUS:
                    for started in self.judge.tracker.running:
                        self.judge.done(started.layer.unit, started.group)
                elif op.register == "BDMA.STATUS" or register.name == "S_STATUS":
                    self.judge.csb(Access(register, address, 0, is_write=False))
                if isinstance(op, Poll):
                    self._poll(op, register)
                elif op.expected is not None:
                    self._compare(op, op.expected, register, address)

    def _compare(self, op: RegRead, expected: int, register: Register, address: int) -> None:
        """Compare what a read expects with what software has written, or with what the layer that ran last counts."""
        verdict = self.judge.verdict
        word = self.judge.tracker.state.read(register)
        if word is None:
            counters = verdict.counters
            self.judge.csb(Access(register, address, expected, is_write=False))
            verdict.unchecked += verdict.counters == counters
            return
        verdict.registers += 1
        if word != expected:
            self.judge.report(Check.REGISTER, WrongRegister.of(register, expected, word))

    def _poll(self, op: Poll, register: Register) -> None:
        """Find a poll that cannot hold.

        Raises:
            _StuckError: then, as nothing after it is played, unless the program goes on.
        """
        got, holds = self._polled(op, register)
        if holds:
            self.judge.verdict.registers += 1
        elif got is None or (register.name in _MOVES and register.unit in self._used):
            # It may have held while a layer ran.
            self.judge.verdict.unchecked += 1
        else:
            self.judge.report(Check.HANG, PollNeverHolds(op.subject, op.comparison.value, op.value, got))
            if not self._goes_on:
                raise _StuckError

    def _polled(self, op: Poll, register: Register) -> tuple[int | None, bool]:
        """Return what a poll compares, None where that is not known, and whether it holds."""
        if self._line is not None and op.register == INTR_STATUS and op.comparison is Comparison.EQUAL:
            field = None if op.field is None else register.field(op.field)
            mask, shift = (op.mask, 0) if field is None else (field.mask, field.lsb)
            holds = self._line.read(register.readable if mask is None else mask, op.value << shift)
            return op.taken(self._line.status, register), holds
        word = self.judge.tracker.state.read(register)
        got = None if word is None else op.taken(word, register)
        return got, got is not None and op.comparison.holds(got, op.value)

    def _await_line(self) -> None:
        """Find a wait for the interrupt line that cannot end.

        Raises:
            _StuckError: then.
        """
        if self._line is None or self._line.can_rise:
            return
        self.judge.report(Check.HANG, LineNeverRises())
        raise _StuckError
