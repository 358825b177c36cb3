"""Coverage models: the files of the plan, and what is refused in a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig, builtin_names
from nvdla_tb.coverage.model import load_model
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.errors import PlanError
from tests.repository import ROOT

MODEL = PLANS / "coverage"
CONFIG = HwConfig.load("nv_small")

GOOD = """
unit = "PDP"
crosses = [["method", "group"]]
[points]
method = ["max", "min", "average"]
group = ["0", "1"]
precision = ["INT8", "FP16"]
[[exclude]]
where = { precision = ["FP16"] }
when = { feature_data_types = ["INT8"] }
reason = "INT8 only"
[[exclude]]
where = { method = ["min"] }
reason = "never"
"""


def written(folder: Path, text: str) -> Path:
    (folder / "pdp.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", builtin_names())
def test_the_model_of_the_plan_fits_every_configuration(name: str) -> None:
    model = load_model(MODEL, HwConfig.load(name))
    names = [item.name for item in model.items]
    assert len(set(names)) == len(names)
    assert set(model.excluded) < {item.bin_name(key) for item in model.items for key in item.keys}


def test_the_plan_has_as_many_points_and_crosses_as_the_units_need() -> None:
    model = load_model(MODEL, CONFIG)
    counts = {
        unit: tuple(sum(item.is_cross is cross for item in model.items if item.unit == unit) for cross in (False, True))
        for unit in model.bins
    }
    assert counts["CONV"] >= (65, 39)
    assert counts["CDP"] >= (45, 15)
    assert counts["PDP"] >= (37, 11)
    assert counts["SDP"] >= (50, 43), "without Y and its tables, which nv_small lacks"


def test_what_a_larger_configuration_has_is_not_excluded_there() -> None:
    assert load_model(MODEL, CONFIG).excluded["SDP.stages=x1+y"] == (
        "the configuration has no Y (element-wise and tables)"
    )
    assert "SDP.stages=x1+y" not in load_model(MODEL, HwConfig.load("nv_full")).excluded


def test_an_exclusion_holds_for_a_point_and_for_every_cross_of_it(tmp_path: Path) -> None:
    model = load_model(written(tmp_path, GOOD), CONFIG)
    assert model.excluded == {
        "PDP.precision=FP16": "INT8 only",
        "PDP.method=min": "never",
        "PDP.method*group=min*0": "never",
        "PDP.method*group=min*1": "never",
    }
    assert list(model.reachable()) == [
        *("PDP.method=max", "PDP.method=average", "PDP.group=0", "PDP.group=1", "PDP.precision=INT8"),
        *(f"PDP.method*group={method}*{group}" for method in ("max", "average") for group in (0, 1)),
    ]


def test_items_are_found_by_name_and_by_what_their_name_begins_with(tmp_path: Path) -> None:
    model = load_model(written(tmp_path, GOOD), CONFIG)
    assert [item.name for item in model.items_like(("PDP.method*", "PDP.group"))] == [
        "PDP.method",
        "PDP.method*group",
        "PDP.group",
    ]
    with pytest.raises(PlanError, match=r"^coverage must be a point or a cross of the model, not PDP\.metod\*$"):
        model.items_like(("PDP.metod*",))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'unit = "PDP"',
            'unit = "GLB"',
            "pdp.toml: unit must be one of CONV, SDP, CDP, PDP, SYSTEM, INTERRUPTS, not GLB",
        ),
        ('["method", "group"]', '["method", "grup"]', "pdp.toml: a cross must be of points of PDP, not grup"),
        ('["method", "group"]', '["method"]', "pdp.toml: crosses[0] must be a list of at least 2, not ['method']"),
        ('["0", "1"]', '"0"', "pdp.toml: points.group must be a list, not '0'"),
        ('["min"] }', '["mean"] }', "pdp.toml: exclude: method must be one of max, min, average, not mean"),
        ("{ method = ", "{ metod = ", "pdp.toml: exclude: metod must be one of no bin, not min"),
        ('reason = "never"', "", "pdp.toml: exclude[1].reason is missing"),
        ("feature_data_types", "types", "pdp.toml: exclude: when must name parameters of the configuration, not types"),
        ("crosses", "cross", "pdp.toml: cross is unknown; allowed: unit, points, crosses, exclude, open"),
    ],
)
def test_a_model_that_cannot_be_understood_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    folder = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(PlanError) as error:
        load_model(folder, CONFIG)
    assert str(error.value) == message


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"must hold the coverage model, one TOML file a unit$"):
        load_model(tmp_path, CONFIG)


def test_coverage_needs_no_simulator() -> None:
    code = (
        "import sys, nvdla_tb.coverage.reach; print([name for name in sys.modules if name.split('.')[0] == 'cocotb'])"
    )
    output = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert output == "[]\n"


@pytest.mark.parametrize("name", ["n" * 300, "a\0b"])
def test_a_folder_that_cannot_be_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"(cannot be read: |must hold the coverage model)"):
        load_model(tmp_path / name, CONFIG)


def test_a_cross_of_too_many_bins_is_refused_before_they_are_made(tmp_path: Path) -> None:
    bins = ", ".join(f'"{number}"' for number in range(100))
    text = f'unit = "SDP"\ncrosses = [["width", "width", "width", "width"]]\n[points]\nwidth = [{bins}]\n'
    (tmp_path / "sdp.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PlanError, match=r"^sdp\.toml: a cross must have at most 100000 bins, not 100000000$"):
        load_model(tmp_path, CONFIG)
