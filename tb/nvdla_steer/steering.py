"""The run: candidates played by several simulators at once, judged, entered in the store, and given to the corpus."""

from __future__ import annotations

import argparse
import shlex
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from nvdla_models.reading import resolved
from nvdla_steer.candidates import SEED, Candidate, Candidates
from nvdla_steer.corpus import Corpus
from nvdla_steer.points import Points
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.dut import dut_arguments
from nvdla_tb.cli.playing import looking_inside
from nvdla_tb.cli.regress_play import conclude, write_live
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.paths import COMMAND
from nvdla_tb.report import failures
from nvdla_tb.report.live import LiveReport
from nvdla_tb.run import folders
from nvdla_tb.run.cache import MODELS
from nvdla_tb.run.looks import Looks
from nvdla_tb.run.process import stop
from nvdla_tb.run.regress.again import lacks_waves, look_again
from nvdla_tb.run.regress.held import held
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.regress.worker import (
    Limits,
    counts_path,
    end_processes,
    execute,
    record_path,
    remove_worker_folders,
)
from nvdla_tb.run.space import write_whole
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.generate.plan_text import plan_text
from nvdla_tb.stimulus.result import Dut, Result

TITLE = "steer"
GROWTH_FILE = "growth.csv"
"""What was reached after how many simulated cycles, a line for each scenario that has added something."""

_LEADS_SECONDS = 60.0


@dataclass
class Tally:
    """How far a run is: scenarios that ended, their cycles, and how many failed."""

    played: int = 0
    cycles: int = 0
    failed: int = 0


