"""ConfigROM: measured and published words, slots, decoded bits, round trips and documented quirks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models.config import PACKED_IMAGE_FORMATS, SEMI_PLANAR_IMAGE_FORMATS, HwConfig
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.configrom import QUIRKS, Layout, differences, encode, parse, published
from nvdla_tb.nvdla.configrom_table import SUB_UNITS
from nvdla_tb.nvdla.registers import RegisterMap
from tests.repository import ROOT

SMALL = HwConfig.load("nv_small")
SMALL_256 = HwConfig.load("nv_small_256")
LARGE = HwConfig.load("nv_large")
DOCUMENT = ROOT / "docs" / "reference-model.md"

# What the public nv_small RTL returns from 0x0 to 0x19c, one row per HW version, sub-unit and end of list.
# fmt: off
MEASURED_NV_SMALL = [
    0x10001,
    0x1,
    0x180002, 0, 0, 0x8, 0x32, 0x80, 0x400,
    0x340003, 0, 0x10, 0x10, 0x10, 0x8, 0x8, 0x8, 0x20, 0x8, 0x200, 0, 0xCFFF001, 0x3,
    0x180004, 0, 0, 0x20, 0x8, 0x200, 0x3,
    0x300005, 0, 0x10, 0x10, 0x10, 0x8, 0x8, 0x8, 0x20, 0x8, 0x200, 0x3, 0,
    0x1C0006, 0, 0x10, 0x10, 0x10, 0x8, 0x8, 0x3,
    0x1C0006, 0, 0x10, 0x10, 0x10, 0x8, 0x8, 0x3,
    0x200007, 0, 0, 0x10, 0x10, 0x8, 0x8, 0x3, 0,
    0xE0008, 0, 0, 0x8, 0x9,
    0x200009, 0, 0x18, 0x10, 0x10, 0x3, 0, 0x1, 0x1, 0,
    0xE000A, 0, 0, 0x8, 0xB,
    0x10000B, 0, 0, 0x10, 0x1,
    0xE000C, 0, 0, 0x8, 0xD,
    0x10000D, 0, 0, 0x10, 0x1,
    0,
]
PUBLISHED_NV_SMALL = [
    0x10001,
    0x1,
    0x180002, 0, 0, 0x8, 0x32, 0x4, 0x20,
    0x340003, 0, 0x10, 0x10, 0x10, 0x8, 0x8, 0x8, 0x20, 0x8, 0x200, 0, 0xCFFF001, 0x3,
    0x180004, 0, 0, 0x20, 0x8, 0x200, 0x3,
    0x300005, 0, 0x10, 0x10, 0x10, 0x8, 0x8, 0x8, 0x20, 0x8, 0x200, 0x3, 0,
    0x1C0006, 0, 0, 0x10, 0, 0x8, 0x8, 0x3,
    0x1C0006, 0, 0, 0x10, 0, 0x8, 0x8, 0x3,
    0x200007, 0, 0, 0x10, 0x10, 0x8, 0x8, 0x3, 0,
    0xE0008, 0, 0, 0x8, 0x9,
    0x200009, 0, 0x18, 0x10, 0x3, 0, 0x1, 0x1, 0,
    0xE000A, 0, 0, 0x8, 0xB,
    0x10000B, 0, 0, 0x10, 0x1,
    0xE000C, 0, 0, 0x8, 0xD,
    0x10000D, 0, 0, 0x10, 0x1,
    0,
]
PUBLISHED_NV_LARGE = [
    0x10001,
    0x1,
    0x180002, 0, 0, 0x40, 0x4B0, 0x4, 0x40,
    0x180002, 0, 0x1, 0x40, 0x80, 0x4, 0x40,
    0x340003, 0, 0x1B, 0x10, 0x10, 0x40, 0x20, 0x20, 0x10, 0x40, 0x200, 0x20, 0xCFFF001, 0x3,
    0x180004, 0, 0, 0x10, 0x40, 0x200, 0x4,
    0x300005, 0, 0x1B, 0x10, 0x10, 0x40, 0x20, 0x20, 0x10, 0x40, 0x200, 0x4, 0x20,
    0x1C0006, 0, 0, 0x10, 0, 0x40, 0x20, 0x4,
    0x1C0006, 0, 0, 0x10, 0, 0x40, 0x20, 0x4,
    0x200007, 0, 0x3, 0x10, 0x10, 0x20, 0x20, 0x4, 0x20,
    0xE0008, 0, 0, 0x20, 0xA,
    0x200009, 0, 0x3F, 0x10, 0x4, 0x20, 0x10, 0x10, 0x4,
    0xE000A, 0, 0, 0x20, 0xC,
    0x10000B, 0, 0, 0x10, 0x8,
    0xE000C, 0, 0, 0x20, 0xE,
    0x10000D, 0, 0, 0x10, 0x8,
    0x4000E, 0,
    0x4000F, 0,
    0,
]
# fmt: on


@st.composite
def builds(draw: st.DrawFn) -> HwConfig:
    """Draw a build with a ConfigROM: any mix of units, capabilities, types, sizes and image formats."""
    flag = st.booleans()
    present = {name: draw(flag) for name in ("batch", "ew", "bs", "bn", "pdp", "cdp", "sram", "bdma", "rubik")}
    precisions = st.lists(st.sampled_from(Precision), min_size=1, unique=True).map(tuple)
    atomic_c = draw(st.sampled_from([8, 16, 32, 64]))

    def amount(name: str, limit: int) -> int:
        return draw(st.integers(1, limit)) if present[name] else 0

    return replace(
        LARGE,
        name="drawn",
        feature_data_types=draw(precisions),
        weight_data_types=draw(precisions),
        weight_compression_enable=draw(flag),
        winograd_enable=draw(flag),
        mac_atomic_c_size=atomic_c,
        cbuf_bank_width_bytes=2 * atomic_c,
        memory_atomic_bytes=draw(st.sampled_from([8, 16, 32])),
        batch_enable=present["batch"],
        max_batch_size=amount("batch", 32),
        sdp_lut_enable=present["ew"] and draw(flag),
        sdp_bs_enable=present["bs"],
        sdp_bn_enable=present["bn"],
        sdp_ew_enable=present["ew"],
        sdp_bs_throughput=amount("bs", 16),
        sdp_bn_throughput=amount("bn", 16),
        sdp_ew_throughput=amount("ew", 16),
        pdp_enable=present["pdp"],
        pdp_throughput=amount("pdp", 8),
        cdp_enable=present["cdp"],
        cdp_throughput=amount("cdp", 8),
        bdma_enable=present["bdma"],
        rubik_enable=present["rubik"],
        secondary_memif_enable=present["sram"],
        secondary_memif_max_burst_length=amount("sram", 16),
        secondary_memif_width_bytes=64 if present["sram"] else 0,
        secondary_memif_latency_cycles=amount("sram", 0xFFFF),
        image_formats_packed=tuple(draw(st.lists(st.sampled_from(PACKED_IMAGE_FORMATS), unique=True))),
        image_formats_semi_planar=tuple(draw(st.lists(st.sampled_from(SEMI_PLANAR_IMAGE_FORMATS), unique=True))),
    )


VARIANTS = [(encode, Layout.HARDWARE), (published, Layout.PUBLISHED)]


def test_nv_small_encodes_to_the_words_that_hardware_returns() -> None:
    words = encode(SMALL)
    assert words == MEASURED_NV_SMALL
    assert 4 * (len(words) - 1) == 0x19C


def test_builds_as_published_match_the_printed_columns() -> None:
    assert published(SMALL) == PUBLISHED_NV_SMALL
    assert published(LARGE) == PUBLISHED_NV_LARGE
    assert published(replace(LARGE, pdp_throughput=4))[5] == 0x20, "a variant has its own interface width"


def test_nv_large_on_hardware_keeps_its_values_in_the_layout_measured_on_nv_small() -> None:
    rom = parse(encode(LARGE))
    assert rom["MCIF"]["CIF_BASE_WIDTH"].value == 0x20
    assert rom["SRAMIF"]["CIF_CAP_COMPAT"].bits == ("CIF_IS_SRAM",)
    assert rom["SRAMIF"]["CIF_BASE_MEM_ADDR_WIDTH"].value == 64 << 5
    assert rom["SDP"]["SDP_CAP_COMPAT"].value == 0x3F
    assert rom["SDP"]["SDP_BASE_WEIGHT_TYPES"].value == 0x10
    assert rom["CMAC_B"]["CMAC_B_CAP_COMPAT"].value == 0x10


def test_nv_small_256_differs_from_nv_small_in_atomic_c_and_cbuf_alone() -> None:
    assert [(d.word, d.expected, d.got) for d in differences(parse(encode(SMALL)), SMALL_256)] == [
        ("CDMA_BASE_ATOMIC_C", 32, 8),
        ("CDMA_BASE_CBUF_BANK_WIDTH", 32, 8),
        ("CDMA_BASE_CBUF_BANK_DEPTH", 128, 512),
        ("CBUF_BASE_CBUF_BANK_WIDTH", 32, 8),
        ("CBUF_BASE_CBUF_BANK_DEPTH", 128, 512),
        ("CSC_BASE_ATOMIC_C", 32, 8),
        ("CSC_BASE_CBUF_BANK_WIDTH", 32, 8),
        ("CSC_BASE_CBUF_BANK_DEPTH", 128, 512),
        ("CMAC_A_BASE_ATOMIC_C", 32, 8),
        ("CMAC_B_BASE_ATOMIC_C", 32, 8),
    ]


def test_every_word_has_the_name_offset_and_reset_of_the_register_map() -> None:
    rom = parse(encode(SMALL))
    ours = {0: ("CFGROM_HW_VERSION", rom.hw_version), rom.end_offset: ("CFGROM_END_OF_LIST", 0)}
    for descriptor in rom.descriptors:
        for word in (descriptor.word, *descriptor.payload):
            ours[word.offset] = (f"CFGROM_{word.name}", word.value)
    registers = [register for register in RegisterMap.of(SMALL) if register.unit == "CFGROM"]
    assert ours == {register.offset: (register.name, register.reset) for register in registers}


def test_slots_of_nv_small_are_the_addresses_of_its_register_map() -> None:
    bases = {d.unit: d.base_address for d in parse(encode(SMALL)).descriptors if d.slot is not None}
    assert {"CFGROM": 0, **bases} == RegisterMap.of(SMALL).bases


def test_slots_of_nv_large_are_those_of_the_published_layout() -> None:
    rom = parse(published(LARGE), Layout.PUBLISHED)
    units = (
        *("GLB", "MCIF", "SRAMIF", "CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"),
        *("SDP_RDMA", "SDP", "PDP_RDMA", "PDP", "CDP_RDMA", "CDP", "BDMA", "RUBIK"),
    )
    bases = [(d.unit, d.base_address) for d in rom.descriptors if d.slot is not None]
    assert bases == [(unit, slot * 4096) for slot, unit in enumerate(units, start=1)]


def test_cbuf_has_no_slot() -> None:
    descriptor = parse(encode(SMALL))["CBUF"]
    assert (descriptor.slot, descriptor.base_address) == (None, None)


def test_image_formats_types_and_capabilities_are_decoded_by_name() -> None:
    rom = parse(encode(SMALL))
    assert rom["CDMA"]["CDMA_IMAGE_IN_FORMATS_PACKED"].bits == SMALL.image_formats_packed
    assert rom["CDMA"]["CDMA_IMAGE_IN_FORMATS_SEMI"].bits == ("Y8___U8V8_N444", "Y8___V8U8_N444")
    assert rom["CDMA"]["CDMA_BASE_FEATURE_TYPES"].bits == ("UINT8",)
    assert rom["CDMA"]["CDMA_CAP_COMPAT"].bits == ("IMAGE_IN",)
    assert rom["SDP"]["SDP_CAP_COMPAT"].bits == ("BS", "BN")
    assert rom["CDMA"]["CDMA_BASE_ATOMIC_C"].bits == ()


def test_a_set_bit_without_a_published_name_is_shown_by_its_number() -> None:
    assert parse(encode(SMALL))["CMAC_A"]["CMAC_A_CAP_COMPAT"].bits == ("bit 4",)


def test_wider_types_set_their_published_bits() -> None:
    config = replace(LARGE, feature_data_types=(Precision.INT16, Precision.FP16), cbuf_bank_width_bytes=128)
    assert parse(encode(config))["CDMA"]["CDMA_BASE_FEATURE_TYPES"].bits == ("INT16", "FP16")


def test_absent_units_take_no_slot_so_later_ids_move_up() -> None:
    rom = parse(encode(replace(SMALL, pdp_enable=False, pdp_throughput=0)))
    assert "PDP" not in rom.units
    assert "PDP_RDMA" not in rom.units
    assert rom["CDP_RDMA"]["CDP_RDMA_BASE_CDP_ID"].value == rom["CDP"].slot == 11


def test_a_payload_length_of_14_bytes_takes_four_words() -> None:
    descriptor = parse(encode(SMALL))["SDP_RDMA"]
    assert descriptor.payload_bytes == 14
    assert [word.offset - descriptor.offset for word in descriptor.payload] == [0x4, 0x8, 0xC, 0x10]


def test_the_declared_length_is_the_published_payload_rounded_up_to_words() -> None:
    for unit in SUB_UNITS:
        assert -(-unit.payload_bytes // 4) == len(unit.payload(Layout.PUBLISHED)), unit.name


def test_only_sdp_has_more_payload_on_hardware_than_it_declares() -> None:
    longer = [u.name for u in SUB_UNITS if len(u.payload(Layout.HARDWARE)) > len(u.payload(Layout.PUBLISHED))]
    assert longer == ["SDP"]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(builds(), st.sampled_from(VARIANTS))
def test_a_parsed_rom_holds_every_word_and_differs_in_none(
    config: HwConfig, variant: tuple[Callable[[HwConfig], list[int]], Layout]
) -> None:
    make, layout = variant
    words = make(config)
    rom = parse(words, layout)
    rebuilt = [rom.hw_version]
    for descriptor in rom.descriptors:
        rebuilt += [descriptor.word.value, *(word.value for word in descriptor.payload)]
    assert [*rebuilt, 0] == words
    assert rom.end_offset == 4 * (len(words) - 1)
    assert differences(rom, config) == []


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(builds())
def test_every_parameter_of_a_build_can_be_found_in_its_rom(config: HwConfig) -> None:
    rom = parse(encode(config))
    cdma, sdp, mcif = rom["CDMA"], rom["SDP"], rom["MCIF"]
    assert cdma["CDMA_BASE_ATOMIC_C"].value == config.mac_atomic_c_size
    assert cdma["CDMA_BASE_ATOMIC_M"].value == config.memory_atomic_bytes
    assert cdma["CDMA_MULTI_BATCH_MAX"].value == config.max_batch_size
    assert ("WEIGHT_COMPRESSION" in cdma["CDMA_CAP_COMPAT"].bits) == config.weight_compression_enable
    assert ("WINOGRAD" in rom["CSC"]["CSC_CAP_COMPAT"].bits) == config.winograd_enable
    assert ("MULTI_BATCH" in rom["CACC"]["CACC_CAP_COMPAT"].bits) == config.batch_enable
    assert ("LUT" in sdp["SDP_CAP_COMPAT"].bits) == config.sdp_lut_enable
    assert ("EW" in sdp["SDP_CAP_COMPAT"].bits) == config.sdp_ew_enable
    assert sdp["SDP_EW_THROUGHPUT"].value == config.sdp_ew_throughput
    assert set(cdma["CDMA_IMAGE_IN_FORMATS_PACKED"].bits) == set(config.image_formats_packed)
    assert set(cdma["CDMA_IMAGE_IN_FORMATS_SEMI"].bits) == set(config.image_formats_semi_planar)
    assert mcif["CIF_BASE_WIDTH"].value == config.primary_memif_width_bytes
    enabled = {"SRAMIF": config.secondary_memif_enable, "BDMA": config.bdma_enable, "RUBIK": config.rubik_enable}
    assert {unit: unit in rom.units for unit in enabled} == enabled


def test_every_word_in_which_hardware_departs_from_the_published_table_has_a_quirk() -> None:
    hardware, table = parse(encode(SMALL)), parse(published(SMALL), Layout.PUBLISHED)
    departing = set()
    for descriptor in hardware.descriptors:
        printed = {word.name: word.value for word in table[descriptor.unit].payload}
        departing |= {(descriptor.unit, w.name) for w in descriptor.payload if printed.get(w.name) != w.value}
    assert departing == {
        ("MCIF", "CIF_BASE_BURST_LENGTH_MAX"),
        ("MCIF", "CIF_BASE_MEM_ADDR_WIDTH"),
        ("CMAC_A", "CMAC_A_CAP_COMPAT"),
        ("CMAC_A", "CMAC_A_BASE_WEIGHT_TYPES"),
        ("CMAC_B", "CMAC_B_CAP_COMPAT"),
        ("CMAC_B", "CMAC_B_BASE_WEIGHT_TYPES"),
        ("SDP", "SDP_BASE_WEIGHT_TYPES"),
    }
    assert departing <= {(quirk.unit, quirk.word) for quirk in QUIRKS}


def test_the_document_explains_every_quirk() -> None:
    text = " ".join(DOCUMENT.read_text(encoding="utf-8").replace("`", "").split())
    assert [quirk for quirk in QUIRKS if quirk.sentence not in text] == []
