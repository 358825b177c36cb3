"""Networks on the embedded device: every layer judged, results read back, and a seeded bug named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from networks import random_networks
from networks.random_networks import NetworkBuilder
from nvdla_models.config import HwConfig
from nvdla_networks.compiled import Compiled
from nvdla_networks.loadable import parse_loadable
from nvdla_networks.network_page import network_page
from nvdla_networks.network_report import LayerVerdict, report_of
from nvdla_networks.scenario import play_networks, results_of
from nvdla_tb.cli.main import main
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec
from nvdla_tb.run.explained import explain_folder
from nvdla_tb.stimulus.model import play_model
from tests.references import NETWORKS, needs_networks
from tests.repository import ROOT
from tests.sim.conftest import played
from tests.unit.networks.compiler.building import OPERATORS, around_a_sine
from tests.unit.networks.compiler.building import SHAPE as OPERATORS_SHAPE
from tests.unit.networks.compiler.playing import graph_of
from tests.unit.networks.compiler.test_layouts import File, classifier
from tests.unit.networks.compiler.test_precisions import stages
from tests.unit.networks.loadables import SHAPE, copying, residual, residual_of


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "copies.nvdla"
    path.write_bytes(copying(3).file())
    return path


@pytest.fixture
def images(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{number}.npy" for number in range(2)]
    for number, path in enumerate(paths):
        np.save(path, np.arange(48, dtype=np.int8).reshape(SHAPE) + np.int8(number))
    return [str(path) for path in paths]


def reported(folder: Path, *arguments: str) -> dict[str, Any]:
    """Play a network, which must pass, and return its report."""
    report = folder / "report.json"
    assert main(["network", *arguments, "--json", str(report)]) == 0
    (data,) = json.loads(report.read_text(encoding="utf-8"))
    return data


def test_two_runs_of_a_network_are_judged_layer_by_layer_in_one_simulation(
    model: Path, images: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results"
    results = ("--save-results", str(out), "--performance")
    data = reported(tmp_path, str(model), "--image", *images, "--golden", *images, *results)
    said = capsys.readouterr().out
    assert said.count("RTL and model: same bits (48 of 48 elements equal)") == 2
    assert said.count("model and golden result: same bits") == 2
    assert [layer["verdict"] for layer in data["layers"]] == ["equal"] * 6
    assert [layer["judged_bytes"] for layer in data["layers"]] == [48] * 6
    assert all(0 < layer["cycles"] < 1000 for layer in data["layers"])
    moved = [layer["moved"]["MC"] for layer in data["performance"]]
    assert moved == [{"read": 48, "written": 48}] * 6
    for number, image in enumerate(images):
        np.testing.assert_array_equal(np.load(out / f"run{number}_output0.npy"), np.load(image), strict=True)


def test_a_residual_network_passes_with_two_inputs_through_both_register_groups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "residual.nvdla").write_bytes(residual().file())
    draw = np.random.default_rng(3)
    images, goldens = [], []
    for number in range(2):
        data = draw.integers(-128, 128, SHAPE, dtype=np.int8)
        for kind, values, paths in (("in", data, images), ("out", residual_of(data), goldens)):
            paths.append(str(tmp_path / f"{kind}{number}.npy"))
            np.save(paths[-1], values)
    arguments = ["network", str(tmp_path / "residual.nvdla"), "--image", *images, "--golden", *goldens]
    assert main([*arguments, "--performance"]) == 0
    said = capsys.readouterr().out
    assert said.count("model and golden result: same bits (48 of 48 elements equal)") == 2
    assert "8 layers, 384 bytes judged" in said


def test_more_cycles_than_in_an_earlier_run_fail(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    assert main(["network", str(model), "--json", str(report)]) == 0
    assert main(["network", str(model), "--cycles-against", str(report)]) == 0
    data = json.loads(report.read_text(encoding="utf-8"))
    data[0]["performance"][1]["cycles"] //= 2
    report.write_text(json.dumps(data), encoding="utf-8")
    capsys.readouterr()
    assert main(["network", str(model), "--cycles-against", str(report)]) == 1
    assert "slower: copies.0 sdp1: " in capsys.readouterr().out


def test_a_trace_of_a_network_plays_like_any_other(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["network", str(model), "--model-only", "--save-trace", str(tmp_path / "trace")]) == 0
    assert main(["trace", str(tmp_path / "trace")]) == 0
    assert "1 passed, 0 failed, 0 refused" in capsys.readouterr().out


def test_a_trace_of_a_network_carries_its_golden_results(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace"
    assert main(["network", str(model), "--model-only", "--save-trace", str(trace)]) == 0
    assert main(["trace", "--model-only", str(trace)]) == 0
    assert "1 passed, 0 failed, 0 refused" in capsys.readouterr().out
    (cfg,) = trace.glob("*.cfg")
    text = cfg.read_text(encoding="ascii")
    assert "check_nothing" not in text
    before, crc = text.rsplit("0x", 1)
    cfg.write_text(f"{before}{int(crc[:-3], 16) ^ 1:#x});\n", encoding="ascii")
    assert main(["trace", "--model-only", str(trace)]) == 1
    assert "CRC-32 of " in capsys.readouterr().out


def test_a_seeded_bug_is_named_with_the_first_wrong_layer_and_its_cause(tmp_path: Path) -> None:
    config = HwConfig.load("nv_small")
    network = Compiled("copies", parse_loadable(copying(3).file()), config).place()
    playing = play_networks("copies", [network], [[np.arange(48, dtype=np.int8).reshape(SHAPE)]], last=None)
    built = build(BuildSpec(config, backend="native"))
    result = played(built, tmp_path / "copies", playing.scenario, "+bug=sdp_dst_line_stride")
    modelled = play_model(playing.scenario, config)
    report = report_of(playing, ["ramp"], modelled, result, results_of(modelled, playing), None, [])
    assert not report.passed
    assert report.first_wrong is not None
    assert (report.first_wrong.name, report.first_wrong.verdict) == ("sdp0", LayerVerdict.WRONG)
    assert report.first_wrong.wrong_bytes > 0
    assert result.folder is not None
    page = network_page(report, config, explain_folder(Path(result.folder), "nv_small", 1))
    assert "First wrong layer: 0 (sdp0)" in page
    assert "line stride" in page
    assert page.count('<img alt="got"') >= 1


@needs_networks
@pytest.mark.parametrize("name", ["CDP_L0_0_small", "CONV_D_L0_0_small", "PDP_L0_0_small", "SDP_X1_L0_0_small"])
def test_public_networks_pass_on_the_embedded_device(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = NETWORKS / "loadables" / name.partition("_")[0] / f"{name}_fbuf"
    assert main(["network", str(path), "--golden", str(NETWORKS / "golden" / f"{name}.dimg")]) == 0
    assert "1 layers, 2048 bytes judged" in capsys.readouterr().out


@needs_networks
def test_lenet_in_fp16_passes_on_the_embedded_nv_full_within_the_thresholds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, image = NETWORKS / "loadables" / "NN" / "NN_L0_0_fbuf", NETWORKS / "digits" / "five.pgm"
    data = reported(tmp_path, str(path), "--image", str(image), "--config", "nv_full")
    assert "7 layers, 58400 bytes judged" in capsys.readouterr().out
    assert {layer["verdict"] for layer in data["layers"]} == {"within"}
    assert 0 < max(layer["worst_margin"] for layer in data["layers"]) < 1
    assert np.argmax(data["runs"][0]["rtl"][0]) == 5


def test_the_network_of_the_repository_reads_digits_on_the_device(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ROOT / "networks"
    images = [str(folder / "digits" / f"{digit}.pgm") for digit in (3, 8)]
    samples = ("--samples", str(folder / "digits_samples.npy"))
    data = reported(tmp_path, str(folder / "digits.onnx"), *samples, "--image", *images)
    assert capsys.readouterr().out.count("RTL and model: same bits (10 of 10 elements equal)") == 2
    assert {layer["verdict"] for layer in data["layers"]} == {"equal"}
    assert [int(np.argmax(run["rtl"])) for run in data["runs"]] == [3, 8]


@pytest.mark.parametrize("order", ["image", "layer"])
def test_several_images_play_as_one_graph(order: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "networks"
    images = [str(folder / "digits" / f"{digit}.pgm") for digit in (3, 8, 9)]
    options = ("--samples", str(folder / "digits_samples.npy"), "--performance", "--schedule")
    data = reported(tmp_path, str(folder / "digits.onnx"), "--image", *images, *options, order)
    said = capsys.readouterr().out
    assert said.count("RTL and model: same bits (10 of 10 elements equal)") == 3
    assert {layer["verdict"] for layer in data["layers"]} == {"equal"}
    assert [int(np.argmax(run["rtl"])) for run in data["runs"]] == [3, 8, 9]
    assert f": {data['cycles_in_layers']['played'] / 3:.0f} cycles an image, predicted" in said


def _plays_random_input(model: onnx.ModelProto, folder: Path, *options: str) -> set[str]:
    """Play a network with random numbers as its input and return the verdicts of its layers."""
    # Tests play beside each other, and a network has the folder of its name.
    path = folder / f"{'-'.join((model.graph.name, *options))}.onnx"
    path.write_bytes(model.SerializeToString())
    graph = graph_of(model)
    np.save(folder / "input.npy", np.random.default_rng(1).standard_normal(graph.shapes[graph.inputs[0]]))
    data = reported(folder, str(path), "--image", str(folder / "input.npy"), *options)
    return {layer["verdict"] for layer in data["layers"]}


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (random_networks.mixed(side=12), ()),
        (random_networks.residual((8, 16), side=8), ()),
        (random_networks.published("squeezenet", 33), ()),
        (random_networks.inception(side=24), ()),
        (random_networks.shuffle(side=16), ()),
        (random_networks.tiled(), ()),
        (random_networks.mixed(side=12), ("--config", "nv_full", "--precision", "int16")),
    ],
    ids=["mixed", "residual", "squeezenet", "normalisation", "shuffle", "reuse", "INT16"],
)
def test_every_byte_of_a_random_onnx_network_is_equal_on_the_device(
    model: onnx.ModelProto, options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _plays_random_input(model, tmp_path, *options) == {"equal"}
    assert re.search(r"RTL and model: same bits \((10+) of \1 elements equal\)", capsys.readouterr().out)


def test_no_layer_has_more_stalls_than_cycles(tmp_path: Path) -> None:
    """Counters of PDP go on from layer to layer: late ones would exceed the cycles of theirs, and be left out."""
    net = random_networks.NetworkBuilder("pools", (64, 12, 12), 1)
    # Windows that have less than nine elements are layers of their own, which wait while the convolution reads.
    pooled = net.pool(net.input, "AveragePool", 3, 1, 1, count_include_pad=0)
    model = net.model(pooled, net.conv(net.input, 64, 3, pad=1))
    (tmp_path / "pools.onnx").write_bytes(model.SerializeToString())
    layers = reported(tmp_path, str(tmp_path / "pools.onnx"), "--performance")["performance"]
    pools, (convolution,) = layers[:9], layers[9:]
    waited = [layer["stalls"]["PDP_RDMA.D_PERF_READ_STALL"] for layer in pools]
    cycles = [layer["cycles"] for layer in pools]
    assert all(0 <= stalls <= taken for stalls, taken in zip(waited, cycles, strict=True))
    # The counter itself then holds more than the cycles of the shortest layers.
    assert sum(waited) > 2 * min(cycles)
    assert "SDP_RDMA.D_PERF_MRDMA_READ_STALL" not in convolution["stalls"]


@pytest.mark.parametrize(
    "model", [random_networks.mixed(side=12), random_networks.inception(side=24)], ids=["mixed", "normalisation"]
)
def test_every_layer_of_a_random_onnx_network_in_fp16_is_within_the_thresholds(
    model: onnx.ModelProto, tmp_path: Path
) -> None:
    verdicts = _plays_random_input(model, tmp_path, "--config", "nv_full", "--precision", "fp16")
    assert "within" in verdicts
    assert verdicts <= {"equal", "within"}


@pytest.mark.parametrize("channels", [32, 10])
def test_layers_of_three_precisions_and_those_that_convert_are_judged(
    channels: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ("--precision", "Conv_2=int16", "--precision", "Conv_5=fp16")
    verdicts = _plays_random_input(stages(channels), tmp_path, "--config", "nv_full", *named)
    assert verdicts == {"equal", "within"}
    said = capsys.readouterr().out
    assert re.search(r"v1_0_int16 +SDP +32x6x6 +equal", said)
    assert re.search(r"v4_0_fp16 +SDP +32x6x6 +within", said)


def test_a_file_with_channels_last_is_equal_on_the_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = File((1, 7, 7, 3))
    onnx.save_model(net.model(classifier(net)), tmp_path / "last.onnx")
    np.save(tmp_path / "in.npy", np.random.default_rng(2).standard_normal((3, 7, 7)).astype(np.float32))
    data = reported(tmp_path, str(tmp_path / "last.onnx"), "--image", str(tmp_path / "in.npy"))
    assert data["outcome"] == "passed"
    assert {layer["verdict"] for layer in data["layers"]} == {"equal"}
    assert [node["operator"] for node in data["share"]["host"]] == ["Softmax"]
    assert "RTL and model: same bits (10 of 10 elements equal)" in capsys.readouterr().out


def test_parts_of_a_file_that_was_cut_are_judged_and_the_host_ends_with_the_devices_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnxruntime")
    net = NetworkBuilder("gated", (3, 8, 8), 1)
    both = around_a_sine(net)
    (end,) = net.add("Sin", [both])
    net.shapes[end] = net.shapes[both]
    onnx.save_model(net.model(end), tmp_path / "gated.onnx")
    data = reported(tmp_path, str(tmp_path / "gated.onnx"))
    assert data["outcome"] == "passed"
    assert [layer["verdict"] for layer in data["layers"]] == ["equal"] * 2
    assert [node["name"] for node in data["share"]["host"]] == ["Sin_1", "Sin_4"]
    assert "RTL and model: same bits (512 of 512 elements equal)" in capsys.readouterr().out


def test_every_operator_is_equal_to_the_model_in_every_byte(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    net = NetworkBuilder("operators", (3, *OPERATORS_SHAPE[1:]), 5)
    onnx.save_model(net.model(*(build(net) for build in OPERATORS.values())), tmp_path / "operators.onnx")
    np.save(tmp_path / "in.npy", np.random.default_rng(2).standard_normal((3, *OPERATORS_SHAPE[1:])).astype(np.float32))
    data = reported(tmp_path, str(tmp_path / "operators.onnx"), "--image", str(tmp_path / "in.npy"), "--on-device")
    assert data["outcome"] == "passed"
    assert {layer["verdict"] for layer in data["layers"]} == {"equal"}
