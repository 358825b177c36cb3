"""The first bad hand-over inside the embedded device is that of the unit with the bug."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.cli.main import main
from nvdla_tb.explain.page import FILE_NAME as PAGE_FILE
from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec
from nvdla_tb.run.inside import watched
from nvdla_tb.run.jobs import Job, run_job
from tests.sim.conftest import job_of, needs_icarus, planned, setup_of

CONFIG = HwConfig.load("nv_small")
STAGES = HDL / "handovers" / "nv_small_embedded.toml"


def failing(scenario: str, bug: str) -> Job:
    """Return the job of a scenario of the plan with a seeded bug."""
    return job_of(planned(scenario), f"+bug={bug}")


DEBUG = pytest.param(BuildSpec(CONFIG, "icarus", debug=True), id="icarus", marks=needs_icarus)
NATIVE = pytest.param(BuildSpec(CONFIG, backend="native"), id="native")


@pytest.mark.parametrize("spec", [DEBUG, NATIVE])
def test_each_hand_over_of_a_convolution_is_seen_on_either_simulator(spec: BuildSpec, tmp_path: Path) -> None:
    first_bad_stage_is(spec, tmp_path, "conv_1x1_full_atoms", "conv_truncate", "CACC to SDP", "CMAC to CACC")


@pytest.mark.parametrize(
    ("scenario", "bug", "bad", "right"),
    [
        ("conv_input_converter", "conv_src_line_stride", "CDMA to buffer", None),
        ("conv_3x3_partial_groups", "conv_window_one_line_down", "CSC data to CMAC", "CDMA to buffer"),
        ("conv_strides_and_padding", "conv_pad_value_ignored", "CSC data to CMAC", "CSC weights to CMAC"),
        ("conv_3x3_partial_groups", "conv_data_unsigned", "CMAC to CACC", "CSC data to CMAC"),
        ("sdp_x1_bias_per_channel", "sdp_src_base", "input of SDP", None),
        ("sdp_x1_bias_per_channel", "sdp_dst_base", "SDP to memory", "input of SDP"),
    ],
)
def test_the_first_bad_stage_is_that_of_the_bug(
    tmp_path: Path, scenario: str, bug: str, bad: str, right: str | None
) -> None:
    first_bad_stage_is(BuildSpec(CONFIG, backend="native"), tmp_path, scenario, bug, bad, right)


def first_bad_stage_is(spec: BuildSpec, folder: Path, scenario: str, bug: str, bad: str, right: str | None) -> None:
    """Play a scenario with a seeded bug, and require the stage that is called bad, and one that is not."""
    job = replace(failing(scenario, bug), stages=STAGES)
    result = run_job(job, setup_of(build(spec)), folder)
    assert result.explained is not None
    lines = [line.strip() for line in result.explained.watched_lines]
    assert f"first bad stage: {bad}" in lines
    assert any(line.startswith(f"{bad}: first wrong ") for line in lines)
    assert result.explained.view is not None
    shown = result.explained.view.handovers
    assert bad == list(shown)[-1]
    assert len(shown) == (1 if right is None else 2)
    assert all(re.fullmatch(r"dut\.\w+(\.\w+)*(\[\d+:0\])?", signal) for signal in shown[bad])
    assert any(signal.endswith(":0]") for signal in shown[bad]), shown
    if right is not None:
        assert any(line.startswith(f"{right}: ") and line.endswith(" beats, all right") for line in lines)


@pytest.mark.parametrize(
    ("bug", "unit"),
    [("conv_window_one_line_down", "CBUF or CSC"), ("conv_data_unsigned", "CMAC"), ("conv_truncate", "CACC")],
)
def test_a_failure_is_played_again_on_the_same_model_to_name_the_unit(tmp_path: Path, bug: str, unit: str) -> None:
    setup = setup_of(build(BuildSpec(CONFIG, backend="native")))
    job = failing("conv_3x3_partial_groups", bug)
    result = run_job(job, setup, tmp_path)
    assert result.explained is not None
    assert not result.explained.was_watched
    page = (tmp_path / PAGE_FILE).read_text(encoding="utf-8")
    assert "first bad stage" not in page
    (tmp_path / "waves.fst").touch()
    again = watched(job, result, setup, tmp_path)
    assert again.explained is not None
    assert again.explained.view is not None
    last = list(again.explained.view.handovers)[-1]
    assert f"\n@800200\n-{last}\n@" in (tmp_path / "waves.gtkw").read_text(encoding="utf-8")
    page = (tmp_path / PAGE_FILE).read_text(encoding="utf-8")
    assert f"nvdla-tb explain {tmp_path}<" in page, "the folder of the run that was watched is gone"
    assert main(["explain", str(tmp_path)]) == 1
    assert again.explained.located
    cause, told = again.explained.units
    assert cause == result.explained.units[0]
    assert told.text.startswith(f"{unit}: the first bad hand-over, ")
    assert again.verdict == result.verdict
    before, after = ([layer.headline for layer in found.explained.layers] for found in (result, again))
    assert before == after
    assert "first bad stage" in (tmp_path / PAGE_FILE).read_text(encoding="utf-8")
    assert not (tmp_path / "inside").exists()


def test_a_register_that_holds_what_nobody_wrote_points_at_csb_and_its_unit(tmp_path: Path) -> None:
    setup = setup_of(build(BuildSpec(CONFIG, backend="native")))
    job = replace(failing("conv_strides_and_padding", "regs_bits_joined"), stages=STAGES)
    result = run_job(job, setup, tmp_path)
    assert result.explained is not None
    said = result.explained.units[-1].text
    assert re.fullmatch(
        r"CSB or \w+: \w+\.D_\w+ of group [01] holds 0x\w+, and 0x\w+ was written(, and \d+ more)?", said
    )


def test_rtl_without_the_names_leaves_a_failure_as_it_is(tmp_path: Path) -> None:
    setup = setup_of(build(BuildSpec(CONFIG, filelist=HDL / "nv_small.f", backend="native")))
    job = failing("conv_3x3_partial_groups", "conv_truncate")
    result = run_job(job, setup, tmp_path)
    assert watched(job, result, setup, tmp_path) is result


def test_the_memory_port_and_bits_of_a_signal_are_seen_in_a_native_model(tmp_path: Path) -> None:
    stages = tmp_path / "stages.toml"
    stages.write_text(
        '[[stage]]\nname = "SDP to memory"\nunit = "SDP"\nengines = ["SDP"]\nvalue = "written"\nis_pin = true\n'
        'valid = "nvdla_core2dbb_aw_awvalid"\nready = "nvdla_core2dbb_aw_awready"\n'
        'data = "nvdla_core2dbb_aw_awaddr[7:0]"\naddress = "nvdla_core2dbb_aw_awaddr"\n',
        encoding="utf-8",
    )
    setup = setup_of(build(BuildSpec(CONFIG, backend="native")))
    result = run_job(
        replace(failing("sdp_x1_bias_per_channel", "sdp_dst_base"), stages=stages), setup, tmp_path / "run"
    )
    assert result.explained is not None
    (line,) = (line for line in result.explained.watched_lines if "SDP to memory: first wrong" in line)
    assert "got " in line or "the layer writes nothing there" in line
