"""Files that are cut: parts of the accelerator, the host between them, and a report of what ran where."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from networks.random_networks import NetworkBuilder
from nvdla_networks.compiler.accuracy import accuracy_of
from nvdla_networks.compiler.cut import cut_model
from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.inputs import file_inputs, random_inputs
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.reference import Reference
from nvdla_networks.errors import NetworkError
from nvdla_networks.host import HostGraph
from nvdla_networks.network import HardwareTask, SoftwareTask
from nvdla_tb.cli.main import main
from tests.unit.networks.compiler.building import around_a_sine
from tests.unit.networks.loadables import SMALL

pytest.importorskip("onnxruntime")


def gated() -> onnx.ModelProto:
    """Return a file in two parts."""
    net = NetworkBuilder("gated", (3, 8, 8), 1)
    return net.model(around_a_sine(net))


def compiled(model: onnx.ModelProto, **shapes: tuple[int, ...]) -> tuple[CutNetwork, float]:
    """Return a file compiled for nv_small, and the worst cosine of its outputs against onnxruntime."""
    whole = fixed(model.SerializeToString(), shapes)
    ready = prepared(whole)
    samples = random_inputs(file_inputs(ready), 2, seed=1)
    network = CutNetwork.compiled("net", ready, SMALL, samples)
    accuracy = accuracy_of(network, Reference(whole, network.cut.compared, by_host=True), samples, 0)
    return network, min(output.cosine or 0 for output in accuracy.outputs)


def test_what_no_layer_computes_runs_on_the_host_between_parts() -> None:
    network, cosine = compiled(gated())
    tasks = network.place().tasks
    assert [type(task) for task in tasks] == [HardwareTask, SoftwareTask, HardwareTask, SoftwareTask]
    assert cosine > 0.999
    share = network.cut.share
    assert [(node.operator, node.reason) for node in share.host] == [("Sin", "no layer computes this operator")]
    assert share.multiplications == 1
    assert share.nbytes == 3 / 4
    assert share.of(share.host[0]) == 1 / 4


def test_parts_that_need_nothing_of_each_other_are_one() -> None:
    net = NetworkBuilder("two", (3, 8, 8), 1)
    ends = []
    for _ in range(2):
        value = net.conv(net.input, 8, 3, pad=1)
        (sine,) = net.add("Sin", [value])
        net.shapes[sine] = net.shapes[value]
        ends.append(net.conv(sine, 4, 1))
    network, cosine = compiled(net.model(*ends))
    assert len(network.cut.parts) == 2
    assert cosine > 0.999


def test_the_host_may_come_first_and_last_and_make_what_is_no_cube() -> None:
    net = NetworkBuilder("ends", (3, 8, 8), 1)
    (sine,) = net.add("Sin", [net.input])
    net.shapes[sine] = net.shapes[net.input]
    value = net.conv(sine, 4, 3)
    (turned,) = net.add("Transpose", [value], perm=[0, 2, 3, 1])
    net.shapes[turned] = (6, 6, 4)
    network, cosine = compiled(net.model(turned))
    assert [type(task) for task in network.place().tasks] == [SoftwareTask, HardwareTask, SoftwareTask]
    assert cosine > 0.999


def test_integers_and_states_are_inputs_of_the_host() -> None:
    net = NetworkBuilder("states", (3, 8, 8), 1)
    value = net.conv(net.input, 4, 8)
    (row,) = net.add("Gather", [value, "which"], axis=1)
    net.shapes[row] = (1, 1, 1)
    model = net.model(row)
    model.graph.input.append(helper.make_tensor_value_info("which", TensorProto.INT64, [1]))
    network, cosine = compiled(model)
    assert [each.name for each in network.inputs] == ["input", "which"]
    assert [tensor.name for tensor in network.place().inputs] == ["input"]
    assert cosine > 0.999


def test_shapes_that_are_computed_are_constants() -> None:
    net = NetworkBuilder("shapes", (3, 8, 8), 1)
    value = net.conv(net.input, 4, 3)
    (shape,) = net.add("Shape", [value])
    (first,) = net.add("Slice", [shape, net.constant([0], np.int64), net.constant([1], np.int64)])
    (sizes,) = net.add("Concat", [first, net.constant([-1], np.int64)], axis=0)
    (flat,) = net.add("Reshape", [value, sizes])
    net.shapes[flat] = (4 * 6 * 6,)
    model = net.model(flat)
    for size in model.graph.input[0].type.tensor_type.shape.dim[2:]:
        size.dim_param = "side"
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_param = "all"
    with pytest.raises(
        NetworkError, match=r"^--shape input=SIZES must fix the free sizes of input 'input', 1x3x\?x\?$"
    ):
        compiled(model)
    network, cosine = compiled(model, input=(1, 3, 8, 8))
    assert not network.cut.share.host
    assert cosine > 0.999


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"image": (1, 3, 8, 8)}, "--shape must name one of the inputs input, not image"),
        ({"input": (1, 4, 8, 8)}, "--shape of input must be 1x3x8x8, not 1x4x8x8"),
        ({"input": (3, 8, 8)}, "--shape of input must be 1x3x8x8, not 3x8x8"),
    ],
)
def test_a_shape_that_does_not_fit_is_refused(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(NetworkError) as caught:
        fixed(gated().SerializeToString(), shapes)
    assert str(caught.value) == message


def test_a_file_for_several_images_plays_with_one() -> None:
    net = NetworkBuilder("several", (3, 8, 8), 1)
    value = net.conv(net.input, 4, 3)
    (flat,) = net.add("Flatten", [value])
    net.shapes[flat] = (4 * 6 * 6,)
    model = net.model(flat)
    for end in (*model.graph.input, *model.graph.output):
        end.type.tensor_type.shape.dim[0].dim_value = 8
    network, cosine = compiled(model, input=(1, 3, 8, 8))
    assert not network.cut.share.host
    assert cosine > 0.999
    with pytest.raises(NetworkError, match=r"^--shape of input must be 8x3x8x8, not 2x3x8x8$"):
        compiled(model, input=(2, 3, 8, 8))


@pytest.mark.parametrize(
    ("opset", "reason"), [(9, "the host makes"), (13, "axis must be 1, that of the channels, not -1")]
)
def test_the_axis_of_softmax_is_that_of_the_opset(opset: int, reason: str) -> None:
    net = NetworkBuilder("net", (3, 8, 8), 1)
    (pooled,) = net.add("GlobalAveragePool", [net.conv(net.input, 4, 1)])
    (made,) = net.add("Softmax", [pooled])
    net.shapes[made] = (4, 1, 1)
    (node,) = cut_model(prepared(fixed(net.model(made, opset=opset).SerializeToString()))).reading.host
    assert node.reason.startswith(reason)


def test_an_opset_that_is_not_known_is_refused() -> None:
    model = gated()
    model.opset_import[0].version = 6
    with pytest.raises(NetworkError, match=r"^opset of model must be 7 to \d+, not 6$"):
        fixed(model.SerializeToString())


def test_initializers_lie_in_files_of_the_models_folder_alone(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    model = gated()
    onnx.save_model(model, inside / "net.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    data = (inside / "net.onnx").read_bytes()
    assert len(cut_model(prepared(fixed(data, folder=inside))).parts) == 2
    (inside / "weights").rename(tmp_path / "weights")
    for path in ("weights", "../weights", str(tmp_path / "weights")):
        broken = onnx.ModelProto.FromString(data)
        broken.graph.initializer[0].external_data[0].value = path
        with pytest.raises(
            NetworkError, match=r"^initializer 'c0' must lie in a file in the model's folder, not '.*'$"
        ):
            fixed(broken.SerializeToString(), folder=inside)


def test_a_node_that_a_later_step_refuses_goes_to_the_host() -> None:
    net = NetworkBuilder("wide", (3, 8, 80), 1)
    (name,) = net.add("Conv", [net.conv(net.input, 4, 1), net.constant(np.ones((2, 4, 1, 40)))])
    net.shapes[name] = (2, 8, 41)
    network, cosine = compiled(net.model(name))
    (node,) = network.cut.share.host
    assert (node.operator, node.reason) == ("Conv", "kernel width must be at most 32, not 40")
    assert cosine > 0.999


def played(tmp_path: Path, model: onnx.ModelProto, *options: str) -> tuple[int, dict[str, Any]]:
    onnx.save_model(model, tmp_path / "net.onnx")
    report = tmp_path / "report.json"
    code = main(["network", str(tmp_path / "net.onnx"), "--model-only", "--json", str(report), *options])
    return code, json.loads(report.read_text(encoding="utf-8"))[0] if report.is_file() else {}


def test_what_ran_where_is_said_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    code, report = played(tmp_path, gated(), "--html", str(page))
    assert (code, report["outcome"]) == (0, "computed")
    assert report["share"]["host"] == [
        {"name": "Sin_1", "operator": "Sin", "reason": "no layer computes this operator", "elements": 0.25}
    ]
    said = capsys.readouterr().out
    for line in (
        "the accelerator does 100.0% of multiplications and 75.0% of bytes",
        "the host runs 1 node:",
        "  Sin Sin_1: no layer computes this operator; 25.0% of elements",
    ):
        assert f"\n{line}\n" in said
        assert line in page.read_text(encoding="utf-8")


def test_cubes_that_the_host_moves_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = NetworkBuilder("moved", (3, 8, 8), 1)
    assert played(tmp_path, net.model(around_a_sine(net)))[0] == 0
    assert "\nthe host moves 1 cube from part to part\n" in capsys.readouterr().out


def test_on_device_fails_when_a_node_has_to_run_on_the_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["network", str(_saved(tmp_path)), "--model-only", "--on-device"]) != 0
    said = capsys.readouterr().err
    assert "--on-device must be left out: the host has to run Sin Sin_1: no layer computes this operator\n" in said


def _saved(folder: Path) -> Path:
    onnx.save_model(gated(), folder / "net.onnx")
    return folder / "net.onnx"


def test_a_network_of_which_nothing_runs_on_the_device_never_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = NetworkBuilder("host", (3, 4, 4), 1)
    (name,) = net.add("Sin", [net.input])
    net.shapes[name] = net.shapes[net.input]
    onnx.save_model(net.model(name), tmp_path / "host.onnx")
    golden, report = tmp_path / "golden.npy", tmp_path / "report.json"
    np.save(golden, np.zeros((1, 3, 4, 4), dtype=np.float32))
    words = ["network", str(tmp_path / "host.onnx"), "--golden", str(golden), "--json", str(report)]
    for options, code, outcome in (([], 1, "failed"), (["--model-only"], 0, "computed")):
        # Not even where golden results agree.
        assert main([*words, *options]) == code
        (data,) = json.loads(report.read_text(encoding="utf-8"))
        assert (data["passed"], data["outcome"], data["layers"]) == (False, outcome, [])
        assert ("nothing is played: the host computes all nodes" in capsys.readouterr().out) == (code == 1)


def test_without_onnxruntime_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert main(["network", str(_saved(tmp_path)), "--model-only"]) != 0
    wanted = "onnxruntime must be installed for what the host computes: pip install 'nvdla-testbench[networks]'"
    assert wanted in capsys.readouterr().err


def test_an_operator_that_onnxruntime_does_not_know_runs_by_onnx() -> None:
    graph = helper.make_graph(
        [helper.make_node("Max", ["input", "c"], ["made"], name="largest")],
        "integers",
        [helper.make_tensor_value_info("input", TensorProto.INT16, [3])],
        [helper.make_tensor_value_info("made", TensorProto.INT16, [3])],
        [helper.make_tensor("c", TensorProto.INT16, [3], [2, -3, 4])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    found = HostGraph(model).values({"input": np.array([1, -2, 5])})
    np.testing.assert_array_equal(found["made"], [2, -2, 5])


def test_a_cube_behind_a_constant_is_joined_on_the_host() -> None:
    net = NetworkBuilder("joined", (3, 4, 4), 1)
    value = net.conv(net.input, 8, 3, pad=1)
    (name,) = net.add("Concat", [net.constant(np.ones((1, 2, 4, 4))), value], axis=1)
    net.shapes[name] = (10, 4, 4)
    network, cosine = compiled(net.model(name))
    (node,) = network.cut.share.host
    assert node.reason == "input 0 must be computed from the network's input, not a constant"
    assert cosine > 0.999


def test_an_input_that_is_no_tensor_is_refused() -> None:
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [1, 3]))
    ends = [helper.make_value_info(name, kind) for name in ("input", "made")]
    graph = helper.make_graph([helper.make_node("Identity", ["input"], ["made"])], "list", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    with pytest.raises(NetworkError, match=r"^input 'input' must be a tensor, not sequence_type$"):
        fixed(model.SerializeToString())


def test_inputs_of_several_names_come_from_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = NetworkBuilder("two", (3, 4, 4), 1)
    (name,) = net.add("Add", [net.conv(net.input, 3, 1), "other"])
    net.shapes[name] = (3, 4, 4)
    model = net.model(name)
    model.graph.input.append(helper.make_tensor_value_info("other", TensorProto.FLOAT, [1, 3, 4, 4]))
    draw = np.random.default_rng(1)
    values = {each: draw.standard_normal((1, 3, 4, 4)).astype(np.float32) for each in ("input", "other")}
    np.savez(tmp_path / "in.npz", **values)
    code, report = played(tmp_path, model, "--image", str(tmp_path / "in.npz"))
    assert code == 0
    assert report["accuracy"][0]["cosine"] > 0.999
    np.savez(tmp_path / "in.npz", input=values["input"])
    assert played(tmp_path, model, "--image", str(tmp_path / "in.npz"))[0] != 0
    assert "in.npz must hold input (1x3x4x4, float32), other (1x3x4x4, float32)" in capsys.readouterr().err
