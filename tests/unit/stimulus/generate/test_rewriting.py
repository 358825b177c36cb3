"""Programs that leave out registers which have their value, or write any words to all of them before."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from nvdla_tb.coverage.observe import observe
from nvdla_tb.nvdla.program.ops import RegRead, RegWrite
from nvdla_tb.nvdla.program.state import RegisterState
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.stimulus.generate.rewriting import with_other_words_before
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.refusal import refusal
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.nvdla.samples import SMALL
from tests.unit.stimulus.generate.building import entry

LAYERS = [
    {"engine": "SDP", "shape": [9, 3, 4], "x1": {"alu": "sum", "alu_operand": "channel"}},
    {"engine": "PDP", "shape": [9, 4, 4], "method": "max", "kernel": [2, 2], "stride": [2, 2]},
    {"engine": "CONV", "shape": [8, 3, 3], "kernels": 4, "kernel": [2, 2], "truncate": 4},
]


def built(**keys: Any) -> Scenario:
    return entry(*LAYERS * 3, order="back_to_back", **keys).build(SMALL, 5)


def writes(scenario: Scenario) -> Counter[str]:
    return Counter(op.register for op in scenario.ops if isinstance(op, RegWrite))


def seen(scenario: Scenario) -> list[object]:
    return [each.attributes["writes"] for each in observe(scenario, SMALL) if each.unit == "SYSTEM"]


@pytest.mark.parametrize("how", ["changed", "twice"])
def test_the_layers_stay_what_they_are(how: str) -> None:
    plain, other = (play_model(built(writes=each), SMALL) for each in ("all", how))
    assert refusal(built(writes=how).ops, SMALL) is None
    assert [each.data.tobytes() for each in other.expectations] == [each.data.tobytes() for each in plain.expectations]


def test_registers_that_have_their_value_are_left_out() -> None:
    plain, changed = writes(built()), writes(built(writes="changed"))
    assert changed["PDP.D_OP_ENABLE"] == plain["PDP.D_OP_ENABLE"] == 3
    assert changed["PDP.D_POOLING_KERNEL_CFG"] == 2, "once in each group"
    assert changed["PDP.D_DST_BASE_ADDR_LOW"] == 3, "each layer has a cube of its own"
    assert seen(built(writes="changed"))[6:] == ["changed"] * 3


def test_every_register_is_written_twice_with_other_words() -> None:
    plain, twice = writes(built()), writes(built(writes="twice"))
    grouped = [name for name in plain if ".D_" in name and not name.endswith("OP_ENABLE")]
    assert all(twice[name] >= 2 * plain[name] for name in grouped)
    assert seen(built(writes="twice")) == ["twice"] * 9
    assert seen(built())[:3] == ["all"] * 3


def test_both_groups_differ_in_every_register_while_the_first_layer_runs() -> None:
    state = RegisterState(RegisterMap.of(SMALL))
    for op in with_other_words_before(built().ops, np.random.default_rng(1)):
        if isinstance(op, RegWrite):
            register = state.registers.parse(op.register)
            if register.name == "D_OP_ENABLE":
                break
            state.write(register, op.value)
    groups = [state.words("SDP", group) for group in (0, 1)]
    wide = [name for name in groups[0] if name.startswith("D_") and groups[1][name] >> 8]
    assert len(wide) > 15
    assert all(groups[0][name] != groups[1][name] for name in wide)


def test_a_share_of_the_writes_waits_for_an_answer_and_as_many_follow_a_read() -> None:
    plain, other = built().ops, built(non_posted=0.3).ops
    ours = [op for op in other if isinstance(op, RegWrite)]
    assert [(op.register, op.value) for op in ours] == [
        (op.register, op.value) for op in plain if isinstance(op, RegWrite)
    ]
    assert 0.2 < sum(not op.posted for op in ours) / len(ours) < 0.4
    assert 0.2 < sum(isinstance(op, RegRead) for op in other) / len(ours) < 0.4
    follow = [after for op, after in pairwise(other) if isinstance(op, RegRead)]
    assert {op.posted for op in follow if isinstance(op, RegWrite)} == {True, False}
    assert all(isinstance(op, RegWrite) for op in follow)
