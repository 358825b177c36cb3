"""Tests in Python: one cocotb test of a module, played and told like a scenario."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tb.judge.finding import Check
from tb.judge.verdict import Verdict
from tb.run.compile.spec import Built
from tb.run.dut import Dut
from tb.run.jobs import RESULT_FILE, verdict_of
from tb.run.result import Result, identity
from tb.run.revision import about
from tb.run.simulate import simulate
from tb.stimulus.exchange import REQUEST, Answer, Request


def play_test(
    name: str,
    seed: int,
    function: tuple[str, str],
    built: Built,
    dut: Dut,
    work_dir: Path,
    *,
    rerun: str,
    timeout_seconds: float,
    rerun_waves: str | None = None,
    path: Sequence[str] = (),
    plusargs: Sequence[str] = (),
    kept: Path | None = None,
    waves: bool = False,
) -> Result:
    """Play a test in Python.

    Args:
        name: What it is called in results.
        seed: Of its result.
        function: Its module, and its name in it.
        built: The compiled model.
        dut: What was built.
        work_dir: Folder for everything that the run leaves behind.
        rerun: The command that repeats it.
        timeout_seconds: Wall-clock limit.
        rerun_waves: The same with waves, None when there is none.
        path: Folders that modules are imported from before all others.
        plusargs: Arguments for the simulator.
        kept: The folder that ``work_dir`` will be, None when it stays.
        waves: Whether to write waves.

    Returns:
        The result: the verdict of ``Bench.check`` where the test called it, else that it passed or what it raised.
    """
    folder = work_dir.resolve()
    request = Request(
        dut.config,
        result=str(folder / RESULT_FILE),
        test=identity(name, seed),
        rerun=rerun,
        rerun_waves=rerun_waves,
        about=about(dut),
        kept=None if kept is None else str(kept.resolve()),
    )
    module, coroutine = function
    run = simulate(
        built,
        test_module=module,
        testcase=coroutine,
        env={REQUEST: request.encode(), "PYTHONPATH": os.pathsep.join((*path, *sys.path))},
        work_dir=folder,
        timeout_seconds=timeout_seconds,
        waves=waves,
        plusargs=plusargs,
    )
    answer = Answer.load(folder / RESULT_FILE)
    verdict = Verdict(self_checking=True) if run.check is None else Verdict.of(run.check, run.message)
    result = Result(name, seed, dut, rerun, verdict, run.seconds, str(work_dir))
    if answer is None or answer.verdict.ending.is_failure != (run.check is Check.TEST):
        # It never came to its check, or it goes on to say itself what is right.
        return result
    verdict = verdict_of(answer, run)
    return msgspec.structs.replace(result, verdict=verdict, explained=answer.explained, layers=answer.layers)
