"""A simulator whose time stands still while it computes is told from one that goes on, and from Python at work."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nvdla_tb.judge.detail import StandStill
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.run import standstill
from nvdla_tb.run.standstill import Standstill
from nvdla_tb.stimulus.pulse import Pulse

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processor time of others is read from /proc")

SIMULATOR = """
import hashlib, os, signal, sys, time
from nvdla_tb.stimulus.pulse import PULSE, shared
pulse = shared(os.open(os.environ[PULSE], os.O_RDWR))
def answer(*_):
    pulse.answers += 1
signal.signal(signal.SIGUSR1, answer)
pulse.time_steps, pulse.cycle_steps, pulse.every_cycles = 7000, 2000, 1
pulse.pid = os.getpid()
if sys.argv[1] == "computes in C":
    hashlib.pbkdf2_hmac("sha256", b"", b"", 1 << 30)
while sys.argv[1] == "computes in Python":
    pass
while sys.argv[1] == "goes on":
    pulse.time_steps += 1
time.sleep(600)
"""


@contextmanager
def simulator(what: str) -> Iterator[Standstill]:
    with Standstill() as watch:
        variables = {**os.environ, **watch.variables, "PYTHONPATH": os.pathsep.join(sys.path)}
        words = [sys.executable, "-c", SIMULATOR, what]
        with subprocess.Popen(words, env=variables) as process:
            try:
                yield watch
            finally:
                process.kill()


def looks_until_found(watch: Standstill, processor_seconds: float) -> bool:
    """Look until something is found, or the simulator has worked for so long; when it rests, for two seconds."""
    rests_at = time.monotonic() + 2.0 if processor_seconds == 0 else float("inf")
    while not watch.look():
        worked = standstill._processor_seconds(watch._pulse.pid) or 0.0
        if time.monotonic() > rests_at or 0 < processor_seconds < worked:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standstill, "PROCESSOR_SECONDS", 0.4)
    monkeypatch.setattr(standstill, "ANSWER_PROCESSOR_SECONDS", 0.4)


@pytest.mark.slow
def test_a_simulator_that_computes_without_end_in_one_time_step_is_found(tmp_path: Path) -> None:
    with simulator("computes in C") as watch:
        assert looks_until_found(watch, 60.0)
        found = watch.found(tmp_path / "sim.log")
    assert found is not None
    assert isinstance(found.detail, StandStill)
    assert (found.check, found.cycle, found.detail.time_ps) == (Check.HANG, 3, 7000)
    assert found.detail.processor_seconds >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("what", "seconds"), [("computes in Python", 1.6), ("goes on", 1.6), ("rests", 0.0)])
def test_python_that_computes_time_that_passes_and_a_simulator_that_rests_are_not(
    tmp_path: Path, what: str, seconds: float
) -> None:
    with simulator(what) as watch:
        assert not looks_until_found(watch, seconds)
        assert watch.found(tmp_path / "sim.log") is None


def test_a_simulator_that_has_not_begun_or_has_ended_is_not_found() -> None:
    with Standstill() as watch:
        assert not watch.look()
        watch._pulse.pid = 1 << 22
        assert not watch.look()


def test_signals_that_do_not_settle_are_found_in_the_log_of_verilator(tmp_path: Path) -> None:
    log = tmp_path / "sim.log"
    said = "NBA region did not converge after '--converge-limit' of 10000 tries"
    log.write_text(f"before\n%Error-DIDNOTCONVERGE: /a b/tb_top.sv:2: {said}\nAborting...\n", encoding="utf-8")
    with Standstill() as watch:
        assert watch.found(log) == Finding(Check.HANG, StandStill(0, 1, 0.0, said))


def test_the_cycle_is_counted_from_the_begin_of_the_bench() -> None:
    assert Pulse(time_steps=9000).cycle is None
    assert Pulse(time_steps=9000, epoch_steps=4000, cycle_steps=2000).cycle == 2