class Steering:
    """Plays candidates until time or cycles are over, or until an interrupt.

    ::

        with Store(results / STORE) as store:
            code = Steering(args, store, dut, points, corpus, candidates).play()

    Every byte of every scenario is judged. One that fails leaves what a failure of ``regress random`` does, and is no
    part of the corpus.
    """

    def __init__(
        self, args: argparse.Namespace, store: Store, dut: Dut, points: Points, corpus: Corpus, candidates: Candidates
    ) -> None:
        """Take the options, the store, the device and its points, and where scenarios come from and go."""
        self._args, self._store, self._dut, self._points = args, store, dut, points
        self._corpus, self._candidates = corpus, candidates
        self._console, self._tally = Console.of(args), Tally()
        self._until = time.monotonic() + 3600 * args.hours
        self._sources = folders.made(args.results, TITLE)
        self._results: dict[str, Result] = {}
        self._started = time.monotonic()

    def play(self) -> int:
        """Play, and return the exit code: 0 when all that was begun has passed.

        Raises:
            KeyboardInterrupt: after the corpus and the report were written.
        """
        first = self._candidates.next()
        task = self._task(first)
        self._run = self._store.start(TITLE, [task])
        folder = folders.made(self._run.folder.parent, self._run.folder.name)
        self._run.note_about([self._dut], self._args.command_line)
        self._limits = Limits(
            folder,
            resolved(MODELS),
            self._args.timeout,
            waves=self._args.waves,
            isolated=self._args.isolate,
            build=self._args.build,
            counts=folders.made(folder, "counts"),
        )
        self._growth = (folder / GROWTH_FILE).open("w", encoding="utf-8", buffering=1)
        self._growth.write("scenarios,cycles,points,kept\n")
        interrupted = False
        self._live = LiveReport({task.key: _not_played(task)}, partial(write_live, self._run))
        with held(self._run), self._growth, self._live:
            try:
                self._drive(task, first)
                end_processes()
                self._look_again()
            except KeyboardInterrupt:
                # No process is started any more: what is left to do is to say what there is.
                stop()
                end_processes()
                interrupted = True
            finally:
                self._corpus.save()
            self._tell()
            with suppress(OSError, folders.FolderError):
                folders.remove(folder, "counts")
            remove_worker_folders(folder)
            code = conclude(self._store, self._run, self._args, 0 if interrupted else _LEADS_SECONDS)
        if interrupted:
            raise KeyboardInterrupt
        return code

    @property
    def _is_over(self) -> bool:
        most = self._args.cycles
        return time.monotonic() >= self._until or (most is not None and self._tally.cycles >= most)

    def _drive(self, task: Task, candidate: Candidate) -> None:
        """Keep all simulators busy; what was begun when the time is over is played to its end."""
        with ThreadPoolExecutor(self._args.jobs) as pool:
            running: dict[Future[Result], tuple[Task, Candidate]] = {}
            running[pool.submit(execute, task, self._limits)] = task, candidate
            try:
                while True:
                    while len(running) < self._args.jobs and not self._is_over:
                        candidate = self._candidates.next()
                        task = self._task(candidate)
                        self._store.extend(self._run, [task])
                        self._live.add(task.key, _not_played(task))
                        running[pool.submit(execute, task, self._limits)] = task, candidate
                    if not running:
                        break
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        self._take(*running.pop(future), future.result())
            except BaseException:
                stop()
                raise
        self._console.clear()

    def _task(self, candidate: Candidate) -> Task:
        """Write a candidate as a plan of one scenario, and return the task that plays it."""
        described = candidate.described
        path = self._sources / f"{folders.folder_name(described.name)}.toml"
        write_whole(path, plan_text(self._corpus.config, [described]))
        which = shlex.join(["--plan", str(path.resolve()), "--only", described.name, "--seed", str(SEED)])
        rerun = f"{COMMAND} run {dut_arguments(self._args)} {which}"
        return Task(
            described.name, SEED, "plan", str(path.resolve()), self._dut, rerun, plusargs=tuple(self._args.plusarg)
        )

    def _take(self, task: Task, candidate: Candidate, result: Result) -> None:
        """Enter a result, and give what it has reached to the corpus."""
        if result.ending is Ending.LOST:
            # It says nothing of the device, and stays not played.
            return
        self._store.add(self._run, result)
        record_path(self._run.folder, task.key).unlink(missing_ok=True)
        short = msgspec.structs.replace(result, coverage={}, layers=[])
        self._live.add(task.key, short)
        tally = self._tally
        tally.played += 1
        tally.cycles += result.verdict.cycles
        path = counts_path(self._limits.counts or Path(), task.key)
        if result.ending is Ending.PASSED:
            levels = self._points.levels(np.fromfile(path, dtype=np.uint32))
            gain = self._corpus.add(candidate.described, levels, result.verdict.cycles)
            self._candidates.note(candidate.kind, gain.points, result.verdict.cycles)
            if gain.kept:
                self._growth.write(f"{tally.played},{tally.cycles},{self._reached},{len(self._corpus.entries)}\n")
        if result.ending.is_failure:
            tally.failed += 1
            self._results[task.key] = short
            self._console.say(f"{result.ending.value}: {result.key}  {result.verdict.cycles} cycles")
        path.unlink(missing_ok=True)
        self._console.progress(self._so_far())

    @property
    def _reached(self) -> int:
        return int(np.count_nonzero(self._corpus.reached))

    def _so_far(self) -> str:
        tally, seconds = self._tally, time.monotonic() - self._started
        failed = f", {tally.failed} failed" if tally.failed else ""
        return (
            f"{self._reached} points reached, {len(self._corpus.entries)} entries kept of {tally.played} scenarios"
            f"{failed}, "
            f"{tally.cycles / 1e6:.1f} million cycles, {tally.played / max(seconds, 1e-3):.1f} scenarios/s"
        )

    def _look_again(self) -> None:
        """Play a failure of each kind again, as ``regress`` does, for what is wrong inside and for waves."""
        found = list(self._results.values())
        if not found:
            return
        self._console.result(failures.headings(found))
        if not self._args.explain:
            return
        until = time.time() + self._args.explain
        looks = Looks(found, lambda result: bool(self._args.waves) and lacks_waves(result))
        for result in chain.from_iterable(looks.rounds()):
            task = next(task for task in self._store.tasks(self._run) if task.key == result.key)
            known = {task.key: next(each for each in self._store.results(self._run) if each.key == task.key)}
            with self._console.waiting(f"{looking_inside(looks)}, {result.key}"):
                again = look_again(task, known, self._limits, until)
            self._store.amend(self._run, again)
            looks.add(again)

    def _tell(self) -> None:
        """Print what the run has reached, and what the corpus holds."""
        corpus = self._corpus
        self._console.say(self._so_far())
        self._console.say(f"reached: {self._points.told(corpus.reached)}")
        least = corpus.least()
        cycles = sum(entry.cycles for entry in corpus.entries.values())
        self._console.say(f"corpus: {corpus.folder / 'corpus.toml'}, {len(corpus.entries)} entries of {cycles} cycles")
        self._console.say(
            f"least: {corpus.folder / 'least.toml'} reaches the same points with {len(least)} entries of "
            f"{sum(entry.cycles for entry in least)} cycles"
        )


def _not_played(task: Task) -> Result:
    return task.result(Verdict.not_played())
