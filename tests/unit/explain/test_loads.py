"""Data that a program loads between layers are those of the layers behind them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nvdla_tb.explain.loads import with_loads
from nvdla_tb.explain.memory import Bytes
from nvdla_tb.explain.seen import Seen
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import MemLoad, Op, RegWrite
from tests.unit.explain import cases
from tests.unit.explain.test_runs import elsewhere

FIRST, SECOND = cases.memory_for(2), cases.memory_for(3)
COPY = cases.copy_layer()
LAYERS = (COPY, elsewhere(COPY, 0x2000), elsewhere(cases.pdp_layer(), 0x4000))
SDP, PDP = RegWrite("SDP.D_OP_ENABLE", 1), RegWrite("PDP.D_OP_ENABLE", 1)


def load(memory: Bytes) -> MemLoad:
    return MemLoad(Ram.MC, cases.BASE, ((0, memory.data.tobytes()),), "all.dat")


def run(*memories: Bytes) -> Seen:
    """Return a run of as many layers, each of which finds one memory and is right."""
    expectations = [
        cases.predicted(layer, memory, n) for n, (layer, memory) in enumerate(zip(LAYERS, memories, strict=False))
    ]
    return Seen.of(cases.scored((one, cases.beats_of(cases.result(one))) for one in expectations))


def found(seen: Seen, ops: Sequence[Op]) -> list[bytes]:
    """Return what the input of each layer holds, as it is told of the program."""
    seen, initial = with_loads(seen, ops)
    assert len(list(seen.every(initial))) == len(seen.layers)
    return [evidence.memory.read(cases.SRC, 64).data.tobytes() for evidence in seen.every(initial)]


def inputs(*memories: Bytes) -> list[bytes]:
    return [memory.read(cases.SRC, 64).data.tobytes() for memory in memories]


def test_a_layer_finds_what_was_loaded_before_it() -> None:
    assert inputs(FIRST) != inputs(SECOND)
    program = (load(FIRST), SDP, load(SECOND), SDP, PDP)
    assert found(run(FIRST, SECOND, SECOND), program) == inputs(FIRST, SECOND, SECOND)
    late = (load(FIRST), SDP, SDP, load(SECOND), PDP)
    assert found(run(FIRST, FIRST, SECOND), late) == inputs(FIRST, FIRST, SECOND)
    assert found(run(FIRST, FIRST, FIRST), (load(FIRST), SDP, SDP, PDP, load(SECOND))) == inputs(FIRST, FIRST, FIRST)


@pytest.mark.parametrize("program", [(SDP, SDP), (SDP, PDP), ()])
def test_without_an_enable_of_each_layer_all_was_loaded_before(program: tuple[Op, ...]) -> None:
    ops = (load(FIRST), *program[:1], load(SECOND), *program[1:])
    assert found(run(SECOND, SECOND, SECOND), ops) == inputs(SECOND, SECOND, SECOND)
