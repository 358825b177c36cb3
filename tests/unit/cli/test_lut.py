"""``nvdla-tb lut``: what it prints, writes and refuses."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from PIL import Image

from nvdla_models.activation import FUNCTIONS
from nvdla_models.activation_layer import FunctionLayer
from nvdla_models.lut import LutUnit
from nvdla_models.precision import Precision
from nvdla_tb.cli.main import main


def test_it_says_tables_and_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lut", "sigmoid", "--range", "-8", "8"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("sigmoid from -8 to 8, INT8, Y of SDP of nv_large\n")
    (worst,) = re.findall(r"largest error .*, (\S+) steps", text)
    assert 0.45 < float(worst) < 0.52
    assert "compared       255 inputs" in text
    assert "#" not in text


def test_nv_small_takes_cdp(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lut", "tanh", "--range", "-4", "4", "--config", "nv_small"]) == 0
    assert "INT8, CDP of nv_small" in capsys.readouterr().out


def test_python_has_the_steps_of_the_short_form(tmp_path: Path) -> None:
    assert main(["lut", "silu", "--range", "-8", "8", "--output", str(tmp_path / "silu.py")]) == 0
    layer = FunctionLayer.of(FUNCTIONS["silu"], -8, 8, Precision.INT8, LutUnit.SDP)
    steps = runpy.run_path(str(tmp_path / "silu.py"))["STEPS"]
    assert steps["lut"] == layer.tables.lut
    assert (steps["scale"], steps["shift"]) == layer.scale
    assert steps["convert"] == (0, *layer.convert)


def test_python_has_the_parameters_of_cdp(tmp_path: Path) -> None:
    path = tmp_path / "silu.py"
    assert main(["lut", "silu", "--range", "-8", "8", "--unit", "cdp", "--output", str(path)]) == 0
    assert (
        runpy.run_path(str(path))["PARAMS"].lut
        == FunctionLayer.of(FUNCTIONS["silu"], -8, 8, Precision.INT8, LutUnit.CDP).tables.lut
    )


def test_a_trace_loads_every_entry(tmp_path: Path) -> None:
    path = tmp_path / "exp.cfg"
    assert main(["lut", "exp", "--range", "-8", "0", "--output", str(path)]) == 0
    words = re.findall(r"^reg_write\(NVDLA_SDP\.S_LUT_ACCESS_DATA_0, (\S+)\)$", path.read_text(), re.MULTILINE)
    lut = FunctionLayer.of(FUNCTIONS["exp"], -8, 0, Precision.INT8, LutUnit.SDP).tables.lut
    assert [int(word, 16) for word in words] == [*lut.le.entries.tolist(), *lut.lo.entries.tolist()]
    assert f"reg_write(NVDLA_SDP.S_LUT_LO_START_0, {lut.lo.start & 0xFFFFFFFF:#x})" in path.read_text()


def test_a_picture_shows_the_curve_and_its_error(tmp_path: Path) -> None:
    path = tmp_path / "tanh.png"
    assert main(["lut", "tanh", "--range", "-4", "4", "--picture", str(path)]) == 0
    with Image.open(path) as image:
        colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 16) or []}
    assert {(0, 0, 255), (255, 0, 0)} <= colours


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--range", "8", "-8"), "range must go from a number to a larger one, not from 8 to -8"),
        (("--range", "1", "nan"), "range must go from a number to a larger one, not from 1 to nan"),
        (("--range", "0", "1000"), "function must be finite from 0 to 1000"),
        (
            ("--range", "-1", "1", "--config", "nv_small", "--unit", "sdp"),
            "--unit must have lookup tables: Y of SDP of nv_small has none",
        ),
        (("--range", "-1", "1", "--precision", "int16"), "--precision must be int8 for nv_large, not int16"),
        (("--range", "-1", "1", "--output", "exp.txt"), "exp.txt: must end with .py or .cfg"),
    ],
)
def test_refusals_are_one_line(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["lut", "exp", *arguments]) != 0
    assert capsys.readouterr().err == f"error: {message}\n"
