"""A test in Python is judged at its end, whether or not it asks for a verdict: by the launcher and by cocotb alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.jobs import Job, PythonTest, run_job
from tests.sim.conftest import part_of, play_module, setup_of

MODULE = "tests.sim.unjudged"
BUG = "+bug=sdp_dst_surface_stride"

FOUND_ON_BROKEN_RTL = (
    *("asks_for_no_verdict", "looks_at_nothing_that_was_found", "catches_what_check_raises"),
    *("goes_on_with_another_bench", "runs_on_after_its_verdict", "ends_itself"),
)

WRONG_ON_ANY_RTL = {
    "expects_a_wrong_value": (Ending.CHECK, "the test expects a finding of the check wrong value, and there was none"),
    "enables_half_a_layer": (Ending.EMPTY, "nothing was compared: no layer wrote a byte that was expected"),
    "drives_a_layer_that_is_refused": (
        Ending.TEST_ERROR,
        "refused: SDP_RDMA.D_FEATURE_MODE_CFG.in_precision must be INT8, not INT16: nv_small",
    ),
    "runs_a_layer_whose_input_nobody_has_written": (Ending.PROTOCOL, "MC: read of 8 bytes at 0x80000100 with id 1 at "),
    "breaks_its_own_verdict": (Ending.TEST_ERROR, "TypeError: 'NoneType' object is not callable"),
    "writes_where_no_register_is": (Ending.PROTOCOL, "register: write of 0x1 to 0x2f008 hits no register (cycle "),
    "leaves_a_layer_running": (Ending.MISMATCH, "missing write: 192 elements; layer 0 (SDP, group 0): first at "),
    "enables_a_layer_as_its_last_act": (
        Ending.MISMATCH,
        "missing write: 192 elements; layer 0 (SDP, group 0): first at ",
    ),
    "awaits_nothing": (
        Ending.CHECK,
        "the test called bench.run and did not await it, so that this was not played",
    ),
    "awaits_one_layer_of_two": (
        Ending.CHECK,
        "the test called bench.run and did not await it, so that this was not played",
    ),
    "ends_while_a_layer_is_programmed": (
        Ending.CHECK,
        "the test ended before its bench.run did: what is left was not played",
    ),
    "only_starts_a_bench": (Ending.EMPTY, "nothing was compared: no layer wrote a byte that was expected"),
    "only_waits": (Ending.EMPTY, "nothing was compared: no layer wrote a byte that was expected"),
    "runs_no_layers": (Ending.TEST_ERROR, "InputError: layers must be at least one: bench.run was given none, "),
    "plays_an_empty_program": (Ending.EMPTY, "nothing was compared: no layer wrote a byte that was expected"),
    "does_nothing": (Ending.EMPTY, "tests.sim.unjudged.does_nothing ended before any time had passed, so that it "),
    "fails_as_it_says_before_it_plays": (
        Ending.EMPTY,
        "tests.sim.unjudged.fails_as_it_says_before_it_plays ended before any time had passed, so that it ",
    ),
    "fails_in_the_cycle_in_which_the_bench_starts": (Ending.CHECK, "AssertionError: of another size\n"),
    "misspells_a_method": (
        Ending.TEST_ERROR,
        "AttributeError: 'Bench' object has no attribute 'plase'; did you mean 'place'?\n  tests/sim/unjudged.py:",
    ),
    "waits_for_an_interrupt_that_never_comes": (Ending.HANG, "hang: nothing moved for 1000 cycles, at cycle "),
}


@pytest.fixture(scope="module")
def built() -> Built:
    return build(BuildSpec(HwConfig.load("nv_small"), backend="coroutine"))


def launched(built: Built, test: str, folder: Path, *plusargs: str) -> tuple[Ending, list[str]]:
    """Play a test as the project's launcher does, for pytest, run and regress; return the ending and the complaints."""
    job = Job.of_test(f"unjudged.{test}", 0, "again", PythonTest(MODULE, test))
    result = run_job(replace(job, plusargs=plusargs), setup_of(built), folder)
    return result.ending, complaints(result.verdict)


Alone = Callable[..., str]
"""Returns why a test did not pass that nobody asks for an answer, as cocotb's own runner plays it, with plusargs."""


@pytest.fixture(scope="module")
def alone(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    @cache
    def problems(*plusargs: str) -> dict[str, str]:
        found, log = play_module(built, MODULE, tmp_path_factory.mktemp("cocotb"), *plusargs)
        return {test: why and f"{why}\n{part_of(log, f'{MODULE}.{test}')}" for test, why in found.items()}

    return lambda test, *plusargs: problems(*plusargs)[test]


@pytest.mark.parametrize("test", FOUND_ON_BROKEN_RTL)
def test_a_test_that_does_not_look_fails_on_broken_rtl_and_passes_on_right_one(
    built: Built, alone: Alone, tmp_path: Path, test: str
) -> None:
    assert launched(built, test, tmp_path / "right") == (Ending.PASSED, [])
    ending, said = launched(built, test, tmp_path / "broken", BUG)
    assert ending in (Ending.MISMATCH, Ending.PROTOCOL), said
    assert any(line.startswith("wrong value: ") or "outside every allocation" in line for line in said)
    assert "the test must not pass" in alone(test, BUG)


@pytest.mark.parametrize("test", WRONG_ON_ANY_RTL)
def test_a_test_that_compares_nothing_or_wants_what_does_not_come_fails(
    built: Built, alone: Alone, tmp_path: Path, test: str
) -> None:
    ending, begin = WRONG_ON_ANY_RTL[test]
    found, said = launched(built, test, tmp_path / "launched")
    assert (found, said[0][: len(begin)]) == (ending, begin), said
    # That no time passes is what the launcher sees, and no bench.
    assert bool(alone(test)) == (" before any time had passed" not in begin)


def test_a_test_of_registers_alone_says_itself_what_is_right(built: Built, alone: Alone, tmp_path: Path) -> None:
    assert launched(built, "only_looks_at_registers", tmp_path / "launched") == (Ending.PASSED, [])
    assert alone("only_looks_at_registers") == ""
