"""How a run ends is told apart: passed, failed, crashed, timed out."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from nvdla_tb.judge.finding import Check
from nvdla_tb.run.compile.ports import expected_ports
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.process import Ended
from nvdla_tb.run.simulate import SimResult, judge, simulate
from tests.unit.run.compile.conftest import needs_icarus
from tests.unit.run.compile.tiny import CONFIG

pytestmark = pytest.mark.slow

MODULE = "tests.unit.run.compile.launched"


def run(built: Built, testcase: str, work_dir: Path, seconds: float = 60.0, **options: object) -> SimResult:
    arguments: dict[str, object] = {"test_module": MODULE, "env": {}, "timeout_seconds": seconds, **options}
    return simulate(built, testcase=testcase, work_dir=work_dir, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["model_of_verilator", pytest.param("model_of_icarus", marks=needs_icarus)])
def test_a_test_drives_and_reads_the_rtl(model: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    result = run(request.getfixturevalue(model), "a_word_comes_back_plus_three", tmp_path)

    assert (result.check, result.message) == (None, ""), result.log_path.read_text()
    assert result.passed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sim.log"]


def test_verilator_shows_the_top_ports_and_nothing_else(model_of_verilator: Built, tmp_path: Path) -> None:
    ports = " ".join(port.name for port in expected_ports(CONFIG))

    result = run(model_of_verilator, "every_handle_is_a_port", tmp_path, env={"EXPECTED_HANDLES": ports})

    assert result.passed, result.message


@pytest.mark.parametrize("model", ["debug_model_of_verilator", pytest.param("model_of_icarus", marks=needs_icarus)])
def test_a_model_for_it_shows_internals_and_writes_waves(
    model: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    built = request.getfixturevalue(model)
    result = run(built, "internals_are_visible", tmp_path, waves=True)
    assert result.passed, result.message
    assert (tmp_path / f"waves.{built.wave_suffix}").stat().st_size > 0


@pytest.mark.parametrize("model", ["wave_model_of_verilator", pytest.param("model_of_icarus", marks=needs_icarus)])
def test_waves_begin_when_asked_and_hold_what_the_bench_drives(
    model: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    built = request.getfixturevalue(model)
    result = run(built, "waves_begin_after_20_ns", tmp_path, waves=True, plusargs=("+wave_wait",))

    assert result.passed, result.log_path.read_text()
    waves = tmp_path / f"waves.{built.wave_suffix}"
    assert waves.stat().st_size > 0
    if built.wave_suffix == "vcd":
        text = waves.read_text()
        name = re.findall(r"\$var \w+ +16 (\S+) c \[15:0\] \$end", text)[0]
        assert min(int(time) for time in re.findall(r"^#(\d+)", text, re.MULTILINE)) >= 20_000
        values = re.findall(rf"^b([01]+) {re.escape(name)}$", text, re.MULTILINE)
        assert [int(value, 2) for value in values] == [0, 5]


@pytest.mark.parametrize("model", ["model_of_verilator", pytest.param("model_of_icarus", marks=needs_icarus)])
def test_a_failing_assertion_is_a_failure(model: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    result = run(request.getfixturevalue(model), "the_assertion_fails", tmp_path)

    assert (result.check, result.passed) == (Check.TEST, False)
    assert result.message == f"{MODULE}.the_assertion_fails: a wrong word came back\nassert 4099 == 0"


@pytest.mark.parametrize(
    ("testcase", "check", "message", "log"),
    [
        ("internals_are_visible", Check.TEST, ": tb_top contains no child object named dut$", ""),
        ("python_hangs", Check.TIMEOUT, " was killed after 15 seconds$", r"launched\.py.*, line \d+ in python_hangs"),
        ("the_simulator_is_killed", Check.CRASH, ": the simulator was ended by SIGSEGV$", "error: Segmentation fault"),
        ("the_simulator_exits", Check.CRASH, ": the simulator ended with code 7 and no result file: ", ""),
        ("assertion_fails", Check.CRASH, ": no such test ran$", ""),
    ],
)
def test_how_it_ended_is_told_and_the_log_says_where_it_stood(
    model_of_verilator: Built, tmp_path: Path, testcase: str, check: Check, message: str, log: str
) -> None:
    result = run(model_of_verilator, testcase, tmp_path, 15.0 if testcase == "python_hangs" else 60.0)
    assert (result.check, result.passed) == (check, False)
    assert re.match(rf"{re.escape(MODULE)}\.{testcase}{message}", result.message), result.message
    assert re.search(log, result.log_path.read_text())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_only_others_send_is_no_crash(number: signal.Signals, tmp_path: Path) -> None:
    ended = Ended(-number, timed_out=False)
    assert judge(ended, tmp_path / "cocotb.ending", tmp_path / "sim.log", "a.test", 9.0) == (
        Check.LOST,
        f"a.test: the simulator was killed by {number.name} from outside",
    )


def test_results_of_an_earlier_run_are_not_taken_for_this_ones(model_of_verilator: Built, tmp_path: Path) -> None:
    (tmp_path / "cocotb.ending").write_text('<testsuites><testsuite><testcase name="old"/></testsuite></testsuites>')

    assert run(model_of_verilator, "the_simulator_exits", tmp_path).check is Check.CRASH


def test_a_module_that_does_not_exist_is_named(model_of_verilator: Built, tmp_path: Path) -> None:
    result = run(model_of_verilator, "anything", tmp_path, test_module="no_such_module")

    assert (result.check, result.message) == (
        Check.CRASH,
        "no_such_module.anything: the simulator ended with code 0 and no result file: "
        "ModuleNotFoundError: No module named 'no_such_module'",
    )


def test_no_process_is_left_behind(model_of_verilator: Built, tmp_path: Path) -> None:
    result = run(model_of_verilator, "a_child_is_left_behind", tmp_path)
    assert result.passed, result.message
    pid = (tmp_path / "child.pid").read_text()
    deadline = time.monotonic() + 5
    while _is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_running(pid: str) -> bool:
    """Whether a process exists and is more than a zombie that its new parent has yet to reap."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_what_is_asked_for_wins_over_the_surrounding_environment(
    model_of_verilator: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREETING", "goodbye")
    monkeypatch.setenv("COCOTB_TEST_FILTER", "the_assertion_fails")

    result = run(
        model_of_verilator,
        "plusargs_and_environment_arrive",
        tmp_path,
        env={"GREETING": "hello"},
        plusargs=["+depth=4"],
    )

    assert result.passed, result.message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0}, "timeout_seconds must be greater than 0, not 0"),
        ({"waves": True}, "waves need a model that was built with waves=True"),
    ],
)
def test_a_deadline_in_the_past_and_waves_of_a_model_without_are_refused(
    model_of_verilator: Built, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(LaunchError, match=f"^{message}$"):
        run(model_of_verilator, "a_word_comes_back_plus_three", tmp_path, **options)
