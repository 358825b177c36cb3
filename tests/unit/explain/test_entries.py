"""Entries of the convolution buffer that CDMA fills, within a layer and from layer to layer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from nvdla_tb.explain.handed_beats import Handed, Ring
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.stages import StageResult, compare
from nvdla_tb.explain.tap import Handover
from tests.unit.explain.cases import conv_layer
from tests.unit.explain.test_culprit import INSIDE
from tests.unit.explain.test_handed import compared, converted
from tests.unit.explain.test_runs import LOAD, elsewhere, played

ATOMS = len(converted())


def at(first: int, entries: int = 8 * 512) -> list[Handover]:
    """Return the atoms of the converted input in the entries of as many banks, from one on."""
    return [replace(beat, address=(first + n) % entries) for n, beat in enumerate(converted())]


def test_each_atom_goes_to_the_next_entry_of_the_data_banks() -> None:
    beats = at(0)
    assert compared(beats, "converted", address="a").wrong is None
    beats[20] = replace(beats[20], address=8 * 512)
    wrong = str(compared(beats, "converted", address="a"))
    assert wrong.endswith("expected in entry 20 of the buffer, got in 4096")


@pytest.mark.parametrize(
    ("banks", "first", "wrong"),
    [
        (8, ATOMS, None),
        (8, 0, f"expected in entry {ATOMS} of the buffer, got in 0"),
        (8, ATOMS - 16, f"expected in entry {ATOMS} of the buffer, got in {ATOMS - 16}"),
        (7, 0, None),
        (7, ATOMS, f"expected in entry 0 of the buffer, got in {ATOMS}"),
    ],
)
def test_a_layer_begins_behind_the_one_before_or_anew_after_a_change_of_banks(
    banks: int, first: int, wrong: str | None
) -> None:
    layer = conv_layer()
    following = replace(elsewhere(layer, 0x8000), cbuf=replace(layer.cbuf, data_banks=banks))
    stage = structs.replace(INSIDE, value="converted", stripe=None, address="a")
    beats = {stage.name: [*at(0), *at(first)]}
    found = compare([stage], beats, Seen.of(played(layer, following)), (LOAD,))
    results: list[StageResult] = [found[0][0], found[1][0]]
    assert results[0].wrong is None
    assert (results[1].wrong or "").endswith(wrong or "")
    assert (results[1].wrong is None) == (wrong is None)


def loads(entries: int | None, banks: tuple[int, int] | None) -> Handed:
    """Return a layer that fills some entries, None for one of which it is not known."""
    none = np.zeros((0, 8), dtype=np.int64)
    return Handed(none, none.astype(np.bool_), lambda *_: "", banks=banks, loaded=entries)


BANKS, OTHERS, NOTHING, UNKNOWN = (64, 32), (64, 16), loads(0, None), loads(None, None)


@pytest.mark.parametrize(
    ("before", "first"),
    [
        ([], 64),
        ([loads(20, BANKS)], 84),
        ([loads(20, BANKS), loads(20, BANKS)], 72),
        ([loads(20, BANKS), NOTHING], 84),
        ([loads(20, OTHERS)], 64),
        ([loads(20, BANKS), UNKNOWN], None),
        ([loads(20, BANKS), UNKNOWN, loads(3, OTHERS)], 64),
        ([loads(20, OTHERS), UNKNOWN], 64),
    ],
)
def test_banks_are_filled_round_and_round(before: list[Handed], first: int | None) -> None:
    ring = Ring()
    for right in before:
        ring = ring.after(right)
    assert ring.first_of(loads(1, BANKS)) == first
    assert ring.first_of(NOTHING) is None


@pytest.mark.parametrize(
    ("before", "last", "refills"),
    [
        ([], loads(32, BANKS), False),
        ([], loads(33, BANKS), True),
        ([loads(20, BANKS)], loads(12, BANKS), False),
        ([loads(20, BANKS)], loads(13, BANKS), True),
        ([loads(20, OTHERS)], loads(32, BANKS), False),
        ([loads(20, BANKS), UNKNOWN], loads(40, BANKS), False),
        ([loads(20, BANKS)], NOTHING, False),
    ],
)
def test_a_layer_that_goes_round_the_buffer_fills_entries_again(
    before: list[Handed], last: Handed, refills: bool
) -> None:
    ring = Ring()
    for right in before:
        ring = ring.after(right)
    assert ring.is_refilled_by(last) == refills
