"""What is said while something works: one live line on a terminal, few lines on a pipe, colours where welcome."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Sequence

import pytest

from nvdla_tb.cli import console
from nvdla_tb.cli.console import Console, Progress
from nvdla_tb.cli.terminal import PrintableStream
from tests.unit.run.regress.tasks import played, task


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_live_line_that_lines_replace() -> None:
    out = Terminal()
    shown = Console(stream=out, environment={})
    shown.progress("one")
    shown.progress("two")
    shown.say("done")
    assert out.getvalue() == "\r\x1b[2Kone\r\x1b[2Ktwo\r\x1b[2Kdone\n"


def test_a_pipe_hears_of_progress_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    out = io.StringIO()
    shown = Console(stream=out, environment={})
    for second in range(200):
        now[0] = float(second)
        shown.progress(f"{second}")
    assert out.getvalue().split() == ["5", "15", "35", "75", "135", "195"]


@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_are_for_terminals_whose_user_wants_them(environment: dict[str, str], coloured: bool) -> None:
    for out, text in ((Terminal(), "\x1b[31mx\x1b[0m\n" if coloured else "x\n"), (io.StringIO(), "x\n")):
        Console(stream=out, environment=environment).result("x", "red")
        assert out.getvalue() == text


def test_what_names_hold_is_shown_and_the_bench_s_own_sequences_are_obeyed() -> None:
    out = Terminal()
    shown = Console(stream=PrintableStream(out), environment={})
    shown.progress("a\x1b[2Jb\r")
    shown.result("c\x9b31md", "green")
    assert out.getvalue() == "\r\x1b[2Ka\\x1b[2Jb\\r\r\x1b[2K\x1b[32mc\\x9b31md\x1b[0m\n"


def test_the_quiet_hear_results_alone() -> None:
    for quiet, heard in ((True, "r\n"), (False, "r\ns\n")):
        out = io.StringIO()
        shown = Console(stream=out, environment={}, quiet=quiet)
        shown.result("r")
        shown.say("s")
        assert out.getvalue() == heard


def test_a_wait_says_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_TICK_SECONDS", 0.001)
    out = Terminal()
    with Console(stream=out, environment={}).waiting("looking at 7 seeds"):
        until = time.monotonic() + 10
        while "looking at 7 seeds: 0 s" not in out.getvalue():
            assert time.monotonic() < until
            time.sleep(0.001)
    assert out.getvalue().endswith("\r\x1b[2K"), "the live line is gone"


def left_of(durations: Sequence[float], total: int, monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Return the seconds that are said to be left after each test, None where nothing is said of them."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    out = io.StringIO()
    progress = Progress(Console(stream=out, environment={}, verbose=True), total)
    for seconds in durations:
        now[0] += seconds
        progress.add(played(task(int(now[0]))))
    found = [re.search(r", (\d+):(\d\d) left$", line) for line in out.getvalue().splitlines()]
    return [None if one is None else 60 * int(one[1]) + int(one[2]) for one in found]


def test_one_long_test_does_not_let_the_time_that_is_left_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    left = left_of([*[5.0] * 6, 290.0, *[5.0] * 20], 27, monkeypatch)
    assert left[:6] == [None, None, None, None, 110, 105]
    assert left[6] is not None
    assert 0 < left[6] < 360, "the mean alone says 18 minutes"
    assert left[-1] == 0


def test_nothing_is_said_of_the_time_that_is_left_before_there_is_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    # Workers and simulators start before the first test ends: two thousand of its kind would take eleven hours.
    left = left_of([20.0, *[0.5] * 30], 2000, monkeypatch)
    assert left[:19] == [None] * 19
    assert left[19] == 990
    assert left_of([3.0, 1.0, 1.0, 1.0], 4, monkeypatch) == [None, 2, 1, 0]


def test_failures_of_what_was_played_before_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    out = io.StringIO()
    progress = Progress(Console(stream=out, environment={}), 30, done=3, failed=2)
    for seed in (1, 3):
        now[0] += 6.0
        progress.add(played(task(seed)))
    counted, news = out.getvalue().splitlines()
    assert counted.startswith("[ 4/30] 2 failed, ")
    assert news.startswith(f"[ 5/30] mismatch {task(3).key}  "), "it is the first one here"
