"""Measured layers become scenarios, and a file that cannot be one says why."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import CheckFile, InterruptNotify, MemInit, MemLoad, Poll, RegRead, RegWrite, SyncWait
from nvdla_tb.stimulus.trace import TraceUnsupported, find_traces, read
from nvdla_tb.stimulus.trace.measured import MeasuredFile
from tests.unit.nvdla.samples import FULL, SMALL
from tests.unit.stimulus.trace.conftest import refusal
from tests.unit.stimulus.trace.measured_files import CARRIED, MEASURED, Arrays, rewritten

FILES = [path for path in sorted(MEASURED.glob("*.npz")) if "registers" in MeasuredFile.load(path).meta]
Change = Callable[[Arrays, dict[str, Any]], object]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_reads_as_its_writes_and_expects_its_bytes_and_counters(path: Path) -> None:
    scenario = read(path, FULL)
    with np.load(path) as file:
        meta, output = json.loads(str(file["meta"])), file["raw_output"].tobytes()
    assert (scenario.name, scenario.config, scenario.seed) == (path.stem, "nv_full", meta["seed"])
    writes = [(op.register, op.value) for op in scenario.ops if isinstance(op, RegWrite)]
    plain = [(name, value) for name, value in writes if not name.endswith(".S_LUT_ACCESS_DATA")]
    assert plain == [(name, value) for name, value in meta["registers"] if value is not None]
    (check,) = scenario.checks
    assert isinstance(check, CheckFile)
    assert (check.ram, check.nbytes, check.chunks) == (Ram.MC, len(output), ((0, output),))
    reads = {op.register: op.expected for op in scenario.ops if isinstance(op, RegRead)}
    counters = meta.get("status_read_after_done", {})
    # Lookups are also counted in idle slots, so another memory gives other numbers.
    assert reads == {name: None if "PERF_LUT" in name else value for name, value in counters.items()}
    inits = [(op.address, op.nbytes) for op in scenario.ops if isinstance(op, MemInit)]
    assert [address for address, _ in inits] == [int(address, 16) for address, _ in meta["memory"]]
    larger = [new for (_, new), (_, nbytes) in zip(inits, meta["memory"], strict=True) if new != nbytes]
    assert larger in ([], [dict(meta["registers"]).get("CDMA.D_WEIGHT_BYTES")])


def test_operands_lie_where_the_registers_say() -> None:
    scenario = read(CARRIED / "sdp_bn_batchnorm_ch_mid.npz", FULL)
    loads = {op.address: op.chunks[0][1] for op in scenario.ops if isinstance(op, MemLoad)}
    with np.load(CARRIED / "sdp_bn_batchnorm_ch_mid.npz") as file:
        operands, cube = file["bn_op"], file["input"]
    assert sorted(loads) == [0x80000000, 0x80A00000]
    pairs = np.frombuffer(loads[0x80A00000], dtype=np.uint16).reshape(-1, 2)
    np.testing.assert_array_equal(pairs[: len(operands)], operands, strict=True)
    assert not pairs[len(operands) :].any()
    first_atom = np.frombuffer(loads[0x80000000][:32], dtype=np.uint16)
    np.testing.assert_array_equal(first_atom, cube[:16, 0, 0], strict=True)


def test_lookup_tables_are_written_entry_by_entry() -> None:
    ops = read(CARRIED / "cdp_int8_lrn3.npz", FULL).ops
    words = [op.value for op in ops if isinstance(op, RegWrite) and op.register == "CDP.S_LUT_ACCESS_DATA"]
    with np.load(CARRIED / "cdp_int8_lrn3.npz") as file:
        assert words == [*file["lut_le"].tolist(), *file["lut_lo"].tolist()]


def test_a_convolution_waits_for_its_buffer_before_anything_is_enabled() -> None:
    ops = read(CARRIED / "dc_int16_5x5x96_k20_a.npz", FULL).ops
    poll = ops.index(Poll("CDMA.S_CBUF_FLUSH_STATUS", 1))
    enables = [n for n, op in enumerate(ops) if isinstance(op, RegWrite) and op.register.endswith(".D_OP_ENABLE")]
    assert poll == enables[0] - 1
    assert ops.count(ops[poll]) == 1


def test_counters_are_read_behind_the_interrupt() -> None:
    ops = read(CARRIED / "cdp_int8_lrn3.npz", FULL).ops
    at = ops.index(InterruptNotify("CDP", 0, "done"))
    assert ops[at + 1] == SyncWait("CDP", "done")
    assert all(isinstance(op, RegRead) for op in ops[at + 2 : -1])
    assert isinstance(ops[-1], CheckFile)


def test_the_prefill_lies_at_the_destination_alone() -> None:
    ops = read(CARRIED / "rubik_split_int8_24x5x37.npz", FULL).ops
    inits = {op.address: op.value for op in ops if isinstance(op, MemInit)}
    assert inits == {0x80000000: 0, 0x80400000: 0xA5}
    assert InterruptNotify("RUBIK", 0, "done") in ops


@pytest.mark.parametrize("name", ["cdp_int8_lrn3", "pdp_max"])
def test_another_configuration_is_unsupported(name: str) -> None:
    path = CARRIED / f"{name}.npz"
    assert refusal(path, SMALL, TraceUnsupported) == f"{path}: the layer was measured on nv_full, not on nv_small"


def test_layers_are_found_beside_traces(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "t.cfg").touch()
    (tmp_path / "deep" / "er").mkdir(parents=True)
    layer = tmp_path / "deep" / "er" / "sdp_x.npz"
    layer.touch()
    assert find_traces([tmp_path]) == (layer, tmp_path / "t")
    assert find_traces([layer, tmp_path]) == (layer, tmp_path / "t")


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("sdp_int16_to_int8", "sdp int16 to int8"),
        ("dc_int16_5x5x96_k20_a", "dc int16"),
        ("pdp_max", "pdp fp16, described"),
        ("rubik_merge_int8_24x5x37", "rubik int8"),
    ],
)
def test_a_family_is_the_kind_of_layer_with_its_precisions(name: str, family: str) -> None:
    assert MeasuredFile.load(CARRIED / f"{name}.npz").family == family


def put(key: str, value: object) -> Change:
    return lambda arrays, meta: meta.update({key: value})


def put_array(key: str, value: object) -> Change:
    return lambda arrays, meta: arrays.update({key: np.asarray(value)})


def write_at(index: int, *entry: object) -> Change:
    return lambda arrays, meta: meta["registers"].__setitem__(index, list(entry))


def set_write(name: str, value: int) -> Change:
    def change(arrays: Arrays, meta: dict[str, Any]) -> None:
        meta["registers"] = [[each, value if each == name else word] for each, word in meta["registers"]]

    return change


def drop_writes(pattern: str) -> Change:
    def change(arrays: Arrays, meta: dict[str, Any]) -> None:
        meta["registers"] = [entry for entry in meta["registers"] if not re.fullmatch(pattern, entry[0])]

    return change


MALFORMED: dict[str, list[tuple[Change, str]]] = {
    "cdp_int8_lrn3": [
        (
            lambda arrays, meta: arrays.pop("raw_output"),
            "the file must hold raw_output, not only input, lut_le, lut_lo, output",
        ),
        (put_array("raw_output", np.zeros((2, 3), dtype=np.int16)), "raw_output must be uint8 (N,), not int16 (2, 3)"),
        (put_array("raw_output", np.zeros(0, dtype=np.uint8)), "raw_output must be uint8 (N,), not uint8 (0,)"),
        (
            put("memory", [["0x80000000", 4288], ["0x80400000", 4031]]),
            "memory must have room for the 4032 bytes of raw_output at 0x80400000",
        ),
        (put("memory", [["0x80400000", 4032]]), "memory must have room for the 4032 bytes of input at 0x80000000"),
        (put("memory", [[1, 2]]), "memory must be [address, size], not [1, 2]"),
        (put("memory", [["here", 2]]), "memory must be [address, size], not ['here', 2]"),
        (lambda arrays, meta: meta.pop("memory"), "memory must be list, not None"),
        (put("seed", "x"), "seed must be int, not 'x'"),
        (put("registers", {}), "registers must be list, not {}"),
        (write_at(0, "GLB.S_INTR_MASK"), "registers must be [UNIT.REGISTER, value], not ['GLB.S_INTR_MASK']"),
        (write_at(0, "GLB.S_MASK", 0), "unit GLB has no register S_MASK"),
        (write_at(0, "GLB.S_INTR_MASK", 1 << 32), "GLB.S_INTR_MASK must be 0 to 0xffffffff, not 4294967296"),
        (write_at(0, "GLB.S_INTR_MASK", None), "GLB.S_INTR_MASK must be 0 to 0xffffffff, not None"),
        (put_array("lut_le", np.zeros(64, dtype=np.uint16)), "lut_le must be uint16 (65,), not uint16 (64,)"),
        (drop_writes(r".*\.D_OP_ENABLE"), "registers must enable one of CDMA, SDP_RDMA, PDP_RDMA, CDP_RDMA, RBK"),
        (drop_writes(r"CDP_RDMA\.D_SRC_BASE_ADDR_LOW"), "registers must hold CDP_RDMA.D_SRC_BASE_ADDR_LOW"),
        (
            drop_writes(r"CDP_RDMA\.D_SRC_LINE_STRIDE"),
            "input: line_stride_bytes must be at least the 288 bytes of a line, not 0",
        ),
        (lambda arrays, meta: meta.pop("precision"), "meta must hold in_precision or precision"),
        (put("precision", "fp8"), "precision must be one of int8, int16, fp16, not 'fp8'"),
        (put_array("input", np.zeros((64, 7, 9), dtype=np.int16)), "input must have elements of 1 bytes, not int16"),
        (
            put("memory", [["0x80000000", 1 << 33]]),
            "memory must be an address of 64 bits and 1 to 1073741824 bytes, not ['0x80000000', 8589934592]",
        ),
        (put("memory", [["0x80000000", 1 << 30], ["0xc0000000", 1 << 30]]), "memory must be at most 1073741824 bytes"),
        (
            set_write("CDP_RDMA.D_SRC_SURFACE_STRIDE", 0xFFFFFFE0),
            "input: a surface must have at most 268435456 bytes, not 4294969280",
        ),
        (put("status_read_after_done", [1]), "status_read_after_done must be a table, not [1]"),
        (
            put("status_read_after_done", {"CDP.D_PERF_WRITE_STALL": "x"}),
            "CDP.D_PERF_WRITE_STALL must be 0 to 0xffffffff, not 'x'",
        ),
        (put("dst_prefill", "0x1ff"), "dst_prefill must be 0x0 to 0xff, not '0x1ff'"),
        (put("status_read_after_done", {"CDP.D_SUM": 0}), "unit CDP has no register D_SUM"),
    ],
    "dc_fp16_4x4x96_k16_comp70": [
        (set_write("CDMA.D_WEIGHT_BYTES", 0xFFFFFF80), "memory must be at most 1073741824 bytes"),
    ],
    "sdp_bn_batchnorm_ch_mid": [
        (
            put_array("bn_op", np.zeros((40, 1, 1, 1, 2), dtype=np.int16)),
            "bn_op must have 1 to 3 axes and a last axis of 2, not the shape (40, 1, 1, 1, 2)",
        ),
        (
            lambda arrays, meta: meta["stages"]["bn"].update(use="add"),
            "use of bn_op must be alu, mul or both, not 'add'",
        ),
        (put_array("bn_op", np.zeros((40, 2), dtype=np.int32)), "bn_op: component_bytes must be 1 or 2, not 4"),
    ],
}
"""By the layer that is changed."""


@pytest.mark.parametrize(
    ("source", "change", "message"),
    [(source, change, message) for source, changes in MALFORMED.items() for change, message in changes],
)
def test_a_malformed_file_is_refused(source: str, change: Change, message: str, tmp_path: Path) -> None:
    path = rewritten(tmp_path / f"{source}.npz", source, change)
    assert refusal(path, FULL) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.zeros(1)}, "the file must hold meta, not only x"),
        ({"meta": np.array("[]")}, "meta must be a JSON object, not []"),
        (
            {"meta": np.array("{")},
            "meta must be JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
    ],
)
def test_a_file_without_meta_is_refused(arrays: Arrays, message: str, tmp_path: Path) -> None:
    path = tmp_path / "sdp_x.npz"
    np.savez(path, **arrays)
    assert refusal(path, FULL) == f"{path}: {message}"


def test_a_file_that_is_no_npz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sdp_x.npz"
    path.write_bytes(b"PK\x03\x04 nothing")
    assert refusal(path, FULL) == f"{path}: cannot be read as .npz: File is not a zip file"
