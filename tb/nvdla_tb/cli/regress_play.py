"""How ``regress`` plays a run, goes on until enough is covered, and concludes it."""

from __future__ import annotations

import argparse
import math
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial

import msgspec

from nvdla_models.reading import resolved
from nvdla_tb.cli.console import Console, Progress
from nvdla_tb.cli.dut import MODELS
from nvdla_tb.cli.earlier import cycles_before, slower_than_before
from nvdla_tb.cli.playing import looking_inside, time_is_over
from nvdla_tb.cli.regress_tasks import engines_of, random_tasks
from nvdla_tb.cli.workers import workers_of
from nvdla_tb.counting import counted
from nvdla_tb.coverage.model import CoverageModel, model_of
from nvdla_tb.coverage.status import Hits, item_status, table, totals
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.paths import COMMAND
from nvdla_tb.report import failures, page, performance, report, summary
from nvdla_tb.report.features_table import feature_status, folded, section
from nvdla_tb.report.leads import with_leads
from nvdla_tb.report.live import LiveReport
from nvdla_tb.report.page_coverage import code_lines, code_sections, coverage_sections
from nvdla_tb.report.summary import after_regression
from nvdla_tb.run import folders
from nvdla_tb.run.errors import ClusterError
from nvdla_tb.run.looks import Looks
from nvdla_tb.run.optimise import Optimiser
from nvdla_tb.run.regress import code_coverage
from nvdla_tb.run.regress.again import lacks_waves, look_again
from nvdla_tb.run.regress.features import FEATURES, load_feature_plan
from nvdla_tb.run.regress.named import options_of
from nvdla_tb.run.regress.pool import Pool
from nvdla_tb.run.regress.schedule import PATIENCE_SECONDS, drive, reach, run_tasks, search
from nvdla_tb.run.regress.store import Run, Store
from nvdla_tb.run.regress.worker import Limits, remove_worker_folders, worker_folder_name
from nvdla_tb.run.simulators import SIMULATORS
from nvdla_tb.run.system import AnyScenario
from nvdla_tb.run.systems import is_nvdla
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.generate.random import ENGINES
from nvdla_tb.stimulus.result import Dut, Result

_LOOK_AT = 400
"""Random seeds that one round of ``--until-coverage`` looks at, unless a level says how many."""

_LEADS_SECONDS = 60.0
"""How long failures without a cause are compared with tests that passed."""

_FRUITLESS_ROUNDS = 3
"""Rounds without a useful seed after which nothing more is expected."""


