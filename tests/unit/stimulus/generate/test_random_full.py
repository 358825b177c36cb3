"""Random scenarios of nv_full: every precision and mode that it has."""

from __future__ import annotations

from typing import Any

import pytest

from nvdla_models.errors import InputError
from nvdla_tb.stimulus.generate.random import ENGINES, engines_of, random_entry
from tests.unit.nvdla.samples import FULL, SMALL
from tests.unit.stimulus.generate.building import drawn_layers, of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def drawn() -> list[dict[str, Any]]:
    return drawn_layers(FULL, 1400)


@pytest.mark.parametrize("engine", ["SDP", "PDP", "CDP", "CONV", "RUBIK"])
def test_every_engine_has_every_precision(drawn: list[dict[str, Any]], engine: str) -> None:
    found = {layer.get("precision", "int8") for layer in of(drawn, engine) if "shape" in layer}
    assert found == {"int8", "int16", "fp16"}


def test_all_engines_of_the_build_are_drawn_and_no_others(drawn: list[dict[str, Any]]) -> None:
    assert {layer["engine"] for layer in drawn} == set(ENGINES)
    small = {layer["engine"] for seed in range(60) for layer in random_entry(SMALL, seed, ENGINES).data["layer"]}
    assert small == set(engines_of(SMALL)) == set(ENGINES) - {"RUBIK", "BDMA"}


def test_engines_that_the_build_lacks_are_refused() -> None:
    with pytest.raises(InputError, match=r"^engines must be of SDP, PDP, CDP, CONV for nv_small$"):
        random_entry(SMALL, 0, ("RUBIK", "BDMA"))


def test_sdp_converts_to_every_precision_that_it_can(drawn: list[dict[str, Any]]) -> None:
    found = {
        (layer.get("precision", "int8"), layer["output_precision"])
        for layer in of(drawn, "SDP")
        if "output_precision" in layer and "shape" in layer
    }
    assert found == {("int8", "int16"), ("int16", "int8"), ("int16", "fp16"), ("fp16", "int16")}


def test_y_looks_up_and_takes_operands_from_everywhere(drawn: list[dict[str, Any]]) -> None:
    stages = [layer["y"] for layer in of(drawn, "SDP", "CONV") if "y" in layer]
    assert {"lut" in stage for stage in stages} == {False, True}
    for unit in ("alu", "mul"):
        found = {stage[f"{unit}_operand"] for stage in stages if f"{unit}_operand" in stage}
        assert found == {"register", "channel", "element"}
        assert any(f"{unit}_converter" in stage for stage in stages)


def test_convolutions_use_winograd_compressed_weights_and_images_of_every_precision(
    drawn: list[dict[str, Any]],
) -> None:
    layers = of(drawn, "CONV")
    assert {layer.get("winograd", False) for layer in layers} == {False, True}
    assert {"zero_percent" in layer for layer in layers} == {False, True}
    assert {layer.get("precision", "int8") for layer in layers if "image" in layer} == {"int8", "int16", "fp16"}


def test_rubik_has_all_of_its_modes(drawn: list[dict[str, Any]]) -> None:
    assert {layer["mode"] for layer in of(drawn, "RUBIK")} == {"contract", "split", "merge"}
