"""The embedded nv_full: measured and random layers pass within the published thresholds, whose edges are kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from models.config import HwConfig
from models.precision import Precision
from tb.judge.verdict import Verdict
from tb.nvdla.program.ops import RegWrite
from tb.places import ROOT
from tb.run.compile.build import build
from tb.run.compile.spec import BuildSpec, Built
from tb.run.folders import RESULTS
from tb.run.simulate import SimResult, simulate
from tb.stimulus.exchange import REQUEST, Answer, Request
from tb.stimulus.scenario import Scenario
from tb.stimulus.trace import write
from tests.sim import full_layers

LAYERS = ROOT / "tests" / "data" / "measured"
CONFIG = HwConfig.load("nv_full")
THRESHOLDS = {"CC DC": "dc_fp16", "CC Winograd": "wino_fp16", "CDP": "cdp_lrn", "PDP": "pdp_avg"}
"""Files with FP16 results that a published threshold judges, by the module that it names."""

EDGES = [
    ("dc_fp16_4x4x96_k16_comp70", "any"),
    ("wino_fp16_8x8x32_k16_exp16", "any"),
    ("cdp_lrn3_k1_mid", "absolute"),
    ("cdp_lrn3_k1_mid", "relative"),
    ("pdp_avg", "absolute"),
    ("pdp_avg", "relative"),
    ("pdp_max", "identical"),
    ("sdp_bn_batchnorm_ch_mid", "identical"),
]

LAYERS_AT_RANDOM = [
    (full_layers.images, Precision.INT8),
    (full_layers.images, Precision.INT16),
    (full_layers.images, Precision.FP16),
    (full_layers.converted_cubes, Precision.INT8),
    (full_layers.converted_cubes, Precision.INT16),
    (full_layers.winograd, Precision.INT8),
    (full_layers.winograd, Precision.INT16),
]

NOT_COMPUTED = {
    "Winograd of an image": "CSC.D_DATAIN_FORMAT=1",
    "a converter for FP16": "CDMA.D_CVT_CFG=1",
    "channel post-extension of a cube": "CSC.D_POST_Y_EXTENSION=1",
    "batches by Winograd": "CDMA.D_BATCH_NUMBER=1 CSC.D_BATCH_NUMBER=1 CACC.D_BATCH_NUMBER=1 "
    "SDP.D_FEATURE_MODE_CFG=0x105",
    "another number of cubes in CACC": "CACC.D_BATCH_NUMBER=1",
    "Winograd with a stride": "CDMA.D_CONV_STRIDE=1",
    "another precision in CMAC": "CMAC_B.D_MISC_CFG=0x1001",
    "another precision in SDP": "SDP.D_DATA_FORMAT=5",
    "INT8 out of 16 bits": "SDP.D_DATA_FORMAT=2",
}


@pytest.fixture(scope="module")
def full() -> Built:
    return build(BuildSpec(CONFIG, "verilator", backend="native"), ROOT / RESULTS)


def played(built: Built, scenario: Path, folder: Path) -> tuple[SimResult, Verdict]:
    """Play a file and return how the simulation ended and its verdict."""
    request = Request(CONFIG.name, scenario=str(scenario), result=str(folder / "result.json"))
    result = simulate(
        built,
        test_module="tb.sim.entry",
        testcase="play",
        env={REQUEST: request.encode()},
        work_dir=folder,
        timeout_seconds=300,
    )
    answer = Answer.load(folder / "result.json")
    assert answer is not None, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"
    return result, answer.verdict


def assert_passed(layer: str, result: SimResult, verdict: Verdict) -> None:
    """Require that all bytes were judged right, and the margin where a threshold applies."""
    assert not verdict.failures, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"
    assert verdict.judged_bytes > 0
    for module, prefix in THRESHOLDS.items():
        if layer.startswith(prefix):
            assert verdict.worst_margin is not None
            assert 0.0 <= verdict.worst_margin <= 1.0
            assert verdict.margins[0].module == module


@pytest.mark.parametrize("layer", sorted(path.stem for path in LAYERS.glob("*.npz")))
def test_a_measured_layer_passes_and_tells_its_margin(full: Built, tmp_path: Path, layer: str) -> None:
    result, verdict = played(full, LAYERS / f"{layer}.npz", tmp_path)
    assert_passed(layer, result, verdict)
    assert verdict.crc_passed == 1


@pytest.mark.parametrize(
    ("make", "precision"),
    LAYERS_AT_RANDOM,
    ids=[f"{make.__name__}-{precision.name.lower()}" for make, precision in LAYERS_AT_RANDOM],
)
def test_layers_that_nv_small_lacks_pass(
    full: Built, tmp_path: Path, make: Callable[[Precision, int], Scenario], precision: Precision
) -> None:
    scenario = make(precision, 1)
    write(scenario, tmp_path / "scenario")
    result, verdict = played(full, tmp_path / "scenario", tmp_path)
    assert_passed(scenario.name, result, verdict)
    enabled = [op for op in scenario.ops if isinstance(op, RegWrite) and op.register == "CACC.D_OP_ENABLE"]
    assert verdict.layers == len(enabled)


@pytest.mark.parametrize("precision", Precision, ids=lambda precision: precision.name.lower())
def test_every_cube_of_a_batch_is_what_it_is_alone(full: Built, tmp_path: Path, precision: Precision) -> None:
    scenario = full_layers.batches(precision, 1)
    write(scenario, tmp_path / "scenario")
    result, verdict = played(full, tmp_path / "scenario", tmp_path)
    assert_passed(scenario.name, result, verdict)
    assert verdict.layers == sum(full_layers.CUBES)


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed (apt-get install iverilog)")
def test_a_small_convolution_passes_under_icarus(tmp_path: Path) -> None:
    built = build(BuildSpec(CONFIG, "icarus"), ROOT / RESULTS)
    layer = "dc_fp16_4x4x128_k32_nan_collide"
    assert_passed(layer, *played(built, LAYERS / f"{layer}.npz", tmp_path))


def in_simulation(built: Built, testcase: str, layer: str, folder: Path, **env: str) -> None:
    """Run a test of full_device.py."""
    result = simulate(
        built,
        test_module="tests.sim.full_device",
        testcase=testcase,
        env={REQUEST: Request(CONFIG.name).encode(), "NVDLA_LAYER": str(LAYERS / f"{layer}.npz"), **env},
        work_dir=folder,
        timeout_seconds=300,
    )
    assert result.passed, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"


@pytest.mark.parametrize("side", ["inside", "beyond"])
@pytest.mark.parametrize(("layer", "kind"), EDGES, ids=[f"{layer}-{kind}" for layer, kind in EDGES])
def test_an_error_is_caught_just_beyond_its_threshold_and_not_just_inside(
    full: Built, tmp_path: Path, layer: str, kind: str, side: str
) -> None:
    in_simulation(full, "one_element_is_moved_to_the_edge", layer, tmp_path, NVDLA_KIND=kind, NVDLA_SIDE=side)


@pytest.mark.parametrize("change", NOT_COMPUTED.values(), ids=NOT_COMPUTED.keys())
def test_what_the_device_does_not_compute_never_ends_and_writes_nothing(
    full: Built, tmp_path: Path, change: str
) -> None:
    layer = "wino_fp16_8x8x32_k16_exp16"
    in_simulation(full, "a_layer_that_the_device_does_not_compute_stays_running", layer, tmp_path, NVDLA_CHANGE=change)
