"""The list of built-in configurations."""

from __future__ import annotations

import pytest

from nvdla_models.config import HwConfig, builtin_names
from tests.unit.conftest import Run

PUBLISHED = (
    "nv_small",
    "nv_small_256",
    "nv_small_256_full",
    "nv_medium_512",
    "nv_medium_1024_full",
    "nv_large",
    "nv_full",
)


def test_every_published_configuration_is_built_in() -> None:
    assert set(PUBLISHED) <= set(builtin_names())


@pytest.mark.parametrize(
    ("name", "multipliers", "atom", "buffer_kib", "has_y", "port_bytes"),
    [
        ("nv_small", 64, 8, 128, False, 8),
        ("nv_small_256", 256, 8, 128, False, 8),
        ("nv_small_256_full", 256, 8, 128, True, 8),
        ("nv_medium_512", 512, 16, 512, False, 16),
        ("nv_medium_1024_full", 1024, 32, 512, True, 32),
        ("nv_large", 2048, 32, 512, True, 32),
        ("nv_full", 2048, 32, 512, True, 64),
    ],
)
def test_sizes_are_those_that_the_names_promise(
    name: str, multipliers: int, atom: int, buffer_kib: int, has_y: bool, port_bytes: int
) -> None:
    config = HwConfig.load(name)
    assert config.mac_atomic_c_size * config.mac_atomic_k_size == multipliers
    assert config.cbuf_bank_number * config.cbuf_bank_width_bytes * config.cbuf_bank_depth == buffer_kib * 1024
    assert (config.memory_atomic_bytes, config.primary_memif_width_bytes) == (atom, port_bytes)
    assert (config.sdp_ew_enable, config.secondary_memif_enable) == (has_y, has_y)


def test_the_list_says_in_what_each_differs_from_nv_small(tb: Run) -> None:
    ran = tb("configs")
    assert ran.code == 0
    heads = {line.partition(":")[0] for line in ran.out.splitlines() if not line.startswith(" ")}
    assert heads == set(builtin_names())
    (medium,) = [part for part in ran.out.split("\nnv_") if part.startswith("medium_512:")]
    assert medium.splitlines()[:3] == [
        "medium_512: INT8; 512 multipliers; buffer of 512 KiB",
        "  mac_atomic_c_size: 32, not 8",
        "  mac_atomic_k_size: 16, not 8",
    ]


def test_one_is_printed_whole(tb: Run) -> None:
    out = tb("configs nv_medium_512").out
    assert "memory_atomic_bytes = 16\n" in out
    assert "feature_data_types = INT8\n" in out


def test_a_name_that_is_none_is_refused_with_the_nearest(tb: Run) -> None:
    assert tb("configs nv_medium_513").refusal.endswith(", not nv_medium_513; the nearest name is nv_medium_512")
