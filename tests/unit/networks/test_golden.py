"""Public networks on the model: the golden results of the public driver's tests, bit by bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_networks.compiled import Compiled
from nvdla_networks.images import Preparation, read_input, top_classes
from nvdla_networks.loadable import read_loadable
from nvdla_networks.scenario import play_networks, results_of
from nvdla_tb.cli.main import main
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.refusal import refusal
from tests.references import NETWORKS, needs_networks

pytestmark = needs_networks

TESTS = (
    "BDMA_L0_0",
    *(f"{name}_L0_0{kind}" for name in ("CDP", "CONV_D", "PDP", "SDP_X1") for kind in ("", "_large", "_small")),
    "RBK_L0_0",
)


def loadable(name: str) -> Path:
    folder = name.partition("_")[0]
    return NETWORKS / "loadables" / folder / f"{name}_fbuf"


def config_of(name: str) -> str:
    return next((f"nv_{kind}" for kind in ("small", "large") if name.endswith(kind)), "nv_full")


@pytest.mark.parametrize("name", [*TESTS, "NN_L0_0"])
def test_the_model_computes_every_golden_byte(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    golden = NETWORKS / "golden" / f"{name}.dimg"
    arguments = ["network", str(loadable(name)), "--config", config_of(name), "--model-only", "--golden", str(golden)]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "model and golden result: same bits" in said
    assert said.endswith("passed\n")


def test_another_golden_result_fails_and_says_how_much_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = bytearray((NETWORKS / "golden" / "NN_L0_0.dimg").read_bytes())
    golden[36 + 6] ^= 1
    (tmp_path / "other.dimg").write_bytes(golden)
    arguments = ["network", str(loadable("NN_L0_0")), "--config", "nv_full", "--model-only"]
    assert main([*arguments, "--golden", str(tmp_path / "other.dimg")]) == 1
    said = capsys.readouterr().out
    assert "zeros: model and golden result: bytes differ, class equal (9 of 10 elements equal)" in said
    assert said.endswith("failed\n")


@pytest.mark.slow
def test_the_nine_digits_have_the_probabilities_of_the_virtual_platform() -> None:
    config = HwConfig.load("nv_full")
    compiled = Compiled("lenet", read_loadable(loadable("NN_L0_0")), config)
    names = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    networks = [compiled.place() for _ in names]
    inputs = [
        [read_input(NETWORKS / "digits" / f"{name}.pgm", network.inputs[0], Preparation())]
        for name, network in zip(names, networks, strict=True)
    ]
    playing = play_networks("digits", networks, inputs)
    assert refusal(playing.scenario.ops, config) is None
    results = results_of(play_model(playing.scenario, config), playing)
    assert [top_classes(values, 1)[0][0] for (values,) in results] == [1, 7, 3, 4, 5, 5, 7, 3, 3]
    two = results[1][0].ravel()
    assert (two[7], two[5]) == (np.float16(0.99609375), np.float16(0.00407028))
