"""Several runs of a network as one graph: order in every queue, what waits, and what stays in the buffer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from networks.random_networks import NetworkBuilder, inception, mixed, tiled
from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.errors import NetworkError
from nvdla_networks.network import Edge, HardwareTask, Operation
from nvdla_networks.order import Order, as_one
from tests.unit.conftest import Run
from tests.unit.networks.loadables import SHAPE, SMALL, copying, residual
from tests.unit.networks.test_schedule import fused, operation, task


def names(which: HardwareTask, engine: EngineId) -> list[str]:
    return [which.operations[number].name for number in which.chains[engine]]


def waits(which: HardwareTask, name: str) -> set[str]:
    (found,) = (each for each in which.operations if each.name == name)
    return {which.operations[edge.producer].name for edge in found.edges if edge.event is Event.COMPLETED}


def pooling() -> HardwareTask:
    return task(operation("pdp0", EngineId.PDP), operation("pdp1", EngineId.PDP, Edge(0, Event.COMPLETED)))


def test_images_follow_each_other_in_the_queue_of_every_engine_and_wait_for_nothing_else() -> None:
    whole = as_one([[pooling()]] * 2, Order.IMAGE, SMALL)
    assert names(whole, EngineId.PDP) == ["n0_t0_pdp0", "n0_t0_pdp1", "n1_t0_pdp0", "n1_t0_pdp1"]
    assert [waits(whole, name) for name in names(whole, EngineId.PDP)] == [set(), {"n0_t0_pdp0"}, set(), {"n1_t0_pdp0"}]


def test_all_images_go_through_a_layer_before_the_next() -> None:
    whole = as_one([[pooling()]] * 2, Order.LAYER, SMALL)
    assert names(whole, EngineId.PDP) == ["n0_t0_pdp0", "n1_t0_pdp0", "n0_t0_pdp1", "n1_t0_pdp1"]
    assert waits(whole, "n1_t0_pdp1") == {"n1_t0_pdp0"}


def test_fused_operations_stay_together() -> None:
    whole = as_one([[fused()]] * 2, Order.IMAGE, SMALL)
    (sdp,) = (each for each in whole.operations if each.name == "n1_t0_sdp0")
    assert sdp.parent is not None
    assert whole.operations[sdp.parent].name == "n1_t0_conv0"
    assert names(whole, EngineId.CONV) == ["n0_t0_conv0", "n1_t0_conv0"]


@pytest.mark.parametrize("order", [Order.IMAGE, Order.LAYER])
def test_a_later_task_waits_for_the_task_before_of_its_own_run(order: Order) -> None:
    after = task(operation("sdp0", EngineId.SDP))
    whole = as_one([[pooling(), after]] * 2, order, SMALL)
    assert waits(whole, "n1_t1_sdp0") == {"n1_t0_pdp1"}


def outcomes(tb: Run, words: str) -> dict[str, list[bytes]]:
    """Return the results of a network in each order."""
    found = {}
    for order in Order:
        assert tb(words, f"--model-only --accuracy 0 --schedule {order.value} --save-results {order.value}").code == 0
        found[order.value] = [path.read_bytes() for path in sorted(Path(order.value).glob("*.npy"))]
    return found


def hosted() -> onnx.ModelProto:
    """Return a network whose middle the host computes, so that it has two tasks."""
    net = NetworkBuilder("hosted", (3, 8, 8), 3)
    value = net.relu(net.conv(net.input, 8, 3))
    (middle,) = net.add("Sigmoid", [value])
    net.shapes[middle] = net.shapes[value]
    return net.model(net.conv(middle, 8, 3))


@pytest.mark.parametrize("make", [mixed, inception, tiled, hosted])
def test_every_order_leaves_the_same_results(tb: Run, make: object) -> None:
    model = make()  # type: ignore[operator]
    Path("net.onnx").write_bytes(model.SerializeToString())
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim][1:]
    for number in range(3):
        np.save(f"{number}.npy", np.random.default_rng(number).standard_normal(shape).astype(np.float32))
    found = outcomes(tb, "network net.onnx --image 0.npy 1.npy 2.npy")
    assert found["image"] == found["layer"] == found["apart"]
    assert len({*found["apart"]}) == 3


@pytest.mark.parametrize("design", [copying(3), residual()])
def test_a_loadable_is_taken_in_every_order(tb: Run, design: object) -> None:
    Path("net.nvdla").write_bytes(design.file())  # type: ignore[attr-defined]
    for number in range(2):
        np.save(f"{number}.npy", np.random.default_rng(number).integers(-128, 128, SHAPE, dtype=np.int8))
    words = "network net.nvdla --model-only --image 0.npy 1.npy"
    found = []
    for order in Order:
        assert tb(words, f"--schedule {order.value} --save-results {order.value}").code == 0
        found.append([path.read_bytes() for path in sorted(Path(order.value).glob("*.npy"))])
    assert found[0] == found[1] == found[2]


def predicted(tb: Run, order: Order) -> tuple[int, int]:
    """Return the cycles of three images, and the bytes of weights and lines that convolutions fetch."""
    words = "network net.onnx --image 0.npy 1.npy 2.npy --model-only --accuracy 0 --performance"
    ran = tb(words, f"--schedule {order.value} --json report.json --html page.html")
    (data,) = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert data["schedule"] == order.value
    first = [layer["run"] for layer in data["layers"]][:4]
    assert first == ([0, 1, 2, 0] if order is Order.LAYER else [0, 0, 0, 0])
    bytes_of = {(layer["name"], layer["judged_bytes"]) for layer in data["layers"]}
    assert len(bytes_of) == len(data["layers"]) / 3
    cycles = data["cycles_in_layers"]["predicted"]
    text = {"apart": "one after the other", "image": "image by image", "layer": "layer by layer"}[order.value]
    said = f"3 images {text}: predicted {cycles / 3:.0f} cycles an image"
    assert f"\n{said}\n" in ran.out
    assert f">{said}<" in Path("page.html").read_text(encoding="utf-8")
    return cycles, sum(layer["bounds"]["MC read"] for layer in data["predictions"])


def test_layers_of_several_images_overlap_and_share_weights(tb: Run) -> None:
    Path("net.onnx").write_bytes(mixed().SerializeToString())
    for number in range(3):
        np.save(f"{number}.npy", np.random.default_rng(number).standard_normal((3, 24, 24)).astype(np.float32))
    apart, image, layer = (predicted(tb, order) for order in Order)
    assert layer[0] < image[0] < apart[0]
    assert layer[1] < image[1] == apart[1]


def test_one_image_has_no_line_of_its_own(tb: Run) -> None:
    Path("net.onnx").write_bytes(mixed().SerializeToString())
    ran = tb("network net.onnx --model-only --accuracy 0 --performance --schedule layer")
    assert ran.code == 0
    assert "an image" not in ran.out


def convolutions(*words: dict[str, int]) -> HardwareTask:
    """Return convolutions whose registers are 0 but for some of CDMA and, for heights, of CSC."""
    zeros = dict.fromkeys(("D_MISC_CFG", "D_BANK", "D_WEIGHT_FORMAT", "D_WEIGHT_BYTES", "D_DATAIN_SIZE_0"), 0)
    zeros |= dict.fromkeys(("D_WEIGHT_ADDR_LOW", "D_WEIGHT_ADDR_HIGH", "D_WEIGHT_RAM_TYPE"), 0)
    made = []
    for number, mine in enumerate(words):
        csc = {"D_MISC_CFG": mine.get("D_MISC_CFG", 0), "D_DATAIN_SIZE_EXT_0": mine.pop("ext", 0)}
        conv = replace(operation(f"conv{number}", EngineId.CONV), words={"CDMA": zeros | mine, "CSC": csc})
        made.append(conv)
    return task(*made)


def flags(operations: Sequence[Operation]) -> list[str]:
    letters = {16: "d", 20: "w", 24: "D", 28: "W"}
    found = []
    for one in operations:
        word = one.words["CDMA"]["D_MISC_CFG"]
        assert word == one.words["CSC"]["D_MISC_CFG"]
        found.append("".join(letter for bit, letter in letters.items() if word >> bit & 1))
    return found


def test_weights_stay_where_all_fit_and_lines_do_not() -> None:
    keeping, kept = 1 << 24, 1 << 16
    small, large = {"D_WEIGHT_BYTES": 4096}, {"D_WEIGHT_BYTES": 4097}
    alike = [[convolutions({**small, "D_MISC_CFG": keeping}, {**small, "D_MISC_CFG": kept})]] * 2
    assert flags(as_one(alike, Order.IMAGE, SMALL).operations) == ["D", "d", "D", "d"]
    # Both take the same weights: they stay through all four.
    assert flags(as_one(alike, Order.LAYER, SMALL).operations) == ["W", "wW", "wW", "w"]
    other = [[convolutions(small, {**small, "D_WEIGHT_ADDR_LOW": 8192})]] * 2
    assert flags(as_one(other, Order.LAYER, SMALL).operations) == ["W", "w", "W", "w"]
    assert flags(as_one([[convolutions(large)]] * 2, Order.LAYER, SMALL).operations) == ["", ""]
    packed = [[convolutions({**small, "D_WEIGHT_FORMAT": 1})]] * 2
    assert flags(as_one(packed, Order.LAYER, SMALL).operations) == ["", ""]


def test_lines_that_a_layer_goes_on_with_forbid_layer_by_layer() -> None:
    runs = [[convolutions({}, {"D_MISC_CFG": 1 << 16, "ext": 2 << 16})]] * 2
    as_one(runs, Order.IMAGE, SMALL)
    message = r"^--schedule must be image: n0_t0_conv1 goes on with lines of the layer before$"
    with pytest.raises(NetworkError, match=message):
        as_one(runs, Order.LAYER, SMALL)
