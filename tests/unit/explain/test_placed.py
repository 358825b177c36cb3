"""Right bytes at wrong addresses are told from wrong bytes, and from writes that are lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from nvdla_tb.explain import Explanation, explain_run
from nvdla_tb.explain.memory import Bytes, Patch
from nvdla_tb.explain.placed import misplaced
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.suspect import suspects
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.finding import Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.layers import Layer, WidthSplit
from tests.unit.explain import cases
from tests.unit.explain.faults import run, strides
from tests.unit.explain.full_cases import stored
from tests.unit.explain.test_runs import LOAD
from tests.unit.run.regress.tasks import wrong

MEMORY = cases.memory_for(3)
FIRST = cases.copy_layer()
SECOND = replace(cases.sdp_layer(), dst=replace(cases.sdp_layer().dst, address=cases.DST + 0x2000))


def explained(layers: Sequence[Layer], written: Sequence[Beats], memory: Bytes = MEMORY) -> list[Explanation]:
    """Explain layers that wrote some beats, one after the other."""
    expectations = [cases.predicted(layer, memory, number) for number, layer in enumerate(layers)]
    seen = Seen.of(cases.scored(zip(expectations, written, strict=True)))
    return explain_run(seen, (replace(LOAD, chunks=((0, memory.data.tobytes()),)),))


def at(patch: Patch, address: int) -> Beats:
    """Return the beats of a patch that went to another address."""
    return cases.beats_of(replace(patch, address=address))


def told(explanation: Explanation) -> tuple[int, str]:
    """Return which layer is explained, and its first cause."""
    assert explanation.evidence.started is not None
    return explanation.evidence.started.index, explanation.causes[0].text


def test_a_layer_that_writes_to_the_destination_of_another_one_is_explained_and_not_the_other() -> None:
    """Its bytes are right; the layer that they went over has nothing to explain."""
    (found,) = explained([FIRST, SECOND], [cases.beats_of(run(FIRST, MEMORY)), at(run(SECOND, MEMORY), cases.DST)])
    assert told(found) == (
        1,
        f"output: wrong start address: {cases.DST:#x} instead of {cases.DST + 0x2000:#x}, "
        "the destination of 1 layer before",
    )
    assert any("into the result of layer 0 (SDP, group 0)" in line for line in found.where)


def test_so_is_one_whose_bytes_are_no_others_than_those_that_lie_there() -> None:
    """A second write of the same bytes is wrong nowhere, but for the layer that lacks them."""
    again = replace(FIRST, dst=replace(FIRST.dst, address=cases.DST + 0x2000))
    (found,) = explained([FIRST, again], [cases.beats_of(run(FIRST, MEMORY)), at(run(again, MEMORY), cases.DST)])
    assert told(found)[1].startswith("output: wrong start address: ")


def test_equal_bytes_everywhere_are_whose_all_of_them_are() -> None:
    memory = stored(MEMORY, cases.SRC, np.zeros(0x1000, dtype=np.uint8))
    again = replace(FIRST, dst=replace(FIRST.dst, address=cases.DST + 0x2000))
    left = run(FIRST, memory)
    (found,) = explained([FIRST, again], [cases.beats_of(left), at(run(again, memory), left.address)], memory)
    assert told(found)[1].startswith("output: wrong start address: ")


def test_a_result_that_another_write_went_over_has_no_cause_in_its_arithmetic() -> None:
    """All of it had been right: what the layer computes cannot be the reason."""
    right = run(FIRST, MEMORY)
    moved = replace(FIRST, src=replace(FIRST.src, address=cases.SRC + 64))
    second = Beats.joined([cases.beats_of(run(layer, MEMORY)) for layer in (SECOND, moved)])
    (found,) = explained([FIRST, SECOND], [cases.beats_of(right), second])
    assert told(found)[0] == 0
    assert told(found)[1].startswith("output: overwritten after it was right: from cycle ")
    assert told(found)[1].endswith(", when layer 1 (SDP, group 1) had begun")
    assert found.causes[0].symptom
    assert not any(fit.name.startswith("src-") for fit in found.diagnosis.fits)


def wrapped(beats: Beats, line_beats: int) -> Beats:
    """Return beats of which those of a line that cross a block of 64 bytes go on at the start of the block."""
    address = beats.address.copy()
    lines = np.repeat(address[::line_beats], line_beats)
    return replace(beats, address=np.where(address // 64 > lines // 64, address - np.uint64(64), address))


def of_unit(explanation: Explanation) -> list[str]:
    verdict = Verdict(findings=[Finding(wrong().check, wrong().detail, 50, LayerId(0, "SDP", 0))])
    return [str(suspect) for suspect in suspects(verdict, [explanation])]


def test_right_bytes_at_addresses_that_no_walk_gives_are_said_to_be_right() -> None:
    beats = cases.beats_of(run(FIRST, MEMORY))
    (found,) = explained([FIRST], [wrapped(beats, FIRST.dst.layout.shape[2])])
    assert [fit.name for fit in found.causes] == ["misplaced"]
    assert found.causes[0].symptom
    assert told(found)[1].startswith("output: right bytes at wrong addresses: ")
    assert told(found)[1].endswith(" atoms, 8 atoms (64 bytes) before their places")
    assert of_unit(found) == ["SDP, its writes or memory interface: its bytes are right, at wrong addresses"]


def test_how_many_lines_or_surfaces_off_some_bytes_lie_is_said() -> None:
    beats = cases.beats_of(run(FIRST, MEMORY))
    surface, line = strides(FIRST)
    offset = beats.address.astype(np.int64) - FIRST.dst.address
    first_atom = (offset // surface == 1) & (offset % surface // line == 2)
    for away, words in ((line, "1 line"), (2 * line, "2 lines"), (8 * surface, "8 surfaces")):
        moved = replace(beats, address=np.where(first_atom, beats.address + np.uint64(away), beats.address))
        measured = misplaced(run(FIRST, MEMORY), moved, 8)
        assert measured == (np.count_nonzero(first_atom), len(beats), away)
        (found,) = explained([FIRST], [moved])
        assert found.evidence.walk.in_steps(away) == f"{words} ({away} bytes)"


@pytest.mark.slow
def test_wrong_bytes_at_wrong_addresses_and_right_ones_in_another_order_are_not() -> None:
    beats = cases.beats_of(run(FIRST, MEMORY))
    away = wrapped(beats, FIRST.dst.layout.shape[2])
    data = away.data.copy()
    data[7, 3] ^= 1
    for changed in (replace(away, data=data), replace(beats, address=beats.address[::-1].copy())):
        (found,) = explained([FIRST], [changed])
        assert found.evidence.misplaced is None
        assert "misplaced" not in [fit.name for fit in found.diagnosis.fits]


def test_a_band_that_overlaps_the_one_before_is_the_cause_and_not_its_addresses() -> None:
    layer = replace(cases.pdp_layer(), split=WidthSplit(2, 5, 0, 4, 3, 0, 2))
    beats = cases.beats_of(run(layer, MEMORY))
    surface, line = strides(layer)
    late = (beats.address.astype(np.int64) - layer.dst.address) % surface % line // 8 > 2
    moved = replace(beats, address=np.where(late, beats.address - np.uint64(8), beats.address))
    (found,) = explained([layer], [Beats.joined([moved.take(~late), moved.take(late)])])
    assert found.evidence.misplaced == (16 * 4 // 8, len(beats), -8)
    assert found.causes[0].name == "pool-split"


@pytest.mark.slow
def test_lost_writes_are_not_stated_where_bytes_went_astray() -> None:
    """What is missing may be what lies elsewhere, also when more than its address is wrong."""
    beats = cases.beats_of(run(FIRST, MEMORY))
    address, data = beats.address.copy(), beats.data.copy()
    address[-3:] += np.uint64(0x400)
    data[-3:] ^= 1
    (found,) = explained([FIRST], [replace(beats, address=address, data=data)])
    assert not any(name.startswith("lost-") for fit in found.diagnosis.fits for name in fit.name.split("+"))
    (lost,) = explained([FIRST], [beats.take(np.arange(len(beats)) < len(beats) - 3)])
    assert told(lost)[1] == "writes lost: 3 of 90 atoms never written"
