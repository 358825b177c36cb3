"""Random sequences of layers and writes: the scoreboard agrees with its rules, taken byte by byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models.layout import FeatureLayout
from nvdla_models.precision import Precision
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.finding import BYTES, Check
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.nvdla.memory import Ram
from tests.unit.nvdla.samples import BASE, SMALL, expected, mismatch


class Oracle:
    """The rules of the scoreboard byte by byte, over lists."""

    def __init__(self) -> None:
        self.entries: list[tuple[Expectation, dict[int, int], list[bool]]] = []
        self.counts = dict.fromkeys(BYTES, 0)
        self.judged = self.repeated = self.written = 0

    def expect(self, wanted: Expectation) -> None:
        lacking = {wanted.address + n: int(wanted.data[n]) for n in range(len(wanted.data)) if wanted.must_write[n]}
        self.entries.append((wanted, lacking, [False]))

    def end(self, index: int) -> None:
        for wanted, _, ended in self.entries:
            if wanted.started.index == index:
                ended[0] = True

    def byte(self, ram: Ram, address: int, value: int) -> None:
        self.written += 1
        for wanted, lacking, ended in self.entries:
            if wanted.ram is ram and not ended[0] and address in lacking:
                self.judged += 1
                self.counts[Check.VALUE] += lacking.pop(address) != value
                return
        for wanted, lacking, ended in reversed(self.entries):
            offset = address - wanted.address
            if wanted.ram is ram and 0 <= offset < len(wanted.data) and wanted.must_write[offset]:
                if ended[0] and address in lacking:
                    self.judged += 1
                    self.counts[Check.LATE] += 1
                    self.counts[Check.VALUE] += lacking.pop(address) != value
                    return
                same = int(wanted.data[offset]) == value
                self.repeated += same
                self.counts[Check.DOUBLE] += not same
                return
        self.counts[Check.STRAY] += 1

    def finish(self) -> None:
        self.counts[Check.MISSING] = sum(len(lacking) for _, lacking, _ in self.entries)


LAYOUTS = [
    FeatureLayout.packed(SMALL, Precision.INT8, (8, 1, 2)),
    FeatureLayout(SMALL, Precision.INT8, (3, 2, 1), 16, 32),
    FeatureLayout(SMALL, Precision.INT8, (12, 1, 1), 8, 24),
]
RAMS = st.sampled_from((Ram.MC, Ram.CVSRAM))
STEPS = st.one_of(
    st.tuples(st.just("expect"), st.integers(0, 4), st.sampled_from(LAYOUTS), RAMS),
    st.tuples(st.just("write"), st.integers(-8, 48), st.integers(0, 255), st.sampled_from((0, 1, 2)), RAMS),
    st.tuples(st.just("all"), st.integers(0, 3)),
    st.tuples(st.just("end"), st.integers(0, 3)),
    st.tuples(st.just("judge")),
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(STEPS, max_size=14))
def test_random_sequences_agree_with_the_literal_oracle(steps: list[tuple[object, ...]]) -> None:
    board, oracle = Scoreboard(), Oracle()
    wanted: list[Expectation] = []

    def write(ram: Ram, address: int, data: bytes, strobe: int) -> None:
        board.write_beats(Beats.of(ram, address, data, strobe, 0, 0))
        for lane, value in enumerate(data):
            if strobe >> lane & 1:
                oracle.byte(ram, address + lane, value)

    for step in steps:
        match step:
            case ("expect", int(atom), FeatureLayout() as layout, Ram() as ram):
                index = len(wanted)
                data = (np.arange(layout.nbytes) % 3).astype(np.uint8)
                wanted.append(expected(index, BASE + 8 * atom, layout, data, ram))
                board.expect(wanted[-1])
                oracle.expect(wanted[-1])
            case ("write", int(offset), int(strobe), int(value), Ram() as ram):
                write(ram, BASE + offset, bytes([value] * 8), strobe)
            case ("all", int(index)) if index < len(wanted):
                for start in range(0, len(wanted[index].data), 8):
                    data = wanted[index].data[start : start + 8]
                    mask = wanted[index].must_write[start : start + 8]
                    strobe = sum(1 << int(n) for n in np.flatnonzero(mask))
                    write(wanted[index].ram, wanted[index].address + start, data.tobytes(), strobe)
            case ("end", int(index)):
                board.end_layer(index)
                oracle.end(index)
            case ("judge",):
                board.judge_pending()
    verdict = board.finish()
    oracle.finish()
    assert {finding.check for finding in verdict.findings} <= set(BYTES)
    counts = {check: sum(mismatch(f).nbytes for f in verdict.findings if f.check is check) for check in BYTES}
    assert counts == oracle.counts
    assert (verdict.judged_bytes, verdict.repeated_bytes) == (oracle.judged, oracle.repeated)
    assert (verdict.written_bytes, verdict.layers) == (oracle.written, len(wanted))
