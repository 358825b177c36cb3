"""The valid conditions of all counters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from models.counters import COUNTERS, CounterSettings, count_infinity, count_nan, counter
from models.errors import InputError
from models.precision import Precision

ALL_SETTINGS = [
    CounterSettings(*precisions, *enables)
    for precisions in itertools.product(Precision, repeat=3)
    for enables in itertools.product((False, True), repeat=2)
]


def valid(unit: str, name: str) -> list[CounterSettings]:
    return [settings for settings in ALL_SETTINGS if counter(unit, name).published(settings)]


@pytest.mark.parametrize("unit", ["CACC", "CDP"])
def test_the_saturation_counters_of_cacc_and_cdp_are_always_valid(unit: str) -> None:
    assert valid(unit, "out_saturation") == ALL_SETTINGS


def test_the_published_sdp_saturation_counter_needs_its_enable_and_fp16_throughout() -> None:
    assert valid("SDP", "out_saturation") == [
        s for s in ALL_SETTINGS if s.saturation_enabled and s.proc_precision is s.out_precision is Precision.FP16
    ]


def test_the_measured_sdp_saturation_counter_also_counts_integers() -> None:
    measured = counter("SDP", "out_saturation").measured
    assert measured(CounterSettings(Precision.INT16, Precision.INT16, Precision.INT16, True, False))
    assert measured(CounterSettings(Precision.INT16, Precision.INT16, Precision.FP16, True, False))
    assert not measured(CounterSettings(Precision.INT16, Precision.INT16, Precision.INT16, False, True))
    assert not measured(CounterSettings(Precision.FP16, Precision.FP16, Precision.INT16, True, True))


@pytest.mark.parametrize(
    ("unit", "name"),
    [
        (unit, name)
        for unit, names in {
            "CDMA": ("inf_input_data", "inf_input_weight", "nan_input_data", "nan_input_weight"),
            "CDP": ("inf_input", "nan_input", "nan_output"),
            "PDP": ("inf_input", "nan_input", "nan_output"),
        }.items()
        for name in names
    ],
)
def test_nan_and_infinity_counters_need_fp16_input(unit: str, name: str) -> None:
    assert valid(unit, name) == [s for s in ALL_SETTINGS if s.in_precision is Precision.FP16]


@pytest.mark.parametrize("name", ["nan_input", "inf_input"])
def test_the_sdp_reader_counts_only_when_enabled_and_the_sdp_itself_never(name: str) -> None:
    assert valid("SDP_RDMA", name) == [
        s for s in ALL_SETTINGS if s.in_precision is Precision.FP16 and s.nan_inf_enabled
    ]
    assert valid("SDP", name) == []


def test_the_sdp_counts_nan_outputs_when_it_writes_fp16_and_is_enabled() -> None:
    assert valid("SDP", "nan_output") == [
        s for s in ALL_SETTINGS if s.out_precision is Precision.FP16 and s.nan_inf_enabled
    ]


def test_the_cdp_was_measured_not_to_count_nan_and_infinity() -> None:
    for name in ("inf_input", "nan_input", "nan_output"):
        assert not any(counter("CDP", name).measured(settings) for settings in ALL_SETTINGS)


def test_every_counter_of_the_two_tables_is_listed_once() -> None:
    assert len(COUNTERS) == len({(row.unit, row.name) for row in COUNTERS}) == 18


def test_an_unknown_counter_is_refused() -> None:
    with pytest.raises(InputError, match=r"^counter must be one of CACC\.out_saturation, .*, not PDP\.out_saturation$"):
        counter("PDP", "out_saturation")


def test_nan_and_infinity_of_both_signs_are_counted() -> None:
    bits = np.array([0x7C00, 0xFC00, 0x7C01, 0xFFFF, 0xFE00, 0x7BFF, 0], dtype=np.uint16)
    assert (count_nan(bits), count_infinity(bits)) == (3, 2)
