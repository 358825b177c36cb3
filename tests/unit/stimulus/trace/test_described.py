"""Measured layers without register writes: programmed from their description, judged like the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_models.layout import Element
from nvdla_models.pdp import PoolMethod
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.layers import PdpLayer
from nvdla_tb.nvdla.program.ops import CheckFile, MemLoad
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.trace import read
from tests.unit.nvdla.samples import FULL, mismatch
from tests.unit.stimulus.trace.conftest import refusal
from tests.unit.stimulus.trace.measured_files import CARRIED, rewritten


def layer_of(path: Path, config: HwConfig) -> PdpLayer:
    (expectation,) = play_model(read(path, config), config).expectations
    layer = expectation.started.layer
    assert isinstance(layer, PdpLayer)
    return layer


def test_an_average_is_programmed_as_the_file_says() -> None:
    layer = layer_of(CARRIED / "pdp_avg.npz", FULL)
    assert layer.params.method is PoolMethod.AVERAGE
    assert (layer.params.kernel_width, layer.params.kernel_height, layer.params.stride_x) == (2, 2, 1)
    assert (layer.params.recip_width, layer.params.recip_height) == (0x7800, 0x7800)
    assert (layer.src.layout.shape, layer.dst.layout.shape) == ((64, 8, 8), (64, 7, 7))


def test_source_and_golden_output_are_the_arrays_of_the_file() -> None:
    path = CARRIED / "pdp_max.npz"
    scenario = read(path, FULL)
    with np.load(path) as file:
        cube, output = file["input"], file["output"]
    (load,) = (op for op in scenario.ops if isinstance(op, MemLoad))
    (check,) = scenario.checks
    assert isinstance(check, CheckFile)
    for data, array in ((load.chunks[0][1], cube), (check.chunks[0][1], output)):
        atoms = np.frombuffer(data, dtype=np.uint16).reshape(4, *array.shape[1:], 16)
        np.testing.assert_array_equal(atoms.transpose(0, 3, 1, 2).reshape(array.shape), array, strict=True)


@pytest.mark.parametrize("name", ["pdp_avg", "pdp_max"])
def test_every_byte_is_what_was_measured_and_a_wrong_one_is_found(name: str, tmp_path: Path) -> None:
    played = play_model(read(CARRIED / f"{name}.npz", FULL), FULL)
    assert played.verdict.failures == []
    assert (played.verdict.judged_bytes, played.verdict.differing_bytes) == (64 * 7 * 7 * 2, 0)

    def spoil(arrays: dict[str, object], meta: dict[str, object]) -> None:
        del meta
        arrays["output"][3, 2, 1] ^= 0x0400  # type: ignore[index]

    verdict = play_model(read(rewritten(tmp_path / f"{name}.npz", name, spoil), FULL), FULL).verdict
    assert verdict.ending is Ending.MISMATCH
    (finding,) = verdict.findings
    assert (finding.check, mismatch(finding).element) == (Check.VALUE, Element(3, 2, 1))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("unit", "CDP", "unit must be one of conv direct, FP16, PDP, FP16, not 'CDP'"),
        ("method", "sum", "method must be one of max, min, average, not 'sum'"),
        ("padding", "none", "padding must be int, not 'none'"),
        ("kernel", [9, 2], "kernel_width must be an integer from 1 to 8, not 9"),
        ("stride", [2, 1], "dst must have the shape (64, 7, 4), not (64, 7, 7)"),
    ],
)
def test_a_description_of_something_else_is_refused(key: str, value: object, message: str, tmp_path: Path) -> None:
    path = rewritten(tmp_path / "pdp_x.npz", "pdp_avg", lambda arrays, meta: meta.update({key: value}))
    assert refusal(path, FULL) == f"{path}: {message}"
