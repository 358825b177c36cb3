"""Descriptors of hardware tasks: the registers that they become, and what is refused by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_networks import descriptors as d
from nvdla_networks.compiled import Compiled
from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.errors import NetworkError
from nvdla_networks.loadable import parse_loadable
from nvdla_networks.network import Edge, HardwareTask
from nvdla_networks.scenario import play_networks
from nvdla_tb.nvdla.layers import BdmaLayer, ConvLayer, SdpLayer
from tests.unit.networks.loadables import (
    FULL,
    SHAPE,
    SMALL,
    Design,
    Op,
    convolving,
    copy_op,
    copying,
    cube,
    on_model,
    tensor,
)


def task_of(design: Design) -> HardwareTask:
    (task,) = design.place().tasks
    assert isinstance(task, HardwareTask)
    return task


def test_a_copy_has_the_words_that_the_driver_writes() -> None:
    (operation,) = task_of(copying()).operations
    assert operation.units == ("SDP_RDMA", "SDP")
    rdma, sdp = operation.words["SDP_RDMA"], operation.words["SDP"]
    assert [rdma[f"D_DATA_CUBE_{axis}"] for axis in ("WIDTH", "HEIGHT", "CHANNEL")] == [2, 1, 7]
    assert (rdma["D_SRC_BASE_ADDR_LOW"], rdma["D_SRC_BASE_ADDR_HIGH"]) == (0x8000_0000, 0)
    assert (sdp["D_DST_BASE_ADDR_LOW"], sdp["D_DST_LINE_STRIDE"], sdp["D_DST_SURFACE_STRIDE"]) == (
        *(0x8000_2000, 24, 48),
    )
    assert rdma["D_BRDMA_CFG"] == 1 | 1 << 4 | 1 << 5
    assert sdp["D_DP_BS_CFG"] == 1 | 1 << 1 | 1 << 4 | 1 << 6
    assert sdp["D_CVT_SCALE"] == 1
    assert "D_BS_BASE_ADDR_LOW" not in rdma
    assert "D_DP_BS_ALU_CFG" not in sdp


def test_what_is_not_fetched_needs_no_rdma() -> None:
    surface = {"src.type": 2, "src.address": -1}
    design = replace(copying(), ops=[copy_op(5, 6, surface=surface)])
    (operation,) = task_of(design).operations
    assert operation.units == ("SDP",)
    assert list(operation.words) == ["SDP"]
    assert operation.words["SDP"]["D_FEATURE_MODE_CFG"] == 1


def test_the_stages_of_sdp_take_operands_from_registers_or_memory() -> None:
    stages = {
        **{"x1.enable": 1, "x1.type": 3, "x1.alu_type": 2, "x1.alu": -5, "x1.mul": 0x9000, "x1.shift": 3},
        **{"x1.act": 1, "x1.truncate": 9},
        **{"x2.enable": 1, "x2.type": 2, "x2.mode": 1, "x2.precision": 1, "x2.alu_type": 1},
    }
    surface = cube("x2", 7, (8, 1, 1), size=16)
    design = replace(copying(), ops=[copy_op(5, 6, operation=stages, surface=surface)])
    design.buffers.append((16, bytes(range(16))))
    (operation,) = task_of(design).operations
    rdma, sdp = operation.words["SDP_RDMA"], operation.words["SDP"]
    assert sdp["D_DP_BS_CFG"] == 2 << 2
    assert (sdp["D_DP_BS_ALU_CFG"], sdp["D_DP_BS_MUL_CFG"]) == (3 << 8, 9 << 8)
    assert (sdp["D_DP_BS_ALU_SRC_VALUE"], sdp["D_DP_BS_MUL_SRC_VALUE"]) == (0xFFFB, 0x9000)
    assert rdma["D_BRDMA_CFG"] & 1
    assert rdma["D_NRDMA_CFG"] == 1 << 1 | 1 << 3 | 1 << 5
    assert rdma["D_BN_BASE_ADDR_LOW"] == 0x8000_2000
    assert sdp["D_DP_BN_ALU_CFG"] == 1
    assert "D_DP_BN_ALU_SRC_VALUE" not in sdp
    assert [span.address for span in operation.reads] == [0x8000_0000, 0x8000_2000]


def test_a_copy_is_judged_as_the_layer_that_its_descriptors_mean() -> None:
    played, ((result,),) = on_model([copying().place()], [[values()]])
    (expectation,) = played.expectations
    layer = expectation.started.layer
    assert isinstance(layer, SdpLayer)
    assert (layer.src.layout.shape, layer.src.address) == (SHAPE, 0x8000_0000)
    np.testing.assert_array_equal(result, values(), strict=True)


def values() -> np.ndarray[Any, np.dtype[np.int8]]:
    return np.arange(-20, 28, dtype=np.int8).reshape(SHAPE)


def test_a_fused_convolution_is_one_layer_that_computes_what_its_weights_say() -> None:
    network = convolving().place()
    (task,) = network.tasks
    assert isinstance(task, HardwareTask)
    conv, sdp = task.operations
    assert conv.units == ("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
    assert (conv.edges, sdp.edges) == ((Edge(1, Event.ENABLED),), (Edge(0, Event.PROGRAMMED),))
    assert (conv.parent, sdp.parent) == (None, 0)
    assert conv.words["CDMA"]["D_WEIGHT_BYTES"] == 64
    assert conv.words["CDMA"]["D_DAIN_MAP"] == 1 | 1 << 16
    assert conv.words["CSC"]["D_ATOMICS"] == 5
    played, ((result,),) = on_model([network], [[values()]])
    assert isinstance(played.expectations[0].started.layer, ConvLayer)
    np.testing.assert_array_equal(result, values(), strict=True)


def transfer(number: int, source: int, destination: int, **rest: int) -> dict[str, Any]:
    fields = {"line_size": 64, "line_repeat": 2, "source_line": 64, "destination_line": 96, "surface_repeat": 1}
    fields |= {"source": source, "destination": destination, "source_surface": 128, "destination_surface": 192}
    return {f"transfers.{number}.{name}": value for name, value in (fields | rest).items()}


def test_copies_of_bdma_are_layers_one_after_the_other() -> None:
    surface = {"number": 2, **transfer(0, 5, 6), **transfer(1, 5, 7, line_repeat=1)}
    design = Design([Op(EngineId.BDMA, {"number": 2}, surface)], [(128, bytes(range(128))), (256, None), (64, None)])
    played, _ = on_model([design.place(FULL)], [[]], FULL)
    assert [type(e.started.layer) for e in played.expectations] == [BdmaLayer, BdmaLayer]
    first, second = played.expectations
    assert (first.data[96:160] == np.arange(64, 128)).all()
    assert (second.data == np.arange(64)).all()


def with_op(**rest: Any) -> Design:
    return replace(copying(), ops=[copy_op(5, 6, **rest)])


def with_network(**network: Any) -> Design:
    return replace(copying(), network=network)


def with_conv(**operation: Any) -> Design:
    design = convolving()
    design.ops[0].operation |= operation
    return design


OP = "task 0: operation 0 (sdp0): "


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (with_network(num_rois=2), "task 0: num_rois must be 1, not 2: regions are not known"),
        (with_network(dynamic_roi=1), "task 0: dynamic_roi must be 0, not 1: regions are not known"),
        (with_network(num_operations=0), "task 0: num_operations must be at least 1, not 0"),
        (with_network(num_operations=2), "task 0: dependencies must be 2 entries of 36 bytes, not 36 bytes"),
        (with_network(operations=12), "task 0: operations must be one of the 7 places of its list, not 12"),
        (with_network(surfaces=6), "task 0: surfaces must lie where a blob is loaded, not at position 6"),
        (with_network(**{"op_head.2": -1}), "task 0: SDP's chain must reach operation 0"),
        (with_network(**{"op_head.3": 0}), "task 0: PDP's chain must name operations of the engine, each once, not 0"),
        (
            replace(copying(), version=(0, 13, 0)),
            "task 0: version of the descriptors must be one of 0.10, 0.11, 0.12, 1.2, not 0.13.0",
        ),
        (
            with_op(dependencies=1),
            "task 0: dependency entry 0: dependency_count must be the 0 operations that name it, not 1",
        ),
        (
            with_op(consumers=((EngineId.PDP, 5, 1),)),
            "task 0: dependency entry 0: consumers must be other operations of the task, not 5",
        ),
        (
            with_op(consumers=((EngineId.SDP, 0, 1),)),
            "task 0: dependency entry 0: consumers must be other operations of the task, not 0",
        ),
        (with_op(operation={"x1.enable": 1, "x1.type": 4}), f"{OP}type of stage x1 must be 0 to 3, not 4"),
        (with_op(operation={"x1.mode": 3}), f"{OP}mode of stage x1 must be 0 to 2, not 3"),
        (with_op(operation={"x2.enable": 1, "x2.act": 2}), f"{OP}act of stage x2, which has ReLU, must not be a table"),
        (with_op(operation={"lut_index": 0}), "task 0: luts must be one of the 7 places of its list, not -1"),
        (with_op(surface={"src.type": 3}), f"{OP}type of src must be 0 to 2, not 3"),
        (with_op(surface={"dst.type": 1}), f"{OP}type of dst must be that of its memory, MC, not CV"),
        (
            with_op(surface={"dst.address": 40}),
            "task 0: address of dst must be one of the 7 places of its list, not 40",
        ),
        (with_op(surface={"dst.size": 4097}), f"{OP}dst must end within memory 6, 4096 bytes on, not after 4097"),
        (with_op(surface={"src.width": 0}), f"{OP}SDP_RDMA.D_DATA_CUBE_WIDTH.width: must be 1 to 8192, not 0"),
        (
            with_conv(**{"out_cvt.scale": 2}),
            "task 0: operation 0 (conv0): out_cvt of a convolution must have scale 1 and offset 0, not 2 and 0",
        ),
        (with_conv(data_format=37), "task 0: operation 0 (conv0): data_format must be 0 to 36, not 37"),
    ],
)
def test_a_descriptor_that_cannot_be_played_is_refused_by_name(design: Design, message: str) -> None:
    with pytest.raises(InputError) as refused:
        design.place()
    assert message in str(refused.value)


def test_an_engine_that_the_configuration_lacks_is_refused() -> None:
    surface = {"number": 1, **transfer(0, 5, 6)}
    design = Design([Op(EngineId.BDMA, {}, surface)], [(128, bytes(128)), (256, None)])
    with pytest.raises(
        NetworkError, match=r"^task 0: dependency entry 0: engine must not be BDMA, which nv_small lacks$"
    ):
        design.place(SMALL)


def test_bound_tensors_must_be_feature_cubes_in_their_memory() -> None:
    for change, message in (
        ({"pixel_format": 3}, "tensor 'data': c must be at most the 1 channels of T_R16, not 8"),
        ({"data_type": 1}, "tensor 'data': data type must be 2 (FP16), 3 (INT16), 4 (INT8), not 1"),
        ({"stride_1": 4096}, "tensor 'data' must lie within the 48 bytes of its memory, not 0 + 4120"),
    ):
        design = replace(copying(), inputs=(tensor("data", 5, SHAPE, **change),))
        with pytest.raises(NetworkError) as refused:
            design.place()
        assert str(refused.value).startswith(message)


def test_a_second_placement_shares_what_nobody_writes() -> None:
    compiled = Compiled("test", parse_loadable(convolving().file()), SMALL)
    first, second = compiled.place(), compiled.place()
    assert [(a.name, a.is_constant) for a in first.allocations] == [("m7", True), ("m5", False), ("m6", False)]
    assert [a.name for a in second.allocations] == ["m5", "m6"]
    ends = [a.address + a.nbytes for a in first.allocations]
    assert min(a.address for a in second.allocations) > max(ends)


def test_statistics_are_enabled_and_read_when_the_task_asks_for_them() -> None:
    design = replace(copying(), network={"statistics": 6})
    ops = play_networks("counted", [design.place()], [[None]]).scenario.ops
    registers = [op.register for op in ops if hasattr(op, "register")]
    assert registers.index("SDP.D_PERF_ENABLE") < registers.index("SDP.D_OP_ENABLE")
    assert "SDP.D_PERF_OUT_SATURATION" in registers[registers.index("SDP.D_OP_ENABLE") :]
    assert "SDP_RDMA.D_PERF_MRDMA_READ_STALL" in registers


def test_descriptors_have_the_sizes_of_the_public_interface() -> None:
    assert {dtype.itemsize for dtype in d.OPERATIONS.values()} == {116}
    assert {t.itemsize for v in ((0, 10, 0), (0, 12, 3)) for t in d.surfaces_of(v).values()} == {644}
    assert [t.itemsize for t in (d.NETWORK, d.DEPENDENCY, d.LUT, d.SOFTWARE_NETWORK)] == [40, 36, 700, 256]
    types = [d.surfaces_of(version)[EngineId.SDP] for version in ((0, 11, 0), (0, 12, 5), (1, 2, 0))]
    assert [surface["src"].itemsize for surface in types] == [28, 32, 28]
