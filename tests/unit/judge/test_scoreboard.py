"""Every checker of the scoreboard is shown a fault."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest

from nvdla_models.layout import Element, FeatureLayout
from nvdla_models.precision import Precision
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import Mismatch
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.memory import Ram
from tests.repository import ROOT
from tests.unit.nvdla.samples import BASE, FULL, SMALL, expected, mismatch

FIRST, SECOND = LayerId(0, "SDP", 0), LayerId(1, "SDP", 1)


@dataclass
class Port:
    """Writes beats of 8 bytes, each a cycle later than the one before."""

    board: Scoreboard = field(default_factory=Scoreboard)
    cycle: int = 100

    def write(self, address: int, data: bytes, strobe: int | None = None, ram: Ram = Ram.MC, axi_id: int = 1) -> None:
        strobe = (1 << len(data)) - 1 if strobe is None else strobe
        self.board.write_beats(Beats.of(ram, address, data, strobe, self.cycle, axi_id))
        self.cycle += 1

    def atoms(self, first: int = 0, last: int = 2) -> None:
        for atom in range(first, last):
            self.write(BASE + 8 * atom, bytes(range(8 * atom, 8 * atom + 8)))


@pytest.fixture
def port() -> Port:
    return Port()


@pytest.fixture
def due(port: Port) -> Port:
    """Return a port at which the bytes of one layer are due."""
    port.board.expect(expected())
    return port


def findings(verdict: Verdict) -> list[tuple[Check, int, int]]:
    return [(f.check, mismatch(f).nbytes, mismatch(f).elements) for f in verdict.findings]


def test_the_expected_bytes_pass(due: Port) -> None:
    due.atoms()
    verdict = due.board.finish()
    assert verdict.ending is Ending.PASSED
    assert (verdict.judged_bytes, verdict.written_bytes, verdict.repeated_bytes, verdict.layers) == (16, 16, 0, 1)


def test_one_wrong_bit_fails_with_place_values_and_time(due: Port) -> None:
    due.atoms(0, 1)
    due.write(BASE + 8, bytes([8, 9, 10, 11 ^ 0x40, 12, 13, 14, 15]), axi_id=5)
    verdict = due.board.finish()
    assert verdict.ending is Ending.MISMATCH
    wrong = Mismatch(1, 1, Ram.MC, BASE + 11, Element(3, 0, 1), expected=0x0B, got=0x4B, axi_id=5)
    assert verdict.findings == [Finding(Check.VALUE, wrong, 101, FIRST)]


def test_the_first_mismatch_is_the_first_in_time_and_then_in_address(due: Port) -> None:
    due.write(BASE + 8, bytes([8, 9, 10, 11, 12, 99, 99, 15]))
    due.write(BASE, bytes([99] * 8))
    (finding,) = due.board.finish().findings
    assert (mismatch(finding).nbytes, mismatch(finding).elements) == (10, 10)
    assert (mismatch(finding).address, finding.cycle) == (BASE + 13, 100)


def test_both_bytes_of_an_int16_element_count_as_one_element(port: Port) -> None:
    layout = FeatureLayout.packed(FULL, Precision.INT16, (16, 1, 1))
    port.board.expect(expected(layout=layout))
    port.write(BASE, bytes([0, 1, 99, 99, *range(4, 32)]))
    (finding,) = port.board.finish().findings
    wrong = mismatch(finding)
    assert (wrong.nbytes, wrong.elements, wrong.element) == (2, 1, Element(1, 0, 0))


def test_padding_channels_are_judged(port: Port) -> None:
    port.board.expect(expected(layout=FeatureLayout.packed(SMALL, Precision.INT8, (3, 1, 2))))
    port.atoms(0, 1)
    port.write(BASE + 8, bytes([8, 9, 10, 11, 12, 13, 14, 0]))
    (finding,) = port.board.finish().findings
    assert mismatch(finding).element == Element(7, 0, 1)


def test_a_missing_write_fails_with_the_first_element(due: Port) -> None:
    due.atoms(0, 1)
    due.write(BASE + 8, bytes(range(8, 16)), strobe=0b11111001)
    verdict = due.board.finish()
    assert verdict.ending is Ending.MISMATCH
    missing = Mismatch(2, 2, Ram.MC, BASE + 9, Element(1, 0, 1), expected=9, got=None, axi_id=None)
    assert verdict.findings == [Finding(Check.MISSING, missing, None, FIRST)]


def test_a_layer_that_writes_nothing_fails(due: Port) -> None:
    assert findings(due.board.finish()) == [(Check.MISSING, 16, 16)]


@pytest.mark.parametrize("address", [BASE - 8, BASE + 16, 0])
def test_a_write_outside_every_surface_is_stray(due: Port, address: int) -> None:
    due.atoms()
    due.write(address, b"\x2a" * 8, strobe=0b110, axi_id=3)
    verdict = due.board.finish()
    stray = Mismatch(2, 2, Ram.MC, address + 1, element=None, expected=None, got=0x2A, axi_id=3)
    assert verdict.findings == [Finding(Check.STRAY, stray, 102)]
    assert verdict.ending is Ending.MISMATCH


def test_a_write_into_a_stride_gap_is_stray(port: Port) -> None:
    port.board.expect(expected(layout=FeatureLayout(SMALL, Precision.INT8, (8, 2, 1), 16, 32)))
    port.write(BASE, bytes(range(8)))
    port.write(BASE + 8, bytes(range(8, 16)))
    port.write(BASE + 16, bytes(range(16, 24)))
    verdict = port.board.finish()
    assert findings(verdict) == [(Check.STRAY, 8, 8)]
    assert mismatch(verdict.findings[0]).address == BASE + 8


def test_the_right_address_on_the_other_port_is_stray(due: Port) -> None:
    due.write(BASE, bytes(range(8)), ram=Ram.CVSRAM)
    due.atoms()
    verdict = due.board.finish()
    stray = Mismatch(8, 8, Ram.CVSRAM, BASE, element=None, expected=None, got=0, axi_id=1)
    assert verdict.findings == [Finding(Check.STRAY, stray, 100)]


@pytest.mark.parametrize("judge_between", [False, True])
def test_a_repeated_write_of_the_same_value_is_counted(due: Port, judge_between: bool) -> None:
    due.atoms()
    if judge_between:
        due.board.judge_pending()
    due.atoms(1, 2)
    verdict = due.board.finish()
    assert verdict.ending is Ending.PASSED
    assert (verdict.judged_bytes, verdict.repeated_bytes, verdict.written_bytes) == (16, 8, 24)


@pytest.mark.parametrize("judge_between", [False, True])
def test_a_double_write_of_another_value_fails(due: Port, judge_between: bool) -> None:
    due.atoms()
    if judge_between:
        due.board.judge_pending()
    due.write(BASE, bytes([0, 1, 77, 3, 4, 5, 6, 7]))
    verdict = due.board.finish()
    double = Mismatch(1, 1, Ram.MC, BASE + 2, Element(2, 0, 0), expected=2, got=77, axi_id=1)
    assert verdict.findings == [Finding(Check.DOUBLE, double, 102, FIRST)]
    assert verdict.ending is Ending.MISMATCH


def test_partial_strobes_add_up_to_the_surface(due: Port) -> None:
    for strobe in (0b00001111, 0b11000000, 0, 0b00110000):
        due.write(BASE, bytes(range(8)), strobe)
    due.atoms(1, 2)
    verdict = due.board.finish()
    assert verdict.ending is Ending.PASSED
    assert (verdict.judged_bytes, verdict.written_bytes) == (16, 16)


def test_bytes_without_strobe_are_not_judged(due: Port) -> None:
    due.atoms()
    due.write(BASE, b"\xff" * 8, strobe=0)
    assert due.board.finish().ending is Ending.PASSED


def test_strobes_of_wide_ports_have_a_bit_per_byte(port: Port) -> None:
    layout = FeatureLayout.packed(FULL, Precision.INT8, (64, 1, 1))
    port.board.expect(expected(layout=layout))
    port.write(BASE, bytes(range(64)), strobe=(1 << 64) - 1 ^ 1 << 63)
    (finding,) = port.board.finish().findings
    assert (finding.check, mismatch(finding).element) == (Check.MISSING, Element(63, 0, 0))


def test_writes_before_the_layer_started_are_stray(port: Port) -> None:
    port.atoms()
    port.board.expect(expected())
    assert findings(port.board.finish()) == [(Check.STRAY, 16, 16), (Check.MISSING, 16, 16)]


def test_a_layer_that_writes_after_its_end_was_done_before_its_data(due: Port) -> None:
    due.atoms(0, 1)
    due.board.end_layer(0)
    due.atoms(1, 2)
    verdict = due.board.finish()
    assert findings(verdict) == [(Check.LATE, 8, 8)]
    assert (verdict.judged_bytes, verdict.findings[0].layer) == (16, FIRST)


def test_what_is_written_too_late_may_be_wrong_as_well_or_come_twice(due: Port) -> None:
    due.board.end_layer(0)
    due.write(BASE, b"\xee" * 8)
    due.atoms(1, 2)
    due.atoms(1, 2)
    verdict = due.board.finish()
    assert findings(verdict) == [(Check.LATE, 16, 16), (Check.VALUE, 8, 8)]
    assert verdict.repeated_bytes == 8


def test_writes_logged_before_the_end_of_their_layer_count(due: Port) -> None:
    due.atoms()
    due.board.end_layer(0)
    assert due.board.finish().ending is Ending.PASSED


def test_two_layers_to_one_surface_are_judged_in_turn(port: Port) -> None:
    second = np.full(16, 0xEE, dtype=np.uint8)
    port.board.expect(expected(0))
    port.board.expect(expected(1, data=second))
    port.atoms()
    for offset in (0, 8):
        port.write(BASE + offset, b"\xee" * 8)
    verdict = port.board.finish()
    assert verdict.ending is Ending.PASSED
    assert (verdict.judged_bytes, verdict.layers) == (32, 2)


def test_a_byte_that_the_first_of_two_layers_lacks_is_not_taken_from_the_second(port: Port) -> None:
    port.board.expect(expected(0))
    port.board.expect(expected(1, data=np.full(16, 0xEE, dtype=np.uint8)))
    port.atoms(0, 1)
    port.board.end_layer(0)
    for offset in (0, 8):
        port.write(BASE + offset, b"\xee" * 8)
    verdict = port.board.finish()
    assert findings(verdict) == [(Check.MISSING, 8, 8)]
    assert verdict.findings[0].layer == FIRST


def test_a_second_layer_that_repeats_the_first_ones_values_is_told(port: Port) -> None:
    port.board.expect(expected(0))
    port.board.expect(expected(1, data=np.full(16, 0xEE, dtype=np.uint8)))
    port.atoms()
    port.atoms()
    (finding,) = port.board.finish().findings
    assert (finding.check, mismatch(finding).nbytes, finding.layer) == (Check.VALUE, 16, SECOND)


@pytest.mark.parametrize(("value", "repeated"), [(0xEE, 16), (0x55, 0)])
def test_a_third_write_is_measured_by_the_newest_layer(port: Port, value: int, repeated: int) -> None:
    for index, old in enumerate((0x55, 0xEE)):
        port.board.expect(expected(index, data=np.full(16, old, dtype=np.uint8)))
    for byte in (0x55, 0xEE, value):
        for offset in (0, 8):
            port.write(BASE + offset, bytes([byte] * 8))
    verdict = port.board.finish()
    assert verdict.repeated_bytes == repeated
    assert [(f.check, f.layer) for f in verdict.findings] == ([] if repeated else [(Check.DOUBLE, SECOND)])


def test_nothing_compared_fails(port: Port) -> None:
    verdict = port.board.finish()
    assert verdict.ending is Ending.EMPTY
    assert [finding.check for finding in verdict.failures] == [Check.EMPTY]


def test_finishing_twice_counts_once(due: Port) -> None:
    due.board.finish()
    verdict = due.board.finish()
    assert findings(verdict) == [(Check.MISSING, 16, 16)]
    assert verdict.layers == 1


def test_a_surface_may_end_at_the_end_of_64_bits(port: Port) -> None:
    port.board.expect(expected(address=(1 << 64) - 16))
    for offset in (16, 8):
        port.write((1 << 64) - offset, bytes(range(16 - offset, 24 - offset)))
    port.write(0, bytes(8))
    assert findings(port.board.finish()) == [(Check.STRAY, 8, 8)]


def read(board: Scoreboard, address: int, nbytes: int, ram: Ram = Ram.MC) -> list[int]:
    return list(board.overlay(ram, address, np.full(nbytes, 0xDB, dtype=np.uint8)))


def test_a_queued_layer_reads_what_the_running_one_has_yet_to_write(due: Port) -> None:
    due.atoms(0, 1)
    assert read(due.board, BASE + 6, 4) == [0xDB, 0xDB, 8, 9]
    assert read(due.board, BASE - 2, 4) == [0xDB] * 4
    assert read(due.board, BASE + 14, 4) == [14, 15, 0xDB, 0xDB]
    assert read(due.board, BASE + 8, 2, Ram.CVSRAM) == [0xDB, 0xDB]


def test_an_overlay_leaves_stride_gaps_alone(port: Port) -> None:
    port.board.expect(expected(layout=FeatureLayout(SMALL, Precision.INT8, (8, 2, 1), 16, 32)))
    assert read(port.board, BASE + 7, 10) == [7, *[0xDB] * 8, 16]


def test_an_overlay_takes_the_newest_of_two_layers(port: Port) -> None:
    port.board.expect(expected(0))
    port.board.expect(expected(1, data=np.full(16, 0xEE, dtype=np.uint8)))
    assert read(port.board, BASE, 2) == [0xEE, 0xEE]


def test_an_ended_layer_is_not_waited_for(due: Port) -> None:
    due.board.end_layer(0)
    assert read(due.board, BASE, 2) == [0xDB, 0xDB]


def test_an_overlay_does_not_change_what_it_is_given(due: Port) -> None:
    data = np.zeros(16, dtype=np.uint8)
    due.board.overlay(Ram.MC, BASE, data)
    assert not data.any()


JUDGED = """
import sys
import numpy as np
from nvdla_tb.judge.answers import AnswerRule
from nvdla_tb.nvdla.memory import Ram
from tests.unit.judge.test_scoreboard import Port, expected
port = Port()
port.board.expect(expected())
port.atoms()
AnswerRule(lambda word: (), lambda index: None, 0).answers(Ram.MC, np.array([1, 1]), np.array([100, 101]))
print(port.board.finish().ending, "numpy.ma" in sys.modules)
"""


def test_a_layer_that_passes_does_not_wait_for_the_import_of_masked_arrays() -> None:
    ran = subprocess.run([sys.executable, "-c", JUDGED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "Ending.PASSED False\n"
