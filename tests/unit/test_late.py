"""Packages of late names, and what of this project a simulator loads for the layers that it plays."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import models.layout
from tb.layers import Layer
from tb.memory import Ram
from tb.program.codec import encode
from tb.program.ops import MemInit
from tb.scenario import Scenario
from tb.trace import write
from tests.unit.tb.conv_samples import image_conv, small_conv
from tests.unit.tb.samples import SMALL, bias_sdp, small_cdp, small_pdp, small_sdp
from tests.unit.tb.test_pooled_layer import pooled

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("models.layout", "tb.layers", "tb.surfaces")
ENGINES = {"sdp", "conv", "pdp", "cdp", "pooled", "rubik", "bdma"}
CUBES = ["alignment", "atoms", "feature", "raw"]
"""Modules of ``models.layout`` without which there is no cube."""

OPERANDS = [*CUBES, "operand"]
WEIGHTS = [*OPERANDS, "compression", "kernel", "pixel", "pixel_convert", "pixel_formats", "weight", "winograd"]

PLAYED = """
import json, sys
from pathlib import Path
import tb.sim.entry
from models.config import HwConfig
from tb.playback import play_model
from tb.judge.predictor import load
from tb.trace import read

def loaded():
    return sorted(name for name in sys.modules if name.split(".")[0] in ("tb", "models"))

config = HwConfig.load("nv_small")
scenario = read(Path(sys.argv[1]), config)
start = loaded()
load(scenario.ops)
ready = loaded()
verdict = play_model(scenario, config).verdict
print(json.dumps([start, ready, loaded(), verdict.refused, verdict.layers]))
"""


def play(folder: Path, *layers: Layer) -> list[Any]:
    """Return what a fresh process has loaded at its start, before it plays layers and after that."""
    ops = [MemInit(Ram.MC, 0, 0x10000, 1)]
    for number, layer in enumerate(layers):
        ops += encode(layer, SMALL, number % 2, f"layer_{number}")
    write(Scenario("late", "nv_small", tuple(ops), 0), folder / "late")
    command = [sys.executable, "-c", PLAYED, str(folder / "late")]
    ran = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=True)
    *loaded, refused, count = json.loads(ran.stdout)
    assert (refused, count) == (None, len(layers))
    return loaded


def engines(modules: list[str]) -> set[str]:
    return {part for name in modules for part in name.split(".")} & ENGINES


def layouts(modules: list[str]) -> list[str]:
    return [name.rpartition(".")[2] for name in modules if name.startswith("models.layout.")]


@pytest.mark.parametrize(
    ("layers", "expected_engines", "expected_layouts"),
    [
        ((small_sdp(),), {"sdp"}, OPERANDS),
        ((bias_sdp(), small_sdp()), {"sdp"}, OPERANDS),
        ((small_pdp(),), {"pdp"}, OPERANDS),
        ((small_cdp(),), {"cdp"}, OPERANDS),
        ((small_conv(),), {"conv", "sdp"}, WEIGHTS),
        ((image_conv(),), {"conv", "sdp"}, WEIGHTS),
        ((pooled(small_sdp((3, 4, 6))),), {"sdp", "pdp", "pooled"}, OPERANDS),
        ((pooled(small_conv()),), {"conv", "sdp", "pdp", "pooled"}, WEIGHTS),
    ],
    ids=["SDP", "SDP twice", "PDP", "CDP", "CONV", "image", "SDP-PDP", "CONV-PDP"],
)
def test_a_simulator_loads_what_its_layers_take_before_it_plays_them_and_nothing_else(
    tmp_path: Path, layers: tuple[Layer, ...], expected_engines: set[str], expected_layouts: list[str]
) -> None:
    start, ready, played = play(tmp_path, *layers)
    assert (engines(start), layouts(start)) == (set(), CUBES)
    assert (engines(ready), layouts(ready)) == (expected_engines, sorted(expected_layouts))
    assert played == ready


def test_a_start_loads_neither_command_line_nor_what_makes_and_explains_scenarios(tmp_path: Path) -> None:
    start, _, _ = play(tmp_path, small_sdp())
    places = {"cli", "score", "regress", "explain", "coverage", "generate", "launch"}
    assert [name for name in start if places & set(name.split("."))] == []


def declared(package: str) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Return the names that a package of late names shows to type checkers, loads, and exports."""
    file = import_module(package).__file__
    assert file is not None
    shown: dict[str, str] = {}
    late: dict[str, str] = {}
    exported: list[str] = []
    for node in ast.walk(ast.parse(Path(file).read_bytes())):
        if isinstance(node, ast.If):
            imports = [line for line in node.body if isinstance(line, ast.ImportFrom)]
            shown = {alias.name: str(line.module) for line in imports for alias in line.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "late_names":
            late = {name: module for module, names in ast.literal_eval(node.args[1]).items() for name in names.split()}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            exported = ast.literal_eval(node.value)
    return shown, late, exported


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_see_the_names_that_a_package_loads(package: str) -> None:
    shown, late, exported = declared(package)
    assert shown == late
    defined = set() if package != "tb.layers" else {"Kind"}
    assert set(exported) == {*late, *defined}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_late_name_is_there(package: str) -> None:
    module = import_module(package)
    for name, holder in declared(package)[1].items():
        assert getattr(module, name) is getattr(import_module(holder), name)


def test_what_a_package_does_not_have_is_refused_as_usual() -> None:
    with pytest.raises(AttributeError, match=r"^module 'models\.layout' has no attribute 'Feature'$"):
        models.layout.Feature  # type: ignore[attr-defined]  # noqa: B018
