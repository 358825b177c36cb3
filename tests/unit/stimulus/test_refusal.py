"""Refusals, and the configurations that take what another refuses."""

from __future__ import annotations

from dataclasses import replace

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import LineWait, Op, RegWrite
from nvdla_tb.stimulus.refusal import refusal, started_layers, with_takers
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings
from tests.unit.nvdla.samples import FULL, SMALL, small_sdp

SERVES = BenchSettings(serve_interrupts=False)


def scenario(*ops: Op) -> Scenario:
    return Scenario("t", "nv_full", ops, 0, SERVES)


def test_a_refusal_names_the_configurations_that_take_it() -> None:
    program = encode(small_sdp((32, 2, 2), config=FULL, precision=Precision.INT16), FULL, 0, "done")
    reason = refusal(tuple(program), SMALL)
    assert reason is not None
    assert with_takers(reason, SMALL, lambda config: replace(scenario(*program), config=config.name)) == (
        f"{reason}; taken by nv_full"
    )


def test_a_refusal_of_all_configurations_is_left_as_it_is() -> None:
    def never(config: HwConfig) -> Scenario:
        raise InputError(config.name)

    assert with_takers("too wide", SMALL, never) == "too wide"


def test_a_wait_for_the_line_ends_the_layers_before_it() -> None:
    layer = [op for op in encode(small_sdp(), SMALL, 0, "done") if isinstance(op, RegWrite)]
    other = [op for op in encode(small_sdp(), SMALL, 1, "done") if isinstance(op, RegWrite)]
    again = (*layer, LineWait(), *other, LineWait(), *layer)
    assert len(list(started_layers(again, SMALL))) == 3
    assert len(list(started_layers((*layer, *other, *layer), SMALL))) < 3
