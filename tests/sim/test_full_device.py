"""The embedded nv_full: measured and random layers pass within the published thresholds, whose edges are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.simulate import SharedProcess
from nvdla_tb.stimulus.scenario import Scenario
from tests.measured import CARRIED, carried
from tests.sim import full_layers
from tests.sim.conftest import InSimulation, coroutines_of, needs_icarus, planned, played

CONFIG = HwConfig.load("nv_full")
THRESHOLDS = {"CC DC": "dc_fp16", "CC Winograd": "wino_fp16", "CDP": "cdp_lrn", "PDP": "pdp_avg"}
"""Files with FP16 results that a published threshold judges, by the module that it names."""

LAYERS_AT_RANDOM = [
    (full_layers.images, Precision.INT8),
    (full_layers.images, Precision.INT16),
    (full_layers.images, Precision.FP16),
    (full_layers.converted_cubes, Precision.INT8),
    (full_layers.converted_cubes, Precision.INT16),
    (full_layers.winograd, Precision.INT8),
    (full_layers.winograd, Precision.INT16),
]


@pytest.fixture(scope="module")
def full() -> Built:
    return build(BuildSpec(CONFIG, "verilator", backend="native"))


@pytest.fixture(scope="module")
def process(full: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedProcess]:
    process = SharedProcess(full, tmp_path_factory.mktemp("process"))
    yield process
    process.close()


def judged(scenario: Scenario, built: Built, folder: Path, process: SharedProcess | None) -> Verdict:
    """Play a scenario and require that all bytes were judged right, and the margin where a threshold applies."""
    verdict = played(built, folder, scenario, process=process).verdict
    assert not verdict.failures, verdict.findings
    assert verdict.judged_bytes > 0
    for module, prefix in THRESHOLDS.items():
        if scenario.name.startswith(prefix):
            assert verdict.worst_margin is not None
            assert 0.0 <= verdict.worst_margin <= 1.0
            assert verdict.margins[0].module == module
    return verdict


@pytest.mark.parametrize("layer", sorted(path.stem for path in CARRIED.glob("*.npz")))
def test_a_measured_layer_passes_and_tells_its_margin(
    full: Built, process: SharedProcess, tmp_path: Path, layer: str
) -> None:
    assert judged(carried(layer), full, tmp_path / "it", process).crc_passed == 1


@pytest.mark.parametrize(
    "name", ["reset_values", "bits_of_convolution", "bits_of_sdp", "bits_of_pdp_and_cdp", "distinct"]
)
def test_every_register_has_the_bits_and_the_reset_value_of_the_configuration(
    full: Built, process: SharedProcess, tmp_path: Path, name: str
) -> None:
    scenario = planned(f"registers_{name}", plan="nv_small_registers", config="nv_full")
    verdict = played(full, tmp_path / "it", scenario, process=process).verdict
    assert not verdict.failures, verdict.findings
    assert verdict.registers > 0


@pytest.mark.parametrize(
    ("make", "precision"),
    LAYERS_AT_RANDOM,
    ids=[f"{make.__name__}-{precision.name.lower()}" for make, precision in LAYERS_AT_RANDOM],
)
def test_layers_that_nv_small_lacks_pass(
    full: Built,
    process: SharedProcess,
    tmp_path: Path,
    make: Callable[[Precision], Scenario],
    precision: Precision,
) -> None:
    scenario = make(precision)
    enabled = [op for op in scenario.ops if isinstance(op, RegWrite) and op.register == "CACC.D_OP_ENABLE"]
    assert judged(scenario, full, tmp_path / "it", process).layers == len(enabled)


@pytest.mark.parametrize("precision", Precision, ids=lambda precision: precision.name.lower())
def test_every_cube_of_a_batch_is_what_it_is_alone(
    full: Built, process: SharedProcess, tmp_path: Path, precision: Precision
) -> None:
    verdict = judged(full_layers.batches(precision), full, tmp_path / "it", process)
    assert verdict.layers == sum(full_layers.CUBES)


@needs_icarus
def test_a_small_convolution_passes_under_icarus(tmp_path: Path) -> None:
    built = build(BuildSpec(CONFIG, "icarus"))
    layer = "dc_fp16_4x4x128_k32_nan_collide"
    assert judged(carried(layer), built, tmp_path / "it", None).crc_passed == 1


@pytest.mark.parametrize("name", coroutines_of("tests.sim.full_device"))
def test_in_simulation(full: Built, in_simulation: InSimulation, name: str) -> None:
    in_simulation(full, "tests.sim.full_device", name)
