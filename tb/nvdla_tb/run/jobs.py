"""Jobs: scenarios and tests in Python to play, each in a folder of its own, several at a time."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.reading import resolved
from nvdla_tb.explain.page import FILE_NAME as PAGE_FILE
from nvdla_tb.explain.runs import write_page
from nvdla_tb.explain.waves import write_save_files
from nvdla_tb.judge.detail import Note
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.memory import Range
from nvdla_tb.run import folders
from nvdla_tb.run.answers import RESULT_FILE, finding_of, left_in, of_driver, raised_in, verdict_of
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.dut import about
from nvdla_tb.run.process import last_lines, spread
from nvdla_tb.run.simulate import LOG_NAME, SharedProcess, SimResult, simulate
from nvdla_tb.run.system import AnyScenario
from nvdla_tb.run.systems import ENTRY_ENVIRONMENT, REWRITTEN, system_of, system_with
from nvdla_tb.stimulus.exchange import REQUEST, Driver, Request
from nvdla_tb.stimulus.result import Dut, Result, identity
from nvdla_tb.stimulus.scenario import Scenario

_PYTHON_TESTS = "nvdla_tb.sim.python_tests"
_ALONE = "alone"
SCENARIO_DIR = "scenario"
_LOG_LINES = 12

_OF_DEVICE = frozenset((Ending.MISMATCH, Ending.EMPTY, Ending.CHECK, Ending.PROTOCOL, Ending.HANG))
"""Endings for which what an earlier scenario left in the device may be the reason."""


@dataclass(frozen=True)
class PythonTest:
    """A test in Python: one cocotb test of a module, which brings its own stimulus.

    Attributes:
        module: its module.
        function: its name there.
        path: folders that modules are imported from before all others.
    """

    module: str
    function: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """One scenario, or test in Python, to play; ``TEST.SEED`` identifies it, ``rerun`` repeats just it.

    ``make`` builds the scenario, or reads it; ``test`` is a test in Python, which has none. ``refused`` is why it is
    not played at all, ``refusable`` whether it may be refused while it is played, as a trace may, which is no failure
    then; ``broken`` is what is wrong with the file that it is read from, so that it fails without being played.
    ``plusargs`` are the simulator's, ``altered`` a file of bytes that only the DUT finds in its memory, ``stages`` one
    of hand-overs to watch; ``waves_from`` holds waves back, and ``waves_option`` is that of ``rerun``, None when it
    takes none. ``traffic`` records what each memory port moves, ``dump`` are ranges of memory to save, ``dumps`` a
    folder for all of it at each comparison and at the end; ``kept`` is the folder that what it leaves will lie in, None
    when that is where it is played. ``driver`` is a driver in C that plays after the scenario, in a process of its own.
    ``counts`` is a file for what it reaches of the RTL's code, on a native model that counts.
    """

    name: str
    seed: int
    rerun: str
    make: Callable[[], AnyScenario]
    test: PythonTest | None = None
    refused: str | None = None
    refusable: bool = False
    broken: str | None = None
    plusargs: tuple[str, ...] = ()
    altered: Path | None = None
    stages: Path | None = None
    waves_from: str = "cycle:0"
    waves_option: str | None = "--waves"
    traffic: bool = False
    dump: tuple[Range, ...] = ()
    dumps: Path | None = None
    kept: Path | None = None
    driver: Driver | None = None
    counts: Path | None = None

    @property
    def identity(self) -> str:
        """``TEST.SEED``."""
        return identity(self.name, self.seed)

    @classmethod
    def of_test(cls, name: str, seed: int, rerun: str, test: PythonTest) -> Job:
        """Return the job of a test in Python; ``make`` refuses, as it has no scenario."""

        def make() -> AnyScenario:
            raise InputError(f"{name} must be a scenario, not a test in Python")

        return cls(name, seed, rerun, make, test)

    @property
    def rerun_waves(self) -> str | None:
        """The command that repeats just it with waves, None when there is none."""
        return None if self.waves_option is None else f"{self.rerun} {self.waves_option}"

    def nvdla_scenario(self) -> Scenario:
        """Return the scenario of a job that plays NVDLA.

        Raises:
            InputError: for one of another system.
        """
        scenario = self.make()
        if not isinstance(scenario, Scenario):
            raise InputError(f"{self.name} must be a scenario of NVDLA")
        return scenario

    def request(self, dut: Dut, folder: Path) -> Request:
        """Return the request that makes a simulator play the test, or the scenario that is saved in a folder."""
        plays = self.test is None
        return Request(
            dut.config,
            scenario=_absolute(folder / SCENARIO_DIR) if plays else None,
            module=None if self.test is None else self.test.module,
            result=_absolute(folder / RESULT_FILE),
            log=_absolute(folder / LOG_NAME) if plays else None,
            altered=_absolute(self.altered),
            begun=self.result(dut, Verdict.not_played()),
            waves_from=self.waves_from,
            stages=_absolute(self.stages),
            traffic=self.traffic,
            dump=self.dump,
            dumps=_absolute(self.dumps),
            about=about(dut),
            kept=_absolute(self.kept),
            driver=self.driver,
            counts=_absolute(self.counts),
        )

    def result(self, dut: Dut, verdict: Verdict, seconds: float = 0.0, folder: Path | None = None) -> Result:
        """Return how the job ended."""
        where = None if folder is None else str(folder)
        return Result(self.name, self.seed, dut, self.rerun, verdict, seconds, where, rerun_waves=self.rerun_waves)


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(resolved(path))


def with_settings(job: Job, rerun: str | None = None, **settings: Any) -> Job:
    """Return the job with other settings of its scenario, fields of ``BenchSettings``.

    The command that repeats just it is ``rerun``; without one it is that of the job, which then must say so.
    """

    def make() -> AnyScenario:
        scenario: Any = job.make()
        changed: AnyScenario = replace(scenario, settings=msgspec.structs.replace(scenario.settings, **settings))
        return changed

    return replace(job, make=make, rerun=rerun or job.rerun)


@dataclass(frozen=True)
class Setup:
    """The model that plays jobs.

    Attributes:
        built: The compiled model.
        dut: Device that was built.
        timeout_seconds: Wall-clock limit of each job.
        waves: Whether to write waves.
    """

    built: Built
    dut: Dut
    timeout_seconds: float
    waves: bool = False


def run_jobs(
    jobs: Sequence[Job], setup: Setup, root: Path, *, workers: int, isolated: bool = False
) -> Iterator[tuple[Job, Result]]:
    """Play jobs, so many at a time as there are workers, and yield them with their results as they end.

    Each gets a folder below ``root``, named after it. Unless they are ``isolated``, jobs share a simulator process per
    worker where they can.
    """
    plusargs = jobs[0].plusargs if jobs else ()
    processes = [SharedProcess(setup.built, root / f".simulator-{number}", plusargs) for number in range(workers)]

    def play(process: SharedProcess, job: Job) -> tuple[Job, Result]:
        name = folders.folder_name(job.identity)
        work_dir = folders.emptied(root, name) if job.refused is None else folders.place(root, name)
        return job, run_job(job, setup, work_dir, None if isolated else process)

    try:
        yield from spread(processes, jobs, play)
    finally:
        for process in processes:
            process.close()


def run_entry(
    built: Built,
    test: str,
    request: Request,
    work_dir: Path,
    *,
    timeout_seconds: float,
    waves: bool = False,
    plusargs: Sequence[str] = (),
) -> SimResult:
    """Run one of the entry module's tests, asked by a request, and return how the simulation ended; see ``simulate``.

    An earlier answer in the file of the request is removed.
    """
    if request.result is not None:
        Path(request.result).unlink(missing_ok=True)
    work_dir.mkdir(parents=True, exist_ok=True)
    return simulate(
        built,
        test_module=system_with(built.spec.config).entry_module,
        testcase=test,
        env={**ENTRY_ENVIRONMENT, REQUEST: request.encode()},
        work_dir=work_dir,
        timeout_seconds=timeout_seconds,
        waves=waves,
        plusargs=plusargs,
    )


def run_job(job: Job, setup: Setup, work_dir: Path, process: SharedProcess | None = None) -> Result:
    """Play one job in a folder that is new or empty; a failure leaves its page there, however it ended.

    Where it can, ``process`` plays it instead of a simulator process of its own.
    """
    if job.refused is not None:
        return job.result(setup.dut, Verdict(refused=job.refused))
    folders.check_new(work_dir)
    if job.test is not None:
        result = _tested(job, job.test, setup, work_dir)
    else:
        result = _scenario(job, setup, work_dir, process if process and _shares(job, process) else None)
    if result.ending.is_failure:
        keep_page(result, work_dir, job.kept)
        save_view(result, work_dir)
    return result


def save_view(result: Result, folder: Path) -> None:
    """Write the save files that open the waves in a folder at the first wrong write, if there are such."""
    if result.explained is not None and result.explained.view is not None:
        write_save_files(folder, result.explained.view)


def _shares(job: Job, process: SharedProcess) -> bool:
    """Return whether a job can be played in a process with others; what a driver in C does there nobody knows."""
    return job.driver is None and process.takes(job.plusargs)


def _scenario(job: Job, setup: Setup, work_dir: Path, process: SharedProcess | None) -> Result:
    """Play a scenario, and name the one before it in the process when it fails after that one alone."""
    before = None if process is None else process.last
    result = _played(job, setup, work_dir, process)
    if before is None or result.ending not in _OF_DEVICE:
        return result
    # In a simulator that has played nothing before.
    alone = _played(replace(job, kept=None), setup, folders.emptied(work_dir, _ALONE), None)
    folders.remove(work_dir, _ALONE)
    return msgspec.structs.replace(result, after=before) if alone.ending is Ending.PASSED else result


def keep_page(result: Result, folder: Path, kept: Path | None = None) -> None:
    """Write the page of a failure to its folder, or to one that will be ``kept``.

    The page that the simulator has written, which knows more, stays.
    """
    path = folder / PAGE_FILE
    if not path.is_file():
        write_page(path, result, about=about(result.dut), kept=kept)


def _played(job: Job, setup: Setup, work_dir: Path, process: SharedProcess | None) -> Result:
    """Play a scenario in an empty folder, and leave it there in a form that lasts when it fails."""
    if job.broken is not None:
        return job.result(setup.dut, Verdict.of(Check.INPUT, job.broken), folder=work_dir)
    scenario, system = job.make(), system_of(setup.dut.config)
    system.hand_over(scenario, work_dir / SCENARIO_DIR)
    result = _simulated(job, setup, work_dir, process)
    if result.ending.is_failure:
        system.save(scenario, work_dir / SCENARIO_DIR)
    return result


def _simulated(job: Job, setup: Setup, work_dir: Path, process: SharedProcess | None) -> Result:
    """Have a simulator play the scenario that was handed over in a folder."""
    dut = setup.dut
    request = job.request(dut, work_dir)
    if process is not None:
        run = process.play(request, work_dir / LOG_NAME, setup.timeout_seconds)
    else:
        run = run_entry(
            setup.built,
            "play" if job.driver is None else "drive",
            request,
            work_dir,
            timeout_seconds=setup.timeout_seconds,
            waves=setup.waves,
            plusargs=job.plusargs,
        )
    answer = left_in(work_dir)
    if process is not None and (answer is None or answer.verdict.ending.is_failure):
        process.close()
    if answer is None:
        if run.log_path.resolve() != (work_dir / LOG_NAME).resolve():
            # The process died before it took the request: what it said lies in its own folder.
            shutil.copyfile(run.log_path, work_dir / LOG_NAME)
        tail = last_lines(run.log_path)[-_LOG_LINES:]
        verdict = of_driver(job.driver, run, work_dir)
        verdict = verdict or Verdict(findings=[finding_of(run, *tail)])
        return job.result(dut, verdict, run.seconds, work_dir)
    verdict = verdict_of(answer, run)
    if verdict.ending is Ending.REFUSED and not job.refusable:
        # It was made for this configuration, so that the bench or what made it is wrong, or the driver.
        check = Check.BENCH if job.driver is None else Check.PROGRAM
        verdict.add(Finding(check, Note(f"refused: {verdict.refused}")))
        verdict.refused = None
    if verdict.ending in (Ending.PASSED, Ending.GOLDEN) and not run.passed:
        # The verdict was good, but the simulator did not end as it should.
        verdict.add(finding_of(run))
    result = job.result(dut, verdict, run.seconds, work_dir)
    return msgspec.structs.replace(
        result, performance=answer.performance, explained=answer.explained, layers=answer.layers
    )


def _tested(job: Job, test: PythonTest, setup: Setup, work_dir: Path) -> Result:
    """Play a test in Python in an empty folder.

    Its verdict is that of the bench, with what the test itself raised; without one it enabled no unit, so that it says
    itself what it checks.
    """
    run = simulate(
        setup.built,
        test_module=test.module,
        testcase=test.function,
        env={
            REQUEST: job.request(setup.dut, work_dir).encode(),
            REWRITTEN: os.environ.get(REWRITTEN, f"{test.module.rpartition('.')[2]}.py"),
            "PYTHONPATH": os.pathsep.join((*test.path, *sys.path)),
        },
        work_dir=work_dir,
        timeout_seconds=setup.timeout_seconds,
        waves=setup.waves,
        plusargs=job.plusargs,
        loaded=_PYTHON_TESTS,
    )
    answer, raised = left_in(work_dir), raised_in(run, work_dir)
    explained = None if answer is None else answer.explained
    if answer is None:
        verdict = Verdict(self_checking=True) if run.check is None else Verdict(findings=[raised or run.finding])
        return job.result(setup.dut, of_driver(None, run, work_dir) or verdict, run.seconds, work_dir)
    verdict = verdict_of(answer, run)
    if verdict.refused is not None and not verdict.expects_refusal:
        # Nobody has said what a refused layer should do: what it did is the test's fault.
        del verdict.findings[verdict.before_refusal :]
        verdict.add(Finding(Check.RAISED, Note(f"refused: {verdict.refused}")))
        verdict.refused, explained = None, None
        (work_dir / PAGE_FILE).unlink(missing_ok=True)
    if raised is not None:
        verdict.add(raised)
    elif run.check is not None and not (run.check is Check.TEST and verdict.ending.is_failure):
        verdict.add(run.finding)
    result = job.result(setup.dut, verdict, run.seconds, work_dir)
    return msgspec.structs.replace(result, explained=explained, layers=answer.layers)