class Player:
    """Plays one run to its end, or until the time is over."""

    def __init__(self, args: argparse.Namespace, store: Store, run: Run, until: float | None) -> None:
        """Take the options, a run that may have been played in part, and when to stop, by ``time.monotonic``."""
        self._args, self._store, self._run, self._until = args, store, run, until
        self._limits = Limits(
            folders.made(run.folder.parent, run.folder.name),
            resolved(MODELS),
            args.timeout,
            waves=args.waves,
            isolated=args.isolate,
            build=args.build,
        )
        run.note_about(dict.fromkeys(task.dut for task in store.tasks(run)), args.command_line)
        played = {result.key: _without_layers(result) for result in store.results(run)}
        planned = _planned(store.tasks(run))
        write = partial(write_live, run)
        self._live = LiveReport({key: played.get(key, result) for key, result in planned.items()}, write)
        self._model = coverage_model(store, run)
        # Those of a run that was interrupted have not been played again.
        self._failures = [result for result in played.values() if result.ending.is_failure]

    def play(self, looked_at: int = 0, steered: int | None = None) -> int:
        """Play what the run lacks, and random scenarios that reach what it would miss; return the exit code.

        Args:
            looked_at: random seeds to look at before anything is played.
            steered: how many of them to play at most; None sets no limit.

        Raises:
            KeyboardInterrupt: after it is said how far the run is, and how it goes on.
        """
        try:
            return self._played(looked_at, steered)
        except KeyboardInterrupt:
            tell_interrupted(self._store, self._run, Console.of(self._args))
            raise

    def _played(self, looked_at: int, steered: int | None) -> int:
        args = self._args
        goal: float | None = getattr(args, "until_coverage", None)
        scratch = folders.made(self._run.folder, worker_folder_name("dask"))
        with self._live:
            with workers_of(args, scratch) as pool:
                if looked_at:
                    with Console.of(args).waiting("finding out what the tests of the level reach"):
                        tasks = self._store.tasks(self._run)
                        beforehand = reach(pool, tasks, self._coverage.reachable())
                    self._steer(pool, range(looked_at), steered, beforehand)
                self._drive(pool)
                if goal is not None:
                    self._go_on(pool, goal, looked_at)
                self._look_again(pool)
            remove_worker_folders(self._run.folder)
            return conclude(self._store, self._store.run(self._run.id), args, min(_LEADS_SECONDS, args.explain))

    def _drive(self, pool: Pool) -> None:
        total, missing = len(self._store.tasks(self._run)), len(self._store.missing(self._run))
        where = self._run.folder.parent
        print(f"run {self._run.id} ({self._run.title}): {missing} of {total} to play; results: {where}", flush=True)
        console = Console.of(self._args)
        failed = summary.failed(self._store.counts(self._run))
        progress = Progress(console, total, total - missing, failed)
        # Jobs may wait in a queue for hours.
        patience = math.inf if self._args.cluster else PATIENCE_SECONDS
        drive_on = drive(self._store, self._run, pool, self._limits, until=self._until, patience_seconds=patience)
        with closing(Optimiser(self._optimised(), MODELS)) as optimiser:
            for record in drive_on:
                self._live.add(record.key, _without_layers(record))
                if record.ending.is_failure:
                    self._failures.append(_without_layers(record))
                progress.add(record)
                missing -= 1
                optimiser.ended(record.seconds, missing)
        console.clear()
        if optimiser.refusal is not None:
            console.say(f"played on the quick model, as the optimised one could not be built: {optimiser.refusal}")

    def _look_again(self, pool: Pool) -> None:
        """Say how the run ended and what failed; then play failures of each kind again, if the options allow it."""
        args, console = self._args, Console.of(self._args)
        if not self._failures:
            return
        counts = self._store.counts(self._run)
        console.result(failures.headings(self._failures))
        console.result(summary.counts_line(counts), summary.colour(counts, summary.exit_code(counts)))
        looks = Looks(self._failures, self._needs_waves)
        if not looks.kinds or not args.explain or is_over(self._until):
            return
        until = time.monotonic() + args.explain

        def so_far(seconds: float) -> str:
            return f"{looking_inside(looks)}, {seconds:.0f} s of at most {args.explain:g} s"

        seen: list[Result] = []
        try:
            with console.waiting(so_far):
                for chosen in looks.rounds():
                    if is_over(until):
                        break
                    for result in self._looked_into(pool, chosen, until):
                        seen.append(result)
                        looks.add(result)
        except ClusterError as error:
            console.say(f"no more failures are played again: {error}")
            return
        lack_waves = sum(map(lacks_waves, seen)) if args.waves else 0
        if is_over(until) and (lack_waves or looks.seen < looks.kinds):
            console.say(time_is_over(looks, lack_waves))

    def _needs_waves(self, failure: Result) -> bool:
        return bool(self._args.waves) and lacks_waves(failure)

    def _looked_into(self, pool: Pool, chosen: Sequence[Result], until: float) -> Iterator[Result]:
        """Play failures again, and yield them once the store has what was seen."""
        tasks, keys = self._store.tasks(self._run), {result.key for result in chosen}
        known = {result.key: result for result in self._store.results(self._run) if result.key in keys}
        ends = time.time() + until - time.monotonic()
        look = partial(look_again, failures=known, limits=self._limits, until=ends)
        for results in run_tasks(pool, [task for task in tasks if task.key in keys], look, until=until):
            # A worker that dies meanwhile takes nothing back.
            for result in (result for result in results if result.ending is not Ending.LOST):
                self._store.amend(self._run, result)
                yield result

    def _optimised(self) -> Dut | None:
        """Return the device whose optimised model is to be built beside the run, None without any."""
        # Workers elsewhere have processors of their own to build for; a system without coverage has no such models.
        elsewhere = self._args.scheduler is not None or self._args.cluster is not None
        if self._args.build is not None or elsewhere or self._model is None:
            return None
        duts = Counter(task.dut for task in self._store.missing(self._run) if SIMULATORS[task.dut.simulator].optimises)
        return next((dut for dut, _ in duts.most_common(1)), None)

    @property
    def _coverage(self) -> CoverageModel:
        """The coverage model of a system that has one: what asks for it is refused for others."""
        assert self._model is not None
        return self._model

    def _steer(self, pool: Pool, seeds: range, most: int | None, covered: Iterable[str]) -> int:
        """Enter the random scenarios of some seeds that reach what is not covered; return how many."""
        started = time.monotonic()
        engines = engines_of(self._args) if self._args.kind == "random" else ",".join(ENGINES)
        tasks = random_tasks(self._args, engines, seeds)
        wanted = set(self._coverage.reachable()) - set(covered)
        with Console.of(self._args).waiting(f"looking at {counted(len(seeds), 'seed')} for layers that reach more"):
            fresh = self._store.extend(self._run, search(pool, tasks, wanted, most))
        self._live.plan(_planned(fresh))
        seconds = time.monotonic() - started
        reach_more = counted(len(fresh), "reaches more", "reach more")
        print(f"{counted(len(seeds), 'seed')} looked at in {seconds:.0f} s: {reach_more}", flush=True)
        return len(fresh)

    def _go_on(self, pool: Pool, goal: float, first: int) -> None:
        """Play rounds of more seeds until enough is covered, time is over, or nothing new comes."""
        fruitless = 0
        while fruitless < _FRUITLESS_ROUNDS and not is_over(self._until):
            covered = self._store.coverage(self._run)
            percent = totals(item_status(self._coverage, covered)).percent
            print(f"coverage: {percent:.1f} % of the reachable bins, wanted {goal:g} %", flush=True)
            if percent >= goal:
                return
            found = self._steer(pool, range(first, first + _LOOK_AT), None, covered)
            first += _LOOK_AT
            fruitless = 0 if found else fruitless + 1
            if found:
                self._drive(pool)


