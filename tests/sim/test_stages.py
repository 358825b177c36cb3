"""The first bad hand-over inside the embedded device is that of the unit with the bug."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.places import PLANS, ROOT
from tb.run.compile.build import build
from tb.run.compile.spec import BuildSpec, Built
from tb.run.dut import Dut
from tb.run.jobs import Job, Setup, run_job
from tb.stimulus.generate.plan import load_plan
from tests.sim.conftest import needs_icarus

pytestmark = needs_icarus

CONFIG = HwConfig.load("nv_small")
STAGES = ROOT / "hdl_stubs" / "stages.toml"


@pytest.fixture(scope="module")
def debug_model() -> Built:
    """Return a model of the embedded DUT whose signals are visible."""
    return build(BuildSpec(CONFIG, "icarus", debug=True))


@pytest.mark.parametrize(
    ("scenario", "bug", "bad", "right"),
    [
        ("conv_input_converter", "conv_src_line_stride", "CDMA to buffer", None),
        ("conv_3x3_partial_groups", "conv_window_one_line_down", "CSC data to CMAC", "CDMA to buffer"),
        ("conv_strides_and_padding", "conv_pad_value_ignored", "CSC data to CMAC", "CSC weights to CMAC"),
        ("conv_3x3_partial_groups", "conv_data_unsigned", "CMAC to CACC", "CSC data to CMAC"),
        ("conv_1x1_full_atoms", "conv_truncate", "CACC to SDP", "CMAC to CACC"),
        ("sdp_x1_bias_per_channel", "sdp_src_base", "input of SDP", None),
        ("sdp_x1_bias_per_channel", "sdp_dst_base", "SDP to memory", "input of SDP"),
    ],
)
def test_the_first_bad_stage_is_that_of_the_bug(
    debug_model: Built, tmp_path: Path, scenario: str, bug: str, bad: str, right: str | None
) -> None:
    (entry,) = [entry for entry in load_plan(PLANS / "nv_small.toml") if entry.name == scenario]
    job = Job(
        scenario,
        1,
        "rerun",
        partial(entry.build, CONFIG, 1),
        plusargs=(f"+bug={bug}",),
        stages=STAGES,
    )
    result = run_job(job, Setup(debug_model, Dut("nv_small", "icarus", debug=True), 120.0), tmp_path)
    assert result.explained is not None
    lines = [line.strip() for line in result.explained.lines]
    assert f"first bad stage: {bad}" in lines
    assert any(line.startswith(f"{bad}: first wrong ") for line in lines)
    if right is not None:
        assert any(line.startswith(f"{right}: ") and line.endswith(" beats, all right") for line in lines)
