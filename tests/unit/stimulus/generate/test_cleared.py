"""``groups_cleared_*``: a register that keeps an old value, or one of the other group, changes what a layer writes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.nvdla.samples import SMALL

SHOWN = {
    "sdp": [
        *("SDP.D_CVT_OFFSET", "SDP.D_CVT_SCALE", "SDP.D_CVT_SHIFT", "SDP_RDMA.D_BRDMA_CFG", "SDP_RDMA.D_NRDMA_CFG"),
        *(f"SDP.D_DP_{x}_{op}_{what}" for x in ("BS", "BN") for op in ("ALU", "MUL") for what in ("CFG", "SRC_VALUE")),
    ],
    "pdp": [
        *("PDP.D_POOLING_PADDING_CFG", "PDP.D_POOLING_KERNEL_CFG", "PDP_RDMA.D_OPERATION_MODE_CFG"),
        *(f"PDP.D_POOLING_PADDING_VALUE_{number}_CFG" for number in range(1, 8)),
    ],
    "cdp": [
        *("CDP.D_DATIN_OFFSET", "CDP.D_DATIN_SCALE", "CDP.D_DATIN_SHIFTER", "CDP.D_FUNC_BYPASS", "CDP.D_LRN_CFG"),
        *("CDP.D_DATOUT_OFFSET", "CDP.D_DATOUT_SCALE", "CDP.D_DATOUT_SHIFTER"),
    ],
    "conv": [
        *("CDMA.D_CONV_STRIDE", "CDMA.D_CVT_CFG", "CDMA.D_CVT_OFFSET", "CDMA.D_CVT_SCALE", "CDMA.D_ZERO_PADDING_VALUE"),
        *("CSC.D_CONV_STRIDE_EXT", "CSC.D_DILATION_EXT", "CSC.D_ZERO_PADDING_VALUE", "CACC.D_CLIP_CFG"),
        *("SDP.D_CVT_OFFSET", "SDP.D_CVT_SCALE", "SDP.D_CVT_SHIFT"),
    ],
    "images": [
        *("CDMA.D_MEAN_GLOBAL_0", "CDMA.D_MEAN_GLOBAL_1", "CDMA.D_PIXEL_OFFSET", "CDMA.D_CVT_CFG", "CDMA.D_CVT_SCALE"),
        *("CDMA.D_ZERO_PADDING", "CDMA.D_ZERO_PADDING_VALUE", "CSC.D_ZERO_PADDING", "CSC.D_ZERO_PADDING_VALUE"),
        *("CDMA.D_CONV_STRIDE", "CSC.D_CONV_STRIDE_EXT", "CACC.D_CLIP_CFG"),
    ],
}
"""By engine, registers of which 0 or 1 is written after other values."""


def results(scenario: Scenario) -> list[bytes] | None:
    """Return what the layers of a scenario should write, None when one is refused."""
    played = play_model(scenario, SMALL)
    return None if played.verdict.refused else [layer.data.tobytes() for layer in played.expectations]


@pytest.mark.parametrize("engine", SHOWN)
def test_a_register_that_is_not_cleared_shows(engine: str) -> None:
    (entry,) = (one for one in load_plan(PLANS / "nv_small_registers.toml") if one.name == f"groups_cleared_{engine}")
    scenario = entry.build(SMALL, 1)
    right = results(scenario)
    assert right is not None
    held: dict[str, set[int]] = {}
    shows: set[str] = set()
    for number, op in enumerate(scenario.ops):
        if not isinstance(op, RegWrite) or op.register not in SHOWN[engine]:
            continue
        before = held.setdefault(op.register, set())
        for old in before - {op.value} if op.value in (0, 1) else ():
            stale = [*scenario.ops[:number], replace(op, value=old), *scenario.ops[number + 1 :]]
            if results(replace(scenario, ops=tuple(stale))) != right:
                shows.add(op.register)
        before.add(op.value)
    assert sorted(shows) == sorted(SHOWN[engine])