def deadline(args: argparse.Namespace) -> float | None:
    """Return when nothing is started any more, by ``time.monotonic``; None without ``--time-budget``."""
    budget: float | None = getattr(args, "time_budget", None)
    return None if budget is None else time.monotonic() + budget


def is_over(until: float | None) -> bool:
    """Return whether the time of a command is over; None sets no limit."""
    return until is not None and time.monotonic() >= until


def write_live(run: Run, results: Sequence[Result], problems: Sequence[str]) -> None:
    """Replace the report of a run that is being played by one of some results; that of ``conclude`` says more."""
    page.write_html(run, results, (), run.folder / page.PAGE, problems=problems, whole=False)
    page.write_junit(_head(run, problems), results, run.folder / page.JUNIT)
    failures.write(results, run.folder)


def conclude(
    store: Store,
    run: Run,
    args: argparse.Namespace,
    leads_seconds: float = _LEADS_SECONDS,
    playing: str | None = None,
) -> int:
    """Print and write the results of a run, and return the exit code; failures are compared for so long.

    ``playing`` says which other process plays the run, None when none does and the run can be resumed.

    Of ``args`` it reads ``cycles_against``, ``results`` and ``slower``, see ``slower_than_before``; and
    ``code_exclusions``, code that need not be reached.
    """
    with Console().waiting("looking for what failures without a cause have in common"):
        makers = {task.identity: partial(_scenario, task) for task in store.tasks(run)}
        results = with_leads(store.results(run), makers, time.monotonic() + leads_seconds)
    everything = list((_planned(store.tasks(run)) | {result.key: result for result in results}).values())
    counts = store.counts(run)
    trend = [(earlier, store.endings(earlier)) for earlier in store.runs_of(store.device(run))]
    folders.made(run.folder.parent, run.folder.name)
    hits, model, sections = store.coverage(run), coverage_model(store, run), []
    drawn = all(task.kind == "random" for task in store.tasks(run))
    if model is not None:
        plan = load_feature_plan(FEATURES, model)
        features = feature_status(plan, plan.features, store.latest(run), hits)
        sections = [folded(features) if drawn else section(features), *coverage_sections(model, hits)]
    counted = code_coverage.of_run(run.folder)
    reached = code_coverage.coverage_of(counted, args.code_exclusions) if counted else None
    if reached is not None:
        code_coverage.write_counts(counted, run.folder / code_coverage.MERGED_FILE)
        sections += code_sections(reached)
    problems = [
        *_problems(run, model, hits),
        *slower_than_before(args, performance.cycles_of(results), cycles_before(args)),
        *summary.problems_of(counts),
    ]
    code = summary.exit_code(counts, problems)
    proven = None if model is None else after_regression(run.title, passed=code == 0)
    page.write_html(
        run, everything, trend, run.folder / page.PAGE, sections, problems, tasks_first=drawn, proven=proven
    )
    page.write_junit(_head(run, problems, proven), everything, run.folder / page.JUNIT)
    failures.write(everything, run.folder)
    if playing is None:
        report.remove_unfinished(run.folder)
    failing = failures.told(results)
    if failing:
        print(f"\n{failing}\nall of it: {run.folder / failures.FILE_NAME}")
    console = Console.of(args)
    if model is not None:
        console.say("\n" + "\n".join(table(model, item_status(model, hits))))
    if reached is not None:
        console.say("\n" + "\n".join(code_lines(reached)))
    if model is not None:
        console.say(f"holes: {COMMAND} coverage {_again(run)}")
    console.say(f"reports: {run.folder}/{page.PAGE}, {run.folder}/{page.JUNIT}")
    if playing is not None:
        print(f"{playing}: what is not played is still to come")
    elif counts.keys() & {Ending.NOT_PLAYED, Ending.LOST}:
        print(_resume_line(store, run))
    print("".join(f"{line}\n" for line in problems), end="")
    console.result(summary.counts_line(counts), summary.colour(counts, code))
    if proven is not None:
        console.result(proven)
    return code


