"""CDP programs: golden words by hand, the tables behind their access registers, and every refusal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import CdpLayer, Surface
from nvdla_tb.nvdla.program.codec import encode, uses_lut
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.nvdla.program.state import RegisterState
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.registers import RegisterMap
from tests.unit.nvdla.registers_helper import (
    NO_CVSRAM,
    Tracked,
    cases,
    check_refused,
    decode_with,
    misfits,
    refused,
    state_after,
    words_of,
)
from tests.unit.nvdla.samples import FULL, SMALL, small_cdp, small_pdp, small_sdp, surface


def test_a_layer_has_the_words_that_the_register_manual_gives() -> None:
    words = words_of(CdpLayer(surface((9, 5, 6), 0x1000), surface((9, 5, 6), 0x2000), small_cdp().params))
    rdma, cdp = words["CDP_RDMA"], words["CDP"]
    assert [rdma[f"D_DATA_CUBE_{axis}"] for axis in ("WIDTH", "HEIGHT", "CHANNEL")] == [5, 4, 8]
    assert (rdma["D_SRC_BASE_ADDR_LOW"], rdma["D_SRC_LINE_STRIDE"], rdma["D_SRC_SURFACE_STRIDE"]) == (0x1000, 48, 240)
    assert (cdp["D_DST_BASE_ADDR_LOW"], cdp["D_DST_LINE_STRIDE"], cdp["D_DST_SURFACE_STRIDE"]) == (0x2000, 48, 240)
    assert (rdma["D_SRC_DMA_CFG"], cdp["D_DST_DMA_CFG"]) == (1, 1)
    assert (rdma["D_DATA_FORMAT"], cdp["D_DATA_FORMAT"]) == (0, 0)
    assert (cdp["D_FUNC_BYPASS"], cdp["D_LRN_CFG"]) == (0, 1)
    assert [cdp[f"D_DATIN_{part}"] for part in ("OFFSET", "SCALE", "SHIFTER")] == [0xFF9C, 3, 1]
    assert [cdp[f"D_DATOUT_{part}"] for part in ("OFFSET", "SCALE", "SHIFTER")] == [50, 0xFFB3, 20]


def test_the_parameters_of_the_tables_stand_in_shared_registers() -> None:
    cdp = words_of(small_cdp())["CDP"]
    assert cdp["S_LUT_CFG"] == 1 << 6 | 1 << 4
    assert cdp["S_LUT_INFO"] == 2 << 16 | 0xFE
    assert (cdp["S_LUT_LE_START_HIGH"], cdp["S_LUT_LE_START_LOW"]) == (0x3F, 0xFFFFFFFD)
    assert (cdp["S_LUT_LE_END_HIGH"], cdp["S_LUT_LE_END_LOW"]) == (0x10, 0)
    assert (cdp["S_LUT_LO_START_LOW"], cdp["S_LUT_LO_END_LOW"]) == (11, 1035)
    assert cdp["S_LUT_LE_SLOPE_SCALE"] == 7 << 16 | 0xFFFB
    assert cdp["S_LUT_LE_SLOPE_SHIFT"] == 0x1C << 5 | 3
    assert cdp["S_LUT_LO_SLOPE_SCALE"] == 0xFED4 << 16 | 300
    assert cdp["S_LUT_LO_SLOPE_SHIFT"] == 0x10 << 5 | 15


def test_a_linear_table_has_its_select_and_no_offset() -> None:
    layer = small_cdp()
    le = replace(layer.params.lut.le, exponent=False, index_offset=0, index_select=-6)
    linear = replace(layer, params=replace(layer.params, lut=replace(layer.params.lut, le=le)))
    cdp = words_of(linear)["CDP"]
    assert (cdp["S_LUT_CFG"] & 1, cdp["S_LUT_INFO"] & 0xFFFF) == (1, 0xFA00)
    assert decode_with(linear, {"CDP.S_LUT_INFO.lut_le_index_offset": 77}) == linear


def test_bypasses_are_set_where_a_step_is_missing() -> None:
    layer = small_cdp()
    alone = replace(layer, params=replace(layer.params, local_size=None, multiply=False))
    assert words_of(alone)["CDP"]["D_FUNC_BYPASS"] == 3
    assert decode_with(alone, {"CDP.D_LRN_CFG.normalz_len": 3}) == alone


def test_int8_offsets_are_the_low_bits_of_their_fields() -> None:
    decoded = decode_with(
        small_cdp(), {"CDP.D_DATIN_OFFSET.datin_offset": 0x80, "CDP.D_DATOUT_OFFSET.datout_offset": 0x1FFFFFF}
    )
    assert isinstance(decoded, CdpLayer)
    assert (decoded.params.input_converter.offset, decoded.params.output_converter.offset) == (-128, -1)


def test_int16_offsets_fill_their_fields() -> None:
    changes = {"CDP.D_DATIN_OFFSET.datin_offset": 0x80, "CDP.D_DATOUT_OFFSET.datout_offset": 0x1FFFFFF}
    decoded = decode_with(small_cdp(config=FULL, precision=Precision.INT16), changes)
    assert isinstance(decoded, CdpLayer)
    assert (decoded.params.input_converter.offset, decoded.params.output_converter.offset) == (128, 0x1FFFFFF)


def test_both_tables_are_written_from_their_first_entry_before_the_unit_is_enabled() -> None:
    ops = [op for op in encode(small_cdp(), SMALL) if isinstance(op, RegWrite)]
    access = [(op.register, op.value) for op in ops if "_ACCESS_" in op.register]
    assert len(access) == 2 + 65 + 257
    assert access[0] == ("CDP.S_LUT_ACCESS_CFG", 1 << 17)
    assert access[1] == ("CDP.S_LUT_ACCESS_DATA", 0x10000 - 27000)
    assert access[66] == ("CDP.S_LUT_ACCESS_CFG", 1 << 17 | 1 << 16)
    assert access[68] == ("CDP.S_LUT_ACCESS_DATA", 0x10000 - 100)
    assert [op.register for op in ops[-2:]] == ["CDP_RDMA.D_OP_ENABLE", "CDP.D_OP_ENABLE"]


def test_only_cdp_layers_use_lookup_tables() -> None:
    assert [uses_lut(layer) for layer in (small_cdp(), small_pdp(), small_sdp())] == [True, False, False]


class Access:
    """The registers of nv_full, and the access to the tables of one unit."""

    def __init__(self, unit: str) -> None:
        self.state = RegisterState(RegisterMap.of(FULL))
        self.unit = unit

    def write(self, name: str, value: int) -> None:
        self.state.write(self.state.registers.register(self.unit, f"S_LUT_ACCESS_{name}"), value)

    def read_data(self) -> None:
        self.state.see_read(self.state.registers.register(self.unit, "S_LUT_ACCESS_DATA"))

    def entries(self) -> tuple[list[int], list[int]]:
        entries = self.state.lut(self.unit)
        assert entries is not None
        return list(entries[0]), list(entries[1])


@pytest.mark.parametrize("unit", ["CDP", "SDP"])
def test_entries_are_written_at_an_address_that_increments(unit: str) -> None:
    access = Access(unit)
    access.write("CFG", 1 << 17 | 1 << 16 | 200)
    for value in (1, 0x1FFFF, 3):
        access.write("DATA", value)
    assert access.entries() == ([0] * 65, [0] * 200 + [1, 0xFFFF, 3] + [0] * 54)


@pytest.mark.parametrize(("table", "last"), [(0, 64), (1, 256)])
def test_the_address_stays_at_the_last_entry(table: int, last: int) -> None:
    access = Access("CDP")
    access.write("CFG", 1 << 17 | table << 16 | last - 1)
    for value in (1, 2, 3):
        access.write("DATA", value)
    assert access.entries()[table][last - 2 :] == [0, 1, 3]


def test_what_is_written_behind_the_last_entry_is_lost() -> None:
    access = Access("CDP")
    access.write("CFG", 1 << 17 | 1022)
    for value in (1, 2, 3):
        access.write("DATA", value)
    assert access.entries() == ([3] + [0] * 64, [0] * 257)


def test_the_address_of_sdp_moves_by_every_access_and_past_the_last_entry() -> None:
    access = Access("SDP")
    access.write("CFG", 1 << 17 | 62)
    access.write("DATA", 1)
    access.read_data()
    for value in (2, 3):
        access.write("DATA", value)
    assert access.entries()[0][62:] == [1, 0, 2]
    access.write("CFG", 1 << 17 | 1022)
    for value in (4, 5, 6):
        access.write("DATA", value)
    assert access.entries()[0][:2] == [6, 0]


def test_the_address_of_cdp_moves_by_accesses_in_its_direction() -> None:
    access = Access("CDP")
    access.write("CFG", 1 << 17)
    access.write("DATA", 1)
    access.read_data()
    access.write("DATA", 2)
    assert access.entries()[0][:3] == [1, 2, 0]


def test_data_is_not_written_while_the_access_is_for_reading() -> None:
    access = Access("CDP")
    access.write("CFG", 5)
    access.write("DATA", 1)
    assert access.entries() == ([0] * 65, [0] * 257)


def test_units_and_resets_have_tables_of_their_own() -> None:
    access = Access("CDP")
    access.write("CFG", 1 << 17)
    access.write("DATA", 7)
    assert access.state.lut("SDP") == (tuple([0] * 65), tuple([0] * 257))
    assert access.state.lut("PDP") is None
    access.state.reset()
    assert access.entries()[0] == [0] * 65


def test_both_groups_share_the_tables() -> None:
    state = state_after(small_cdp())
    assert state.words("CDP", 0)["S_LUT_INFO"] == state.words("CDP", 1)["S_LUT_INFO"] == 2 << 16 | 0xFE
    entries = state.lut("CDP")
    assert entries is not None
    assert np.array(entries[0], dtype=np.uint16).view(np.int16).tolist() == [n * 900 for n in range(-30, 35)]


def test_tables_must_rest_while_a_layer_uses_them() -> None:
    tracked = Tracked()
    tracked.program(small_cdp())
    message = "CDP.S_LUT_ACCESS_CFG must not be written while layer 0 (CDP, group 0) uses the tables"
    with refused(message, Refused):
        tracked.program(small_cdp(), 1)
    assert tracked.write("CDP.S_POINTER", 1) == []
    tracked.tracker.finish("CDP", 0)
    tracked.program(small_cdp(), 1)
    assert [started.name for started in tracked.tracker.running] == ["layer 1 (CDP, group 1)"]


REFUSALS = (
    *cases(
        small_cdp(),
        (
            ("CDP.D_DATA_FORMAT.input_data_type", "CDP_RDMA.D_DATA_FORMAT.input_data"),
            1,
            " must be INT8, not INT16: nv_small",
        ),
        ("CDP.D_DATA_FORMAT.input_data_type", 3, ": must be one of 0, 1, 2, not 3"),
        ("CDP_RDMA.D_SRC_DMA_CFG.src_ram_type", 0, NO_CVSRAM),
        ("CDP.D_DST_DMA_CFG.dst_ram_type", 0, NO_CVSRAM),
        (
            "CDP_RDMA.D_SRC_BASE_ADDR_LOW.src_base_addr_low",
            0x1004,
            ": address must be a multiple of the 8-byte atom, not 0x1004",
        ),
        (
            "CDP.D_DST_LINE_STRIDE.dst_line_stride",
            20,
            ": line_stride_bytes must be a multiple of the 8-byte atom, not 20",
        ),
        (
            "CDP_RDMA.D_SRC_SURFACE_STRIDE.src_surface_stride",
            16,
            ": surface_stride_bytes must be at least the 32 bytes of a surface, not 16",
        ),
        (
            "CDP.S_LUT_LE_START_HIGH.lut_le_start_high",
            31,
            "CDP.S_LUT_LE_START_LOW.lut_le_start_low: lut.le.start must be an integer from -2097152 to 2097151, "
            "not 137438953469",
        ),
        (
            "CDP.S_LUT_LO_START_LOW.lut_lo_start_low",
            0x200000,
            ": lut.lo.start must be an integer from -2097152 to 2097151, not 2097152",
        ),
        ("CDP.S_LUT_INFO.lut_le_index_offset", 21, ": lut.le.index_offset must be an integer from -64 to 20, not 21"),
        ("CDP.S_LUT_INFO.lut_lo_index_select", 14, ": lut.lo.index_select must be an integer from -8 to 13, not 14"),
    ),
    (
        small_cdp(),
        {"CDP.S_LUT_CFG.lut_le_function": 1, "CDP.S_LUT_INFO.lut_le_index_select": 249},
        "CDP.S_LUT_INFO.lut_le_index_select: lut.le.index_select must be an integer from -6 to 15, not -7",
    ),
)


@pytest.mark.parametrize(("layer", "changes", "message"), REFUSALS)
def test_nv_small_refuses(layer: CdpLayer, changes: dict[str, int], message: str) -> None:
    check_refused(layer, changes, message)


@pytest.mark.parametrize(
    ("layer", "changes", "message"),
    [
        *misfits(
            small_cdp(),
            ({"dst": surface((3, 2, 3), 0x2000)}, "dst must have the shape (3, 2, 2) of src, not (3, 2, 3)"),
            ({"dst": surface((3, 2, 2), 0x2000, FULL)}, "dst must be laid out for nv_small as src, not nv_full"),
        ),
        *misfits(
            small_cdp(config=FULL),
            ({"dst": surface((3, 2, 2), 0, FULL, Precision.INT16)}, "dst must have the precision INT8, not INT16"),
            ({"src": surface((3, 2, 2), 0, FULL, Precision.INT16)}, "src must have the precision INT8, not INT16"),
        ),
    ],
)
def test_a_layer_that_does_not_fit_is_refused(layer: CdpLayer, changes: dict[str, Surface], message: str) -> None:
    with refused(message):
        replace(layer, **changes)
