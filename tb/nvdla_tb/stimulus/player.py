"""The order in which a program is played, for a simulation and for the model alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nvdla_tb.nvdla.program import ops
from nvdla_tb.stimulus.scenario import ScenarioError

RegisterOp = ops.RegWrite | ops.RegRead | ops.Poll


@dataclass(frozen=True)
class Accesses:
    """Register accesses that follow each other."""

    ops: tuple[RegisterOp, ...]


@dataclass(frozen=True)
class Stalled:
    """Nothing more can be played until a sync id is raised.

    Attributes:
        first: the first wait that holds.
        progressed: whether anything was played since it stalled last.
    """

    first: ops.SyncWait
    progressed: bool

    def error(self) -> ScenarioError:
        """Return the error of a wait that nothing ends."""
        return ScenarioError(f"{self.first.target} waits for sync id {self.first.sync_id}, which nothing raises")


Step = Accesses | ops.MemInit | ops.MemLoad | ops.InterruptNotify | ops.SyncNotify | ops.LineWait | Stalled


class Player:
    """Decides what of a program is played next; who takes the steps carries them out.

    ::

        player = Player(program)
        for step in player.steps():
            ...                             # carry it out
            for check in player.raises("layer_0"):
                ...                         # golden results that are due now

    Operations go out in file order; ``SyncWait`` holds back only those of its own target. A step is taken when all
    before it were carried out, so that a sync id which they raise counts.
    """

    def __init__(self, program: ops.Program) -> None:
        """Take the program; its checks are due when their sync id is raised."""
        self._raised: set[str] = set()
        self._checks: dict[str, list[ops.CheckOp]] = defaultdict(list)
        self._rest: list[ops.Op] = []
        for op in program:
            if isinstance(op, ops.CheckOp):
                self._checks[op.sync_id].append(op)
            else:
                self._rest.append(op)

    def steps(self) -> Iterator[Step]:
        """Yield steps in order; ends when everything but checks was played."""
        while self._rest:
            held: list[ops.Op] = []
            yield from self._pass_over(held)
            progressed = len(held) < len(self._rest)
            self._rest = held
            if held:
                yield Stalled(next(op for op in held if isinstance(op, ops.SyncWait)), progressed)

    def raises(self, sync_id: str) -> list[ops.CheckOp]:
        """Take note that a sync id is raised, and return the checks that are due."""
        self._raised.add(sync_id)
        return self._checks[sync_id]

    def end(self) -> None:
        """Make sure that every check was due.

        Raises:
            ScenarioError: for a check whose sync id was never raised.
        """
        missing = sorted(set(self._checks) - self._raised)
        if missing:
            raise ScenarioError(f"check waits for sync id {missing[0]}, which nothing raises")

    def _pass_over(self, held: list[ops.Op]) -> Iterator[Step]:
        """Yield operations that can be played now, and collect those that have to wait."""
        blocked: set[str] = set()
        batch: list[RegisterOp] = []
        for op in self._rest:
            if ops.target_of(op) in blocked:
                held.append(op)
                continue
            if isinstance(op, ops.RegWrite | ops.RegRead | ops.Poll):
                batch.append(op)
                continue
            # What was raised by now depends on the accesses before.
            if batch:
                yield Accesses(tuple(batch))
                batch = []
            match op:
                case ops.SyncWait():
                    if op.sync_id not in self._raised:
                        blocked.add(op.target)
                        held.append(op)
                case ops.MemInit() | ops.MemLoad() | ops.InterruptNotify() | ops.SyncNotify() | ops.LineWait():
                    yield op
                case _:
                    raise TypeError(f"{type(op).__name__} is no operation of a player")
        if batch:
            yield Accesses(tuple(batch))


InstantStep = RegisterOp | ops.MemInit | ops.MemLoad | ops.LineWait | ops.InterruptNotify | ops.CheckOp | Stalled


class InstantPlayer:
    """Decides what of a program is played next where a layer ends as it starts.

    A step is an access or an operation of memory, a wait for the line, a notification whose interrupt has fired, a
    check that is due, or, as the last one, a wait that nothing ends.
    """

    def __init__(self, program: ops.Program) -> None:
        """Take the program."""
        self._player = Player(program)
        self._waiting: list[ops.InterruptNotify] = []
        self._fired: Counter[tuple[str, int]] = Counter()

    def fire(self, interrupts: Iterable[tuple[str, int]]) -> None:
        """Count interrupts, as (unit, group), which the step that was taken last has raised."""
        self._fired.update(interrupts)

    def steps(self) -> Iterator[InstantStep]:
        """Yield steps in order."""
        for step in self._player.steps():
            match step:
                case Accesses():
                    for op in step.ops:
                        yield op
                        yield from self._due()
                case Stalled():
                    if not step.progressed:
                        yield step
                        return
                case ops.InterruptNotify():
                    self._waiting.append(step)
                case ops.SyncNotify():
                    yield from self._player.raises(step.sync_id)
                case ops.MemInit() | ops.MemLoad() | ops.LineWait():
                    yield step
            yield from self._due()

    def end(self) -> None:
        """Make sure that every interrupt has fired and every check was due.

        Raises:
            ScenarioError: for one that was not.
        """
        for waiting in self._waiting:
            raise ScenarioError(f"sync id {waiting.sync_id} waits for {waiting.unit}_{waiting.group}, which never ends")
        self._player.end()

    def _due(self) -> Iterator[InstantStep]:
        """Yield notifications whose interrupt has fired, each once for one interrupt, with the checks after it."""
        for notify in tuple(self._waiting):
            if self._fired[notify.unit, notify.group]:
                self._fired[notify.unit, notify.group] -= 1
                self._waiting.remove(notify)
                yield notify
                yield from self._player.raises(notify.sync_id)


def unraised(program: ops.Program) -> tuple[int, str] | None:
    """Return the place of the first check or wait for a ``sync_id`` that nothing raises, and what is wrong with it."""
    raised = {op.sync_id for op in program if isinstance(op, ops.InterruptNotify | ops.SyncNotify)}
    for index, op in enumerate(program):
        if isinstance(op, ops.SyncWait | ops.CheckOp) and op.sync_id not in raised:
            return index, f"nothing raises sync_id {op.sync_id}; raised: {', '.join(sorted(raised)) or 'none'}"
    return None
