"""Predictions of whole networks beside the public RTL, and what ``network --performance`` says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from networks.random_networks import mixed, residual
from tests.unit.conftest import Run

MIXED_CYCLES = (3337, 2192, 1670, 5474, 8934, 3311, 3874, 4124, 9938, 1084, 1077, 4511, 336)
"""Of the layers on the public nv_small RTL, with the bench's memory and statistics read."""


def test_the_layers_of_a_network_are_predicted_within_10_percent_of_the_public_rtl(tb: Run) -> None:
    Path("mixed.onnx").write_bytes(mixed().SerializeToString())
    ran = tb("network mixed.onnx --model-only --accuracy 0 --performance --json report.json")
    assert ran.code == 0
    (data,) = json.loads(Path("report.json").read_text(encoding="utf-8"))
    predicted = [layer["predicted"] for layer in data["predictions"]]
    assert predicted == [pytest.approx(cycles, rel=0.1) for cycles in MIXED_CYCLES]
    assert f"\npredicted: {sum(predicted)} cycles in 13 layers\n" in ran.out
    # Nothing was played: there is nothing to compare with.
    assert "played" not in ran.out
    assert {layer["played"] for layer in data["predictions"]} == {None}


def test_hardware_that_does_not_exist_is_predicted_beside_the_real_one(tb: Run) -> None:
    Path("tiny.onnx").write_bytes(residual((8,), side=8).SerializeToString())
    words = "network tiny.onnx --model-only --accuracy 0 --what-if memory=2x"
    ran = tb(words, "--performance --json report.json")
    (data,) = json.loads(Path("report.json").read_text(encoding="utf-8"))
    ours, theirs = (sum(layer[key] for layer in data["predictions"]) for key in ("predicted", "otherwise"))
    assert theirs < ours
    assert f"\nmemory 2x: {theirs} cycles, {ours / theirs:.2f} times as fast\n" in ran.out
    assert tb(words).refusal == "--what-if must be left out without --performance"
    message = "--what-if must be left out for nv_large: only nv_small's cycles were measured"
    assert tb(words, "--performance --config nv_large").refusal == message


def test_other_configurations_have_bounds_and_no_prediction(tb: Run) -> None:
    Path("tiny.onnx").write_bytes(residual((8,), side=8).SerializeToString())
    ran = tb("network tiny.onnx --model-only --accuracy 0 --performance --config nv_large --json report.json")
    assert "\npredicted: nothing; only cycles of nv_small's sizes were measured\n" in ran.out
    (data,) = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert all(layer["predicted"] is None and layer["bounds"] for layer in data["predictions"])