def tell_interrupted(store: Store, run: Run, console: Console) -> None:
    """Print how far a run is that the user interrupts, and the command that plays the rest or writes its reports."""
    run, counts = store.run(run.id), store.counts(run)
    console.result(f"run {run.id}, interrupted: {summary.counts_line(counts)}")
    for problem in _never_chosen(run):
        console.result(problem)
    missing = counts.keys() & {Ending.NOT_PLAYED, Ending.LOST}
    console.result(_resume_line(store, run) if missing else f"reports: {COMMAND} regress show {_again(run)}")


def _again(run: Run) -> str:
    """Return the words of a command line that name a run."""
    return f"{run.id} --results {shlex.quote(str(run.folder.parent))}"


def _resume_line(store: Store, run: Run) -> str:
    """Return how what a run lacks is played."""
    named = dict.fromkeys(options_of(task.dut, task.plusargs) for task in store.tasks(run))
    return f"resume: {COMMAND} regress resume {_again(run)}{''.join(named)}"


def _problems(run: Run, model: CoverageModel | None, hits: Hits) -> list[str]:
    """Return what a run lacks besides tests that pass: tests that were never chosen, and the coverage it must reach."""
    found = _never_chosen(run)
    if run.goal is not None and model is not None:
        covered = totals(item_status(model, hits))
        if covered.percent < run.goal:
            found.append(f"coverage must be {run.goal:g} % of the reachable bins, not {covered.percent:.1f} %")
    return found


def _never_chosen(run: Run) -> list[str]:
    return [] if run.complete else [f"the random scenarios of {run.title} were never chosen: start it anew"]


def _head(run: Run, problems: Sequence[str], proven: str | None = None) -> page.Head:
    *about, command = run.read_about() or [run.title]
    return page.Head(run.title, command, [*about, *([] if proven is None else [proven])], problems)


def _planned(tasks: Iterable[Task]) -> dict[str, Result]:
    """Return what a report says of tasks that were not played, by their keys."""
    return {task.key: task.result(Verdict.not_played()) for task in tasks}


def _without_layers(result: Result) -> Result:
    """Return as much of a result as a report needs: many of them are in memory while a run is played."""
    return msgspec.structs.replace(result, coverage={}, layers=[])


def _scenario(task: Task) -> AnyScenario:
    """Return the scenario of a task.

    Raises:
        InputError: for a test in Python, which has none, and for one that cannot be built.
    """
    return task.job().make()


def coverage_model(store: Store, run: Run) -> CoverageModel | None:
    """Return the coverage model for the configuration that a run is of, None for a system that has none."""
    config = store.device(run).config
    return model_of(config) if is_nvdla(config) else None
