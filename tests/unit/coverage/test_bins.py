"""Bins: what a model writes, which values fall in, and what is refused."""

from __future__ import annotations

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.coverage.attributes import Value
from nvdla_tb.coverage.bins import parse_bins, sizes_of
from nvdla_tb.stimulus.generate.errors import PlanError

SIZES = {"atom": 8}


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("7", (7,), (6, 8, "7", None)),
        ("-1", (-1,), (0, 1)),
        ("2..atom-1", (2, 7), (1, 8)),
        ("2*atom+1..", (17, 10_000), (16, None)),
        ("..-129", (-129, -40_000), (-128, 0)),
        ("-128..-1", (-128, -1), (-129, 0)),
        ("max", ("max",), ("min", 0, None)),
        ("1x1", ("1x1",), ("area", 1)),
    ],
)
def test_a_bin_holds_what_it_says(label: str, inside: tuple[Value, ...], outside: tuple[Value, ...]) -> None:
    (one,) = parse_bins("model", [label], SIZES)
    assert [value for value in (*inside, *outside) if one.holds(value)] == list(inside)


@pytest.mark.parametrize(
    ("label", "labels"),
    [
        ("each 0..3", ["0", "1", "2", "3"]),
        ("each 1..atom-6", ["1", "2"]),
        ("powers 1..8", ["1", "2..3", "4..7", "8"]),
        ("powers 3..20", ["3", "4..7", "8..15", "16..20"]),
        ("powers -8..4", ["-8", "-7..-4", "-3..-2", "-1", "0", "1", "2..3", "4"]),
    ],
)
def test_a_series_stands_for_its_bins(label: str, labels: list[str]) -> None:
    assert [one.label for one in parse_bins("model", [label], SIZES)] == labels


@pytest.mark.parametrize("bits", [1, 5, 16, 31])
def test_powers_hold_every_number_of_their_range_once(bits: int) -> None:
    low, high = -(1 << bits), (1 << bits) - 1
    bins = parse_bins("model", [f"powers {low}..{high}"], SIZES)
    assert len(bins) == 2 * bits + 2
    for number in (low, low + 1, -2, -1, 0, 1, high - 1, high):
        if low <= number <= high:
            assert sum(one.holds(number) for one in bins) == 1, number


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "model must have at least one bin"),
        (["1", "max", "max"], "model: bins must not overlap, as max and max do"),
        (["1..7", "atom-1"], "model: bins must not overlap, as 1..7 and atom-1 do"),
        (["5..", "..5"], "model: bins must not overlap, as 5.. and ..5 do"),
        (["atom..7"], "model: a range must not be empty, as atom..7 is"),
        (["bank..7"], "model: a range must be of numbers and atom, not bank..7"),
        (["each 1..1001"], "model: each must be of at most 1000 numbers, not 1..1001"),
        (["powers 5..4"], "model: powers must be of a range of numbers and atom, not 5..4"),
        (["powers max"], "model: powers must be of a range of numbers and atom, not max"),
        (["powers 1..8", "7"], "model: bins must not overlap, as 4..7 and 7 do"),
        ([".."], "model: a range must be of numbers and atom, not .."),
    ],
)
def test_bins_that_make_no_sense_are_refused(labels: list[object], message: str) -> None:
    with pytest.raises(PlanError) as error:
        parse_bins("model", labels, SIZES)
    assert str(error.value) == message


def test_sizes_are_those_of_the_configuration() -> None:
    assert sizes_of(HwConfig.load("nv_small")) == {"atom": 8, "atom_c": 8, "group": 8, "banks": 32}
    assert sizes_of(HwConfig.load("nv_full"))["atom"] == 32
