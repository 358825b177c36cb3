"""``network`` without a simulator: what it says, saves and refuses."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from networks.random_networks import NetworkBuilder, residual
from nvdla_models.precision import Precision
from nvdla_networks import program
from nvdla_networks.compiler import onnx_network
from nvdla_networks.compiler.scales import Scales
from nvdla_tb.nvdla.program.ops import SyncWait
from tests.unit.conftest import Run
from tests.unit.networks.loadables import SHAPE, copying

MODEL = "network copies-of-mine.nvdla --model-only"


@pytest.fixture(autouse=True)
def model(tb: Run) -> None:
    """Have a loadable and golden results in the folder."""
    Path("copies-of-mine.nvdla").write_bytes(copying(3).file())
    np.save("golden.npy", np.zeros(SHAPE, dtype=np.int8))
    np.save("narrow.npy", np.zeros((8, 2, 2), dtype=np.int8))


def test_a_network_is_computed_and_its_results_saved(tb: Run) -> None:
    values = np.arange(48, dtype=np.int8).reshape(SHAPE)
    np.save("in.npy", values)
    ran = tb(MODEL, "--image in.npy --save-results out --json report.json --html page.html --junit junit.xml")
    assert ran.code == 0
    assert "2  sdp2   SDP     8x2x3  model       48       -       -" in ran.out
    assert "against floating point: not measured\n" in ran.out
    assert ran.out.endswith("computed, nothing compared\npage: page.html\n")
    np.testing.assert_array_equal(np.load("out/run0_output0.npy"), values, strict=True)
    (data,) = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert (data["scenario"], data["passed"], data["outcome"]) == ("copies_of_mine", False, "computed")
    page = Path("page.html").read_text(encoding="utf-8")
    assert '<h1>copies_of_mine: <span class="other">computed, nothing compared</span></h1>' in page
    assert "passed" not in ran.out + page
    suite = ElementTree.parse("junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "0", "2")


def test_a_golden_result_is_compared_and_passes(tb: Run) -> None:
    ran = tb(MODEL, "--golden golden.npy --junit junit.xml --html page.html")
    assert ran.code == 0
    assert ran.out.endswith("passed\npage: page.html\n")
    suite = ElementTree.parse("junit.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    assert '<span class="good">passed</span>' in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("layer", ["1", "sdp1"])
def test_a_network_ends_with_a_layer_by_number_or_name(tb: Run, layer: str) -> None:
    ran = tb(MODEL, "--until", layer)
    assert ran.code == 0
    assert "2 layers, 96 bytes" in ran.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--rtl x.f", "--rtl must be left out: --model-only plays no RTL"),
        ("--waves-from layer:1", "--waves-from must be left out: --model-only plays no RTL"),
        ("--until 3", "--until must be 0 to 2 or one of sdp0, sdp1, sdp2, not 3"),
        ("--image none.npy", "none.npy: cannot be read: No such file or directory"),
        ("--golden none.txt", "none.txt must end in .dimg or .npy, not .txt"),
        ("--golden golden.npy golden.npy", "--golden must name 1 files, one for each run, not 2"),
        ("--golden golden.npy --until 0", "--golden must be left out with --until, which ends before the results"),
        ("--golden narrow.npy", "golden result of zeros must be int8 (8, 2, 3), not int8 (8, 2, 2)"),
        ("--samples x.npy", "--samples must be left out: a loadable is compiled already"),
        ("--precision int16", "--precision must be left out: a loadable is compiled already"),
        ("--accuracy 0.9", "--accuracy must be left out: a loadable is compiled already"),
        ("--per-tensor", "--per-tensor must be left out: a loadable is compiled already"),
        ("--mean a", "mean must be numbers separated by commas, not a"),
        ("--normalize 0", "normalize must be a finite number other than 0, not 0"),
        ("--normalize nan", "normalize must be a finite number other than 0, not nan"),
        ("--normalize inf", "normalize must be a finite number other than 0, not inf"),
    ],
)
def test_what_cannot_be_is_refused(tb: Run, options: str, message: str) -> None:
    assert tb(MODEL, options).refusal == message


def test_a_network_that_the_configuration_refuses_fails_with_the_reason(tb: Run) -> None:
    design = copying()
    design.ops[0].operation.update({"x2.enable": 1, "x2.type": 1, "y.enable": 1, "y.type": 2, "y.mode": 0})
    Path("y.nvdla").write_bytes(design.file())
    ran = tb("network y.nvdla --model-only")
    assert ran.code == 1
    refusal = (
        r"refused: the loadable is for nv_.*, not nv_small: SDP\.D_DP_EW_CFG\.ew_bypass must be YES, not NO: nv_small "
    )
    assert re.search(refusal, ran.out)
    assert ran.out.endswith("failed\n")


def test_an_onnx_network_takes_real_numbers_as_samples_and_images(tb: Run) -> None:
    Path("tiny.onnx").write_bytes(residual((4,), side=4).SerializeToString())
    numbers = np.random.default_rng(1).standard_normal((5, 3, 4, 4))
    np.save("samples.npy", numbers)
    np.save("image.npy", numbers[0])
    words = "network tiny.onnx --model-only --samples samples.npy"
    ran = tb(words, "--per-tensor --image image.npy")
    assert ran.code == 0
    assert "Gemm_12+sdp3" in ran.out
    message = "samples.npy must hold floating-point numbers 1x3x4x4, not float64 (5, 3, 4, 4)"
    assert tb(words, "--image samples.npy").refusal == message
    np.save("samples.npy", np.full((3, 4, 4), np.inf))
    assert tb(words).refusal == "samples.npy must hold finite numbers"


def test_what_integers_cost_is_said_and_fails_beyond_the_limit(tb: Run) -> None:
    Path("tiny.onnx").write_bytes(residual((4,), side=4).SerializeToString())
    words = "network tiny.onnx --model-only --json report.json --html page.html --junit junit.xml"
    ran = tb(words)
    line = re.search(r"^v\d+_0 against floating point, 4 samples: cosine 0\.99\d{3}, .* of 4$", ran.out, re.MULTILINE)
    assert (ran.code, line is not None) == (0, True)
    assert line is not None
    assert line[0] in Path("page.html").read_text(encoding="utf-8")
    ran = tb(words, "--accuracy 1")
    assert ran.code == 1
    assert re.search(
        r"  accuracy: output 'v\d+_0': cosine 0\.99\d{3} against floating point, less than 1\nfailed\n", ran.out
    )
    assert '<span class="bad">failed</span>' in Path("page.html").read_text(encoding="utf-8")
    suite = ElementTree.parse("junit.xml").getroot()
    assert [(case.get("name"), case[0].tag) for case in suite.iter("testcase")] == [
        ("bytes", "skipped"),
        ("accuracy", "failure"),
    ]
    (data,) = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert data["accuracy"][0]["samples"] == 4
    until = tb("network tiny.onnx --model-only --until 0")
    assert "against floating point: not measured\n" in until.out


def test_the_page_draws_the_host_shortens_names_and_has_predicted_cycles(tb: Run) -> None:
    net = NetworkBuilder("long", (3, 6, 6), 2)
    (middle,) = net.add("Sin", [net.conv(net.input, 8, 3, pad=1)])
    net.shapes[middle] = (8, 6, 6)
    value = net.pool(net.conv(middle, 8, 3, pad=1), "MaxPool", 2, 2)
    for node in net.nodes:
        node.name = f"/backbone/stages.0/blocks.{'/'.join('abcdefgh')}/{node.op_type}_of_the_projection"
    middle_name = f"Sin {net.nodes[1].name}"
    Path("long.onnx").write_bytes(net.model(value).SerializeToString())
    tb("network long.onnx --model-only --performance --html page.html --json report.json")
    first, second = json.loads(Path("report.json").read_text(encoding="utf-8"))[0]["predictions"]
    assert first["layer"] == "a_b_c_d_e_f_g_h_Conv_of_the_projection+sdp0"
    page = Path("page.html").read_text(encoding="utf-8")
    boxes = re.findall(r'<rect class="box (\w+)"[^>]*>\s*<text[^>]*>(.*?)</text>', page)
    assert boxes == [
        ("other", "0  a_b_c_d_e_f_g_h_Conv_of_the_projection+sdp0  8x6x6"),
        ("host", f"host: {middle_name[:30]}…{middle_name[-30:]}"),
        ("other", f"1  {second['layer'][:30]}…{second['layer'][-30:]}  8x3x3"),
    ]
    assert f"<title>{second['layer']}: computed, nothing compared, 72 bytes</title>" in page
    rows = re.findall(
        r'computed, nothing compared</td><td class="n">\d+</td>\s*<td class="n">-</td>\s*<td class="n">(\d+)', page
    )
    assert list(map(int, rows)) == [first["predicted"], second["predicted"]]


def test_a_program_that_stops_fails_without_a_simulator(tb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_waits", lambda units, events: [SyncWait(unit, "never") for unit in units if events])
    ran = tb(MODEL, "--junit junit.xml")
    assert ran.code == 1
    assert re.search(r"^1  sdp1 +SDP .* not run", ran.out, re.MULTILINE)
    assert ran.out.endswith("  the model stops: SDP_RDMA waits for sync id never, which nothing raises\nfailed\n")
    Path("tiny.onnx").write_bytes(residual((4,), side=4).SerializeToString())
    assert tb("network tiny.onnx --model-only").code == 1


@pytest.mark.parametrize("factor", [1 / 24, 24])
@pytest.mark.parametrize("number", range(3))
def test_a_layer_whose_scale_is_wrong_is_named(
    tb: Run, monkeypatch: pytest.MonkeyPatch, number: int, factor: float
) -> None:
    """Too fine a scale saturates, one too coarse rounds; layers behind it compute right of what they get."""
    net = NetworkBuilder("chain", (3, 6, 6), 2)
    values = [net.input]
    for _ in range(3):
        values.append(net.relu(net.conv(values[-1], 8, 3, pad=1)))
    Path("chain.onnx").write_bytes(net.model(values[-1]).SerializeToString())
    own = onnx_network.scales_of

    def spoilt(*arguments: Any) -> Scales:
        found = own(*arguments)
        wrong = values[1 + number]
        return replace(found, scales={**found.scales, wrong: found.scales[wrong] * factor})

    monkeypatch.setattr(onnx_network, "scales_of", spoilt)
    ran = tb("network chain.onnx --model-only --json report.json --html page.html --accuracy 0")
    layer = f"Conv_{2 * number}+sdp{number}"
    line = re.search(
        rf"^the layer that costs most is {number} \({re.escape(layer)}\): off by \d+\.\d%$", ran.out, re.MULTILINE
    )
    assert line is not None
    assert line[0] in Path("page.html").read_text(encoding="utf-8")
    (data,) = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert data["costliest"] == layer
    errors = [entry["float_error"] for entry in data["layers"]]
    assert errors.pop(number) > 2 * max(errors)


@pytest.mark.parametrize(("config", "kind"), [("nv_small", "host"), ("nv_full", "int16")])
def test_too_large_a_loss_names_what_to_try(tb: Run, monkeypatch: pytest.MonkeyPatch, config: str, kind: str) -> None:
    net = NetworkBuilder("chain", (3, 6, 6), 2)
    first = net.relu(net.conv(net.input, 8, 3, pad=1))
    Path("chain.onnx").write_bytes(net.model(net.conv(first, 8, 3, pad=1)).SerializeToString())
    own = onnx_network.scales_of

    def spoilt(*arguments: Any) -> Scales:
        found = own(*arguments)
        made = net.input in arguments[0].inputs and arguments[3].precision is Precision.INT8
        return replace(found, scales={**found.scales, first: found.scales[first] * 100}) if made else found

    monkeypatch.setattr(onnx_network, "scales_of", spoilt)
    words = f"network chain.onnx --model-only --config {config}"
    ran = tb(words)
    assert ran.code == 1
    (advice,) = re.findall(r"off by \d+\.\d%; try (--precision \S+)$", ran.out, re.MULTILINE)
    assert advice == f"--precision Conv_0={kind}"
    ran = tb(words, advice)
    assert ran.code == 0
    assert "; try" not in ran.out


def test_an_image_and_samples_are_compared_once_each(tb: Run) -> None:
    Path("tiny.onnx").write_bytes(residual((4,), side=4).SerializeToString())
    numbers = np.random.default_rng(1).standard_normal((20, 3, 4, 4))
    np.save("samples.npy", numbers)
    np.save("image.npy", numbers[3])
    words = "network tiny.onnx --model-only --image image.npy"
    assert " against floating point, 1 sample: " in tb(words).out
    assert " against floating point, 16 samples: " in tb(words, "--samples samples.npy").out
    np.save("samples.npy", numbers[:5])
    assert " against floating point, 5 samples: " in tb(words, "--samples samples.npy").out
    np.save("samples.npy", numbers[:0])
    refusal = tb(words, "--samples samples.npy").refusal
    assert refusal == "samples.npy must hold floating-point numbers Nx3x4x4, not float64 (0, 3, 4, 4)"
