"""Scalability parameters: the published table, where built-in files depart from it, and every refusal."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from nvdla_models.cbuf import bank_bytes
from nvdla_models.config import (
    BUILTIN_DIR,
    PACKED_IMAGE_FORMATS,
    SEMI_PLANAR_IMAGE_FORMATS,
    ConfigError,
    HwConfig,
    builtin_names,
)
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.registers import RegisterMap
from tests.unit.models.support import refused

SMALL = HwConfig.load("nv_small")
SMALL_256 = HwConfig.load("nv_small_256")
LARGE = HwConfig.load("nv_large")
FULL = HwConfig.load("nv_full")
INT8, INT16, FP16 = Precision.INT8, Precision.INT16, Precision.FP16

# Parameter: (nv_large, nv_small) as the table prints them; "-" is 0.
PUBLISHED: dict[str, tuple[Any, Any]] = {
    "feature_data_types": ((INT8,), (INT8,)),
    "weight_data_types": ((INT8,), (INT8,)),
    "weight_compression_enable": (True, False),
    "winograd_enable": (True, False),
    "mac_atomic_c_size": (64, 8),
    "mac_atomic_k_size": (32, 8),
    "memory_atomic_bytes": (32, 8),
    "batch_enable": (True, False),
    "max_batch_size": (32, 0),
    "cbuf_bank_number": (16, 32),
    "cbuf_bank_width_bytes": (64, 8),
    "cbuf_bank_depth": (512, 512),
    "secondary_memif_enable": (True, False),
    "sdp_lut_enable": (True, False),
    "sdp_bs_enable": (True, True),
    "sdp_bn_enable": (True, True),
    "sdp_ew_enable": (True, False),
    "sdp_bs_throughput": (16, 1),
    "sdp_bn_throughput": (16, 1),
    "sdp_ew_throughput": (4, 0),
    "bdma_enable": (True, False),
    "rubik_enable": (True, False),
    "pdp_enable": (True, True),
    "pdp_throughput": (8, 1),
    "cdp_enable": (True, True),
    "cdp_throughput": (8, 1),
    "primary_memif_max_burst_length": (1, 4),
    "primary_memif_width_bytes": (64, 8),
    "primary_memif_latency_cycles": (1200, 50),
    "secondary_memif_max_burst_length": (4, 0),
    "secondary_memif_width_bytes": (64, 0),
    "secondary_memif_latency_cycles": (128, 0),
    "memif_address_width_bits": (64, 32),
}

OPTIONAL = {"register_bits", "register_resets", "configrom"}


def written(tmp_path: Path, edit: dict[str, str | None], base: str = "nv_small") -> Path:
    """Write ``base`` with some keys replaced by raw TOML, or dropped where None."""
    lines = []
    skipping = False
    for line in (BUILTIN_DIR / f"{base}.toml").read_text(encoding="utf-8").splitlines():
        key = line.partition(" = ")[0]
        if " = " in line:
            skipping = key in edit
        if not skipping:
            lines.append(line)
    lines += [f"{key} = {value}" for key, value in edit.items() if value is not None]
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def changed(config: HwConfig, change: dict[str, Any]) -> HwConfig:
    return replace(config, **change)


def test_every_published_parameter_is_a_field() -> None:
    others = {"name", "register_map", "image_formats_packed", "image_formats_semi_planar"}
    assert {field.name for field in fields(HwConfig)} == set(PUBLISHED) | others | OPTIONAL


def test_nv_small_departs_from_the_published_table_only_in_the_burst_length() -> None:
    differing = {key: getattr(SMALL, key) for key, (_, value) in PUBLISHED.items() if getattr(SMALL, key) != value}
    assert differing == {"primary_memif_max_burst_length": 1}


def test_nv_large_departs_from_the_published_table_only_in_the_port_widths() -> None:
    differing = {key: getattr(LARGE, key) for key, (value, _) in PUBLISHED.items() if getattr(LARGE, key) != value}
    assert differing == {"primary_memif_width_bytes": 32, "secondary_memif_width_bytes": 32}


def test_the_public_rtl_of_nv_large_has_what_was_measured() -> None:
    missing = dict.fromkeys(
        ("winograd_enable", "weight_compression_enable", "batch_enable", "bdma_enable", "rubik_enable"), False
    )
    expected = replace(LARGE, name="nv_large_rtl", configrom="nv_small", max_batch_size=0, **missing)
    assert HwConfig.load("nv_large_rtl") == expected


def test_nv_small_256_differs_from_nv_small_only_in_atomic_c_and_the_shape_of_cbuf() -> None:
    expected = replace(SMALL, name="nv_small_256", mac_atomic_c_size=32, cbuf_bank_width_bytes=32, cbuf_bank_depth=128)
    assert expected == SMALL_256


@pytest.mark.parametrize(("config", "kibibytes"), [(SMALL, 128), (SMALL_256, 128), (LARGE, 512), (FULL, 512)])
def test_cbuf_has_its_published_size(config: HwConfig, kibibytes: int) -> None:
    assert bank_bytes(config, config.cbuf_bank_number) == kibibytes * 1024


def test_nv_full_has_the_three_precisions_and_32_byte_atoms() -> None:
    assert FULL.feature_data_types == (INT8, INT16, FP16)
    assert [FULL.atom_elements(precision) for precision in Precision] == [32, 16, 16]
    assert [FULL.kernel_group_size(precision) for precision in Precision] == [32, 16, 16]


@pytest.mark.parametrize("config", [SMALL, SMALL_256, LARGE], ids=lambda config: config.name)
def test_scalable_builds_take_8_bit_formats_and_10_bit_rgb(config: HwConfig) -> None:
    assert sum(1 << PACKED_IMAGE_FORMATS.index(name) for name in config.image_formats_packed) == 0x0CFFF001
    assert config.image_formats_semi_planar == ("Y8___U8V8_N444", "Y8___V8U8_N444")


def test_nv_full_takes_every_image_format() -> None:
    assert FULL.image_formats_packed == PACKED_IMAGE_FORMATS
    assert FULL.image_formats_semi_planar == SEMI_PLANAR_IMAGE_FORMATS


def test_image_formats_are_named_and_ordered_as_in_the_pixel_format_register() -> None:
    field = RegisterMap.of(SMALL).register("CDMA", "D_DATAIN_FORMAT").field("pixel_format")
    names = PACKED_IMAGE_FORMATS + SEMI_PLANAR_IMAGE_FORMATS
    assert dict(field.values) == {f"T_{name}": number for number, name in enumerate(names)}


def test_a_user_file_equal_to_a_built_in_one_loads_as_the_same_parameters(tmp_path: Path) -> None:
    assert HwConfig.load(written(tmp_path, {})) == replace(SMALL, name="mine")


def test_a_user_file_is_read_again_after_it_changed(tmp_path: Path) -> None:
    assert HwConfig.load(written(tmp_path, {})).cbuf_bank_depth == 512
    assert HwConfig.load(written(tmp_path, {"cbuf_bank_depth": "256"})).cbuf_bank_depth == 256


def test_a_build_without_image_input_has_empty_format_lists(tmp_path: Path) -> None:
    config = HwConfig.load(written(tmp_path, {"image_formats_packed": "[]", "image_formats_semi_planar": "[]"}))
    assert (config.image_formats_packed, config.image_formats_semi_planar) == ((), ())


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("nv_medium", "; the nearest name is nv_medium_512"),
        ("nv_small.json", "; the nearest name is nv_small"),
        ("mine", ""),
    ],
)
def test_an_unknown_configuration_is_refused_with_the_nearest_name(name: str, nearest: str) -> None:
    known = ", ".join(builtin_names())
    with refused(f"configuration must be one of {known} or an existing .toml file, not {name}{nearest}", ConfigError):
        HwConfig.load(name)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "absent.toml"
    message = f"configuration must be one of {', '.join(builtin_names())} or an existing .toml file, not {path}"
    with refused(message, ConfigError):
        HwConfig.load(path)


@pytest.mark.parametrize("key", [field.name for field in fields(HwConfig) if field.name not in OPTIONAL | {"name"}])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    path = written(tmp_path, {key: None})
    with refused(f"{path}: missing key {key}", ConfigError):
        HwConfig.load(path)


def test_registers_of_a_build_are_tables_of_words_that_may_be_left_out(tmp_path: Path) -> None:
    assert (SMALL.register_bits, SMALL.register_resets) == ((), ())
    path = written(tmp_path, {"register_bits": '{ "CDMA.D_BANK" = 0x000F_000F }', "register_resets": "{}"})
    assert HwConfig.load(path).register_bits == (("CDMA.D_BANK", 0xF_000F),)


def test_all_missing_keys_are_named_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, {"pdp_enable": None, "pdp_throughput": None})
    with refused(f"{path}: missing key pdp_enable, pdp_throughput", ConfigError):
        HwConfig.load(path)


@pytest.mark.parametrize("key", ["mac_atomic_size", "name"])
def test_an_unknown_key_is_named(tmp_path: Path, key: str) -> None:
    path = written(tmp_path, {key: "8"})
    allowed = ", ".join(sorted(field.name for field in fields(HwConfig) if field.name != "name"))
    with refused(f"{path}: unknown key {key}; allowed: {allowed}", ConfigError):
        HwConfig.load(path)


def test_malformed_toml_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("pdp_enable = maybe\n", encoding="utf-8")
    with refused(f"{path}: Invalid value (at line 1, column 14)", ConfigError):
        HwConfig.load(path)


def test_a_file_that_is_no_utf_8_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff")
    message = f"{path}:1: text must be UTF-8, not byte 0xff"
    with refused(message, ConfigError):
        HwConfig.load(path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("mac_atomic_c_size", '"8"', "mac_atomic_c_size must be int, not '8'"),
        ("mac_atomic_c_size", "true", "mac_atomic_c_size must be int, not True"),
        ("mac_atomic_c_size", "8.0", "mac_atomic_c_size must be int, not 8.0"),
        ("pdp_enable", "1", "pdp_enable must be bool, not 1"),
        ("register_map", "1", "register_map must be str, not 1"),
        ("feature_data_types", '"INT8"', "feature_data_types must be a list of names, not 'INT8'"),
        ("feature_data_types", "[8]", "feature_data_types must be a list of names, not [8]"),
        ("image_formats_packed", '"R8"', "image_formats_packed must be a list of names, not 'R8'"),
        ("register_bits", "15", "register_bits must be a table of words by UNIT.REGISTER, not 15"),
        ("configrom", '"nv_smal"', f"configrom must be one of {', '.join(builtin_names())}, not nv_smal"),
        ("register_resets", '{ a = "0" }', "register_resets: a must be a word of 32 bits, not '0'"),
        ("register_bits", "{ a = 0x1_0000_0000 }", "register_bits: a must be a word of 32 bits, not 4294967296"),
        ("weight_data_types", '["INT4"]', "weight_data_types must hold only names of INT8, INT16, FP16, not INT4"),
    ],
)
def test_an_ill_typed_value_is_refused(tmp_path: Path, key: str, value: str, message: str) -> None:
    path = written(tmp_path, {key: value})
    with refused(f"{path}: {message}", ConfigError):
        HwConfig.load(path)


def test_an_impossible_combination_names_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, {"pdp_throughput": "0"})
    message = f"{path}: pdp_throughput must be at least 1 when pdp_enable is true, not 0"
    with refused(message, ConfigError):
        HwConfig.load(path)


POWERS = [
    "mac_atomic_c_size",
    "mac_atomic_k_size",
    "memory_atomic_bytes",
    "cbuf_bank_number",
    "cbuf_bank_width_bytes",
    "cbuf_bank_depth",
    "primary_memif_width_bytes",
    "secondary_memif_width_bytes",
]


@pytest.mark.parametrize("key", POWERS)
@pytest.mark.parametrize("value", [3, 48])
def test_sizes_are_powers_of_two(key: str, value: int) -> None:
    with refused(f"{key} must be a power of two, not {value}", ConfigError):
        changed(LARGE, {key: value})


@pytest.mark.parametrize("key", POWERS[:-1])
@pytest.mark.parametrize("value", [0, -8])
def test_sizes_are_positive(key: str, value: int) -> None:
    with refused(f"{key} must be a power of two, not {value}", ConfigError):
        changed(LARGE, {key: value})


@pytest.mark.parametrize(
    ("enable", "key"),
    [
        ("batch_enable", "max_batch_size"),
        ("sdp_bs_enable", "sdp_bs_throughput"),
        ("sdp_bn_enable", "sdp_bn_throughput"),
        ("sdp_ew_enable", "sdp_ew_throughput"),
        ("pdp_enable", "pdp_throughput"),
        ("cdp_enable", "cdp_throughput"),
        ("secondary_memif_enable", "secondary_memif_max_burst_length"),
        ("secondary_memif_enable", "secondary_memif_width_bytes"),
        ("secondary_memif_enable", "secondary_memif_latency_cycles"),
    ],
)
def test_a_parameter_follows_the_enable_of_its_unit(enable: str, key: str) -> None:
    for value in (0, -1):
        with refused(f"{key} must be at least 1 when {enable} is true, not {value}", ConfigError):
            changed(LARGE, {key: value})
    absent = {name: 0 for name in PUBLISHED if name.startswith("secondary_memif_")} if "memif" in enable else {}
    with refused(f"{key} must be 0 when {enable} is false, not 5", ConfigError):
        changed(LARGE, {**absent, enable: False, key: 5})


@pytest.mark.parametrize(
    ("config", "change", "message"),
    [
        (
            SMALL,
            {"register_map": "nv_tiny"},
            "register_map must be one of nv_small, scalable_rtl_all_units, nv_full, not nv_tiny",
        ),
        (SMALL, {"bdma_enable": True}, "bdma_enable must be false: register map nv_small has no such unit"),
        (SMALL, {"rubik_enable": True}, "rubik_enable must be false: register map nv_small has no such unit"),
        (
            LARGE,
            {"register_map": "nv_small"},
            "secondary_memif_enable must be false: register map nv_small has no such unit",
        ),
        (SMALL, {"feature_data_types": ()}, "feature_data_types must hold at least one data type"),
        (SMALL, {"weight_data_types": (INT8, INT8)}, "weight_data_types must hold each name once, not INT8 2 times"),
        (
            SMALL,
            {"image_formats_packed": ("R8", "R8")},
            "image_formats_packed must hold each name once, not R8 2 times",
        ),
        (
            SMALL,
            {"image_formats_packed": ("R9",)},
            f"image_formats_packed must hold only names of {', '.join(PACKED_IMAGE_FORMATS)}, not R9",
        ),
        (
            SMALL,
            {"image_formats_semi_planar": ("R8",)},
            f"image_formats_semi_planar must hold only names of {', '.join(SEMI_PLANAR_IMAGE_FORMATS)}, not R8",
        ),
        (SMALL, {"primary_memif_latency_cycles": 0}, "primary_memif_latency_cycles must be at least 1, not 0"),
        (SMALL, {"primary_memif_max_burst_length": 0}, "primary_memif_max_burst_length must be at least 1, not 0"),
        (
            SMALL,
            {"primary_memif_max_burst_length": 17},
            "primary_memif_max_burst_length must be at most 16, which the 4-bit len counts, not 17",
        ),
        (
            LARGE,
            {"secondary_memif_max_burst_length": 32},
            "secondary_memif_max_burst_length must be at most 16, which the 4-bit len counts, not 32",
        ),
        (FULL, {"memory_atomic_bytes": 1}, "memory_atomic_bytes must be at least 2 to hold one 16-bit element, not 1"),
        (FULL, {"mac_atomic_k_size": 1}, "mac_atomic_k_size must be at least 2 to hold one 16-bit kernel, not 1"),
        (
            LARGE,
            {"cbuf_bank_width_bytes": 32},
            "cbuf_bank_width_bytes must be at least the 64 bytes of mac_atomic_c_size INT8 channels, not 32",
        ),
        (SMALL, {"memif_address_width_bits": 48}, "memif_address_width_bits must be 32, 40 or 64, not 48"),
        (
            LARGE,
            {"sdp_ew_enable": False, "sdp_ew_throughput": 0},
            "sdp_lut_enable must be false when sdp_ew_enable is false: the LUT is part of Y",
        ),
    ],
)
def test_an_impossible_combination_is_refused(config: HwConfig, change: dict[str, Any], message: str) -> None:
    with refused(message, ConfigError):
        changed(config, change)


@pytest.mark.parametrize("config", [SMALL, SMALL_256, LARGE, FULL], ids=lambda config: config.name)
def test_the_register_map_has_a_base_for_every_unit_of_the_configuration(config: HwConfig) -> None:
    wanted = {"bdma_enable": "BDMA", "rubik_enable": "RBK", "secondary_memif_enable": "CVIF"}
    present = {unit for key, unit in wanted.items() if getattr(config, key)}
    assert present <= set(RegisterMap.of(config).units)
