"""``network`` without a simulator: what it says, saves and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from networks.random_networks import residual
from tb.cli.command import main
from tests.unit.stimulus.network.loadables import SHAPE, copying


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "copies of mine.nvdla"
    path.write_bytes(copying(3).file())
    return str(path)


def test_a_network_is_computed_and_its_results_saved(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = np.arange(48, dtype=np.int8).reshape(SHAPE)
    np.save(tmp_path / "in.npy", values)
    out, report, page = tmp_path / "out", tmp_path / "report.json", tmp_path / "page.html"
    files = ["--results", str(out), "--json", str(report), "--html", str(page)]
    assert main(["network", model, "--model-only", "--image", str(tmp_path / "in.npy"), *files]) == 0
    said = capsys.readouterr().out
    assert "2  sdp2   SDP     8x2x3  model       48       -       -" in said
    assert said.endswith(f"computed by the model, compared with nothing\npage: {page}\n")
    np.testing.assert_array_equal(np.load(out / "run0_output0.npy"), values, strict=True)
    assert json.loads(report.read_text(encoding="utf-8"))[0]["scenario"] == "copies_of_mine"
    assert "copies_of_mine" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("layer", ["1", "sdp1"])
def test_a_network_ends_with_a_layer_by_number_or_name(
    model: str, layer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["network", model, "--model-only", "--until", layer]) == 0
    assert "2 layers, 96 bytes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rtl", "x.f"], "--rtl must be left out: --model-only plays no RTL"),
        (["--performance"], "--performance must be left out: --model-only plays no RTL"),
        (["--until", "3"], "--until must be 0 to 2 or one of sdp0, sdp1, sdp2, not 3"),
        (["--image", "none.npy"], "none.npy: cannot be read: No such file or directory"),
        (["--golden", "none.txt"], "none.txt must end in .dimg or .npy, not .txt"),
        (["--samples", "x.npy"], "--samples must be left out: a loadable is compiled already"),
        (["--precision", "int16"], "--precision must be left out: a loadable is compiled already"),
        (["--per-tensor"], "--per-tensor must be left out: a loadable is compiled already"),
        (["--mean", "a"], "mean must be numbers separated by commas, not a"),
        (["--normalize", "0"], "normalize must not be 0"),
    ],
)
def test_what_cannot_be_is_refused(
    model: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["network", model, "--model-only", *options]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


def test_golden_results_must_be_one_for_each_run(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = str(tmp_path / "golden.npy")
    np.save(golden, np.zeros(SHAPE, dtype=np.int8))
    assert main(["network", model, "--model-only", "--golden", golden, golden]) == 2
    assert capsys.readouterr().err == "error: --golden must name 1 files, one for each run, not 2\n"
    assert main(["network", model, "--model-only", "--golden", golden, "--until", "0"]) == 2
    assert "--golden must be left out with --until" in capsys.readouterr().err
    np.save(golden, np.zeros((8, 2, 2), dtype=np.int8))
    assert main(["network", model, "--model-only", "--golden", golden]) == 2
    assert "golden result of zeros must be int8 (8, 2, 3), not int8 (8, 2, 2)" in capsys.readouterr().err


def test_a_network_that_the_configuration_refuses_fails_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design = copying()
    design.ops[0].operation.update({"x2.enable": 1, "x2.type": 1, "y.enable": 1, "y.type": 2, "y.mode": 0})
    path = tmp_path / "y.nvdla"
    path.write_bytes(design.file())
    assert main(["network", str(path), "--model-only"]) == 1
    said = capsys.readouterr().out
    assert "refused: SDP.D_DP_EW_CFG.ew_bypass must be YES, not NO: nv_small has no Y (element-wise and LUT)" in said
    assert said.endswith("failed\n")


def test_an_onnx_network_takes_real_numbers_as_samples_and_images(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, samples, image = tmp_path / "tiny.onnx", tmp_path / "samples.npy", tmp_path / "image.npy"
    path.write_bytes(residual((4,), side=4).SerializeToString())
    numbers = np.random.default_rng(1).standard_normal((5, 3, 4, 4))
    np.save(samples, numbers)
    np.save(image, numbers[0])
    arguments = ["network", str(path), "--model-only", "--samples", str(samples)]
    assert main([*arguments, "--per-tensor", "--image", str(image)]) == 0
    assert "Gemm_12+sdp3" in capsys.readouterr().out
    assert main([*arguments, "--image", str(samples)]) == 2
    message = f"error: {samples} must hold floating-point numbers 1x3x4x4, not float64 (5, 3, 4, 4)\n"
    assert capsys.readouterr().err == message
    np.save(samples, np.full((3, 4, 4), np.inf))
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"error: {samples} must hold finite numbers\n"
