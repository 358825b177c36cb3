"""ConfigROM: every difference is found, every malformed list refused, reading stops at the end."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.configrom import (
    HW_VERSION,
    READ_WORDS,
    ConfigRomError,
    Difference,
    Layout,
    differences,
    encode,
    is_complete,
    parse,
    published,
)
from nvdla_tb.nvdla.configrom_table import SUB_UNITS

SMALL = HwConfig.load("nv_small")
LARGE = HwConfig.load("nv_large")
FULL = HwConfig.load("nv_full")
VARIANTS = [(encode, Layout.HARDWARE), (published, Layout.PUBLISHED)]


def whole(message: str) -> str:
    return f"^{re.escape(message)}$"


@pytest.mark.parametrize("config", [SMALL, LARGE], ids=lambda config: config.name)
@pytest.mark.parametrize(("make", "layout"), VARIANTS, ids=["hardware", "published"])
def test_a_flipped_bit_in_any_payload_word_is_the_one_difference(
    config: HwConfig, make: Callable[[HwConfig], list[int]], layout: Layout
) -> None:
    words = make(config)
    for descriptor in parse(words, layout).descriptors:
        for word in descriptor.payload:
            wrong = word.value ^ 1 << word.offset // 4 % 32
            changed = words.copy()
            changed[word.offset // 4] = wrong
            found = differences(parse(changed, layout), config)
            assert found == [Difference(descriptor.unit, word.name, word.offset, word.value, wrong)]


@pytest.mark.parametrize(("make", "layout"), VARIANTS, ids=["hardware", "published"])
def test_every_flipped_bit_of_a_descriptor_is_refused_or_a_difference(
    make: Callable[[HwConfig], list[int]], layout: Layout
) -> None:
    words = make(LARGE)
    refused = reported = 0
    for descriptor in parse(words, layout).descriptors:
        for bit in range(32):
            changed = words.copy()
            changed[descriptor.offset // 4] ^= 1 << bit
            try:
                rom = parse(changed, layout)
            except ConfigRomError:
                refused += 1
                continue
            assert differences(rom, LARGE), f"bit {bit} of {descriptor.word.name}"
            reported += 1
    assert refused + reported == 32 * 17
    assert refused > 0


def test_the_list_cut_after_any_word_is_incomplete_and_refused() -> None:
    words = encode(SMALL)
    for length in range(len(words)):
        assert not is_complete(words[:length])
        with pytest.raises(ConfigRomError):
            parse(words[:length])
    assert is_complete(words)


def test_a_reader_that_appends_until_complete_stops_at_the_end_of_the_list() -> None:
    memory = encode(SMALL) + [0] * 500
    words: list[int] = []
    while not is_complete(words):
        words.append(memory[len(words)])
    assert words == encode(SMALL)


def test_zeros_after_the_end_of_the_list_are_ignored() -> None:
    words = encode(SMALL)
    assert parse(words + [0] * (READ_WORDS - len(words))) == parse(words)


def test_an_unmapped_rom_reads_as_zeros_and_misses_every_unit() -> None:
    found = differences(parse([0] * READ_WORDS), SMALL)
    assert found[0] == Difference("CFGROM", "HW_VERSION", 0, HW_VERSION, 0)
    assert [difference.unit for difference in found[1:]] == list(parse(encode(SMALL)).units)
    assert all(difference.got is None for difference in found[1:])


def test_the_rom_of_nv_small_misses_what_nv_large_has() -> None:
    found = differences(parse(encode(SMALL)), LARGE)
    missing = [str(difference) for difference in found if difference.got is None]
    assert missing == [
        "SRAMIF: CIF_DESC is expected at 0x24 and is not there",
        "BDMA: BDMA_DESC is expected at 0x1b8 and is not there",
        "RUBIK: RUBIK_DESC is expected at 0x1c0 and is not there",
    ]


def test_a_unit_that_the_configuration_lacks_is_a_difference() -> None:
    found = [str(difference) for difference in differences(parse(encode(LARGE)), SMALL)]
    assert "BDMA: BDMA_DESC at 0x1b8 is not expected there" in found
    assert "SRAMIF: CIF_DESC at 0x24 is not expected there" in found


def test_units_in_another_order_are_differences() -> None:
    words = encode(SMALL)
    pdp, cdp = slice(0x14C // 4, 0x174 // 4), slice(0x174 // 4, 0x19C // 4)
    swapped = words[: pdp.start] + words[cdp] + words[pdp] + words[cdp.stop :]
    found = [str(difference) for difference in differences(parse(swapped), SMALL)]
    assert found == [
        "CDP_RDMA: CDP_RDMA_DESC at 0x14c is not expected there",
        "CDP: CDP_DESC at 0x160 is not expected there",
        "CDP_RDMA: CDP_RDMA_DESC is expected at 0x174 and is not there",
        "CDP: CDP_DESC is expected at 0x188 and is not there",
    ]


def test_a_difference_names_unit_word_address_and_both_values() -> None:
    words = encode(SMALL)
    words[0x38 // 4] = 0x40
    (difference,) = differences(parse(words), SMALL)
    assert str(difference) == "CDMA: CDMA_BASE_ATOMIC_C at 0x38 should be 0x8, not 0x40"


def test_another_hw_version_is_a_difference() -> None:
    words = encode(SMALL)
    words[0] = 0x10002
    (difference,) = differences(parse(words), SMALL)
    assert str(difference) == "CFGROM: HW_VERSION at 0x0 should be 0x10001, not 0x10002"


def test_a_rom_laid_out_as_published_is_not_taken_for_the_measured_layout() -> None:
    with pytest.raises(ConfigRomError, match=whole("only 0 may follow the end of the list at 0x14c, not 0x8 at 0x154")):
        parse(published(SMALL))
    assert differences(parse(published(SMALL), Layout.PUBLISHED), SMALL) == []


def edited(changes: dict[int, int], length: int | None = None) -> list[int]:
    """Return the words of nv_small with some replaced by byte offset, and cut to ``length`` words."""
    words = encode(SMALL)
    for offset, value in changes.items():
        words[offset // 4] = value
    return words[:length]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the list must end with a word of 0, but none follows in 0 words"),
        ([HW_VERSION], "the list must end with a word of 0, but none follows in 1 words"),
        ([HW_VERSION, 1], "the list must end with a word of 0, but none follows in 2 words"),
        (edited({}, 103), "the list must end with a word of 0, but none follows in 103 words"),
        (edited({}, 12), "the payload of CDMA at 0x24 must hold 13 words, not 2"),
        (edited({0x24: 0x340010}), "the unit id at 0x24 must be 0x1 to 0xf, not 0x10"),
        (edited({0x24: 0x340000}), "the unit id at 0x24 must be 0x1 to 0xf, not 0x0"),
        (edited({0x24: 0x380003}), "CDMA_DESC at 0x24 must declare a payload of 0x34 bytes, not 0x38"),
        (edited({0x8: 0x1}), "the list must hold unit id 0x1 (GLB) 1 times at most, not again at 0x8"),
        (
            edited({0xEC: 0x1C0006}),
            "the list must hold unit id 0x6 (CMAC_A and CMAC_B) 2 times at most, not again at 0xec",
        ),
        ([HW_VERSION, 0, 0, 5], "only 0 may follow the end of the list at 0x4, not 0x5 at 0xc"),
        ([HW_VERSION, -1], "the word at 0x4 must fit in 32 bits, not -0x1"),
        ([1 << 32, 0], "the word at 0x0 must fit in 32 bits, not 0x100000000"),
    ],
)
def test_a_malformed_list_is_refused(words: list[int], message: str) -> None:
    with pytest.raises(ConfigRomError, match=whole(message)):
        parse(words)


def test_4_kib_without_an_end_of_the_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nvdla_tb.nvdla.configrom.READ_WORDS", 50)
    assert not is_complete(encode(SMALL)[:49])
    message = "the list must end within 0x1000 bytes, but 50 words hold no end"
    with pytest.raises(ConfigRomError, match=whole(message)):
        is_complete(encode(SMALL)[:50])


def test_an_unknown_id_is_refused_while_the_list_is_read() -> None:
    with pytest.raises(ConfigRomError, match=whole("the unit id at 0x4 must be 0x1 to 0xf, not 0xffff")):
        is_complete([HW_VERSION, 0xFFFFFFFF])


@pytest.mark.parametrize("make", [encode, published])
def test_nv_full_has_no_configrom(make: Callable[[HwConfig], list[int]]) -> None:
    message = "nv_full has no ConfigROM: register map nv_full has no unit CFGROM"
    with pytest.raises(ConfigRomError, match=whole(message)):
        make(FULL)
    with pytest.raises(ConfigRomError, match=whole(message)):
        differences(parse(encode(SMALL)), FULL)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (replace(SMALL, primary_memif_width_bytes=256), "CIF_BASE_WIDTH must fit in 8 bits, not 256"),
        (replace(SMALL, primary_memif_latency_cycles=65536), "CIF_BASE_LATENCY must fit in 16 bits, not 65536"),
    ],
)
def test_a_value_beyond_its_field_is_refused(config: HwConfig, message: str) -> None:
    with pytest.raises(ConfigRomError, match=whole(message)):
        encode(config)


def test_an_unknown_unit_or_word_is_refused_with_those_that_exist() -> None:
    rom = parse(encode(SMALL))
    units = ", ".join(unit.name for unit in SUB_UNITS if unit.present(SMALL))
    with pytest.raises(ConfigRomError, match=whole(f"the ConfigROM has no unit BDMA; it has {units}")):
        rom["BDMA"]
    with pytest.raises(ConfigRomError, match=whole("the ConfigROM has no unit GLB; it has none")):
        parse([HW_VERSION, 0])["GLB"]
    known = "PDP_CAP_INCOMPAT, PDP_CAP_COMPAT, PDP_BASE_FEATURE_TYPES, PDP_BASE_THROUGHPUT"
    with pytest.raises(ConfigRomError, match=whole(f"PDP has no word THROUGHPUT; it has {known}")):
        rom["PDP"]["THROUGHPUT"]
    with pytest.raises(ConfigRomError, match=whole("GLB has no word GLB_DESC; it has none")):
        rom["GLB"]["GLB_DESC"]
