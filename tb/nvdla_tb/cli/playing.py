"""Playing with progress, table and reports, as the options of commands want it."""

from __future__ import annotations

import argparse
import hashlib
import re
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_models.reading import shown
from nvdla_tb.cli.console import Console, Progress
from nvdla_tb.cli.dut import dut_of
from nvdla_tb.cli.dut_options import add_dut_options, reports_folder
from nvdla_tb.cli.earlier import cycles_before, slower_than_before
from nvdla_tb.cli.parsing import Parser
from nvdla_tb.cli.run_options import add_run_options
from nvdla_tb.counting import counted
from nvdla_tb.explain.handovers import load_handovers
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.report import failures, page, performance, report, summary
from nvdla_tb.report.leads import with_leads
from nvdla_tb.report.live import LiveReport
from nvdla_tb.report.summary import groups
from nvdla_tb.run import folders
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.inside import watched
from nvdla_tb.run.jobs import Job, Setup, run_jobs, with_settings
from nvdla_tb.run.looks import Looks
from nvdla_tb.run.simulators import DEFAULT_SIMULATOR
from nvdla_tb.stimulus.result import Dut, Result

_DIGEST_CHARACTERS = 8


def plusarg_arguments(plusargs: Iterable[str]) -> str:
    """Return the options that hand the same arguments to the simulator again."""
    return shlex.join(word for text in plusargs for word in ("--plusarg", text))


def check_model_only(args: argparse.Namespace, allowed: tuple[str, ...] = ()) -> None:
    """Refuse options of simulators for what plays no RTL, but for those that are allowed.

    Raises:
        InputError: naming the first of them.
    """
    parser = Parser()
    add_dut_options(parser)
    add_run_options(parser)
    for option, default in vars(parser.parse_args([])).items():
        if option not in ("config", "exact", "json", "dump", *allowed) and getattr(args, option) != default:
            raise InputError(f"--{option.replace('_', '-')} must be left out: --model-only plays no RTL")


def alone_in(folder: Path) -> AbstractContextManager[None]:
    """Wait for another run that plays in a folder: each removes what the one before it has left there."""
    waiting = f"another run plays in {folder}: waiting for its end"
    return folders.alone(folder / ".lock", lambda: print(waiting, flush=True))


def check_run_options(args: argparse.Namespace) -> None:
    """Check the options of ``add_run_options`` before anything is built.

    Raises:
        InputError: for options that contradict each other, files of stages and of earlier cycles that cannot be
            used, and a folder of results that cannot be made.
    """
    folders.made(reports_folder(args))
    cycles_before(args)
    if args.waves_from is not None:
        if not args.waves:
            raise InputError("--waves-from must only be given with --waves")
        if not re.fullmatch(r"(cycle|layer):[0-9]{1,18}", args.waves_from):
            raise InputError(f"--waves-from must be cycle:N or layer:N, not {shown(args.waves_from)}")
    if args.stages is not None:
        load_handovers(args.stages)


def run_name(title: str, dut: Dut) -> str:
    """Return the name of the folder of runs: different devices have different ones.

    Nothing is added for the embedded device of the plan's configuration, of which ``title`` is the name, in Verilator.
    """
    config = Path(dut.config)
    own = [text for text in (dut.rtl, dut.port_map) if text is not None]
    own += [dut.config] if config.suffix else []
    parts = [title, *([config.stem] if config.stem != title else [])]
    parts += [dut.simulator] if dut.simulator != DEFAULT_SIMULATOR else []
    if own:
        digest = hashlib.sha256("\n".join((*own, dut.top)).encode("utf-8", errors="surrogatepass")).hexdigest()
        parts += [*([Path(dut.rtl).stem] if dut.rtl else []), digest[:_DIGEST_CHARACTERS]]
    return folders.folder_name("-".join(parts))


def prepared(args: argparse.Namespace, jobs: Sequence[Job]) -> Sequence[Job]:
    """Return jobs as the options of running want them."""
    if args.exact:
        jobs = [with_settings(job, f"{job.rerun} --exact", exact=True) for job in jobs]
    if args.stop_at_first:
        jobs = [with_settings(job, f"{job.rerun} --stop-at-first", stop_at_first=True) for job in jobs]
    if args.plusarg:
        again = plusarg_arguments(args.plusarg)
        jobs = [replace(job, plusargs=tuple(args.plusarg), rerun=f"{job.rerun} {again}") for job in jobs]
    if args.waves_from is not None:
        jobs = [replace(job, plusargs=(*job.plusargs, "+wave_wait"), waves_from=args.waves_from) for job in jobs]
    if args.stages is not None:
        jobs = [replace(job, stages=args.stages) for job in jobs]
    if args.dump is not None:
        jobs = [replace(job, dumps=dump_folder(args.dump, job.identity)) for job in jobs]
    if args.performance:
        jobs = [replace(job, traffic=True) for job in jobs]
    return jobs


def dump_folder(root: Path, identity: str) -> Path:
    """Return the folder, empty, for what memory holds in one test.

    Raises:
        InputError: when it cannot be made, or holds what the testbench has not written.
    """
    return folders.emptied(root, folders.folder_name(identity))


Plays = Sequence[tuple[argparse.Namespace, Sequence[Job], Built]]
"""By device, the options that select it, jobs, whose identities all differ, and its model."""


def play_and_report(
    args: argparse.Namespace,
    plays: Plays,
    title: str,
    keep: Callable[[Result], object] = lambda result: None,
    proven: Callable[[int], Sequence[str]] = lambda right: (),
) -> int:
    """Play jobs with live progress, print table, complaints and summary, and write the reports.

    The reports are there before anything is played, and in them what was not played yet. Each result goes to ``keep``
    when it is there. What ``proven`` says of so many tests that passed, 0 of a run that has not passed, ends the output
    and stands in the last reports.

    Returns:
        The exit code.
    """
    root = folders.made(reports_folder(args), run_name(title, dut_of(args)))
    # Also when it is the file that this run writes.
    before = cycles_before(args)
    console, started = Console.of(args), time.monotonic()
    plays = [(device, prepared(args, jobs), built) for device, jobs, built in plays]
    planned = {
        job.identity: job.result(dut_of(device), Verdict.not_played()) for device, jobs, _ in plays for job in jobs
    }
    head = page.Head(root.name, args.command_line)
    write = partial(_write_pages, head, root)
    with alone_in(root):
        _remove_earlier(root, args, console)
        with LiveReport(planned, write) as live:
            results, played = _played(args, plays, root, console, live, keep)
            slower = slower_than_before(args, performance.cycles_of(results), before)
            problems = [*slower, *summary.problems_of(summary.endings(results))]
            if groups(results) and args.explain:
                # What takes its time comes after the verdict.
                write(results, problems)
                console.result(failures.headings(results))
                console.result(summary.counts_line(summary.endings(results)), "red")
                results = _explained(results, played, root, console, args.explain)
            _tell(args, results, problems, root, console)
            counts = summary.endings(results)
            code = summary.exit_code(counts, problems)
            said = proven(counts.get(Ending.PASSED, 0) if code == 0 else 0)
            _write_pages(replace(head, about=said), root, results, problems)
            console.say(f"{time.monotonic() - started:.1f} s; reports: {root}/{page.PAGE}, {root}/{page.JUNIT}")
            if args.json:
                report.write_json(results, args.json)
        console.result(summary.counts_line(counts), summary.colour(counts, code))
        for line in said:
            console.say(line)
        return code


def _write_pages(head: page.Head, root: Path, results: Sequence[Result], problems: Sequence[str]) -> None:
    report.write_pages(replace(head, problems=problems), results, root)


def _remove_earlier(root: Path, args: argparse.Namespace, console: Console) -> None:
    """Remove the reports of an earlier run, and say so when those in the folder are of another command."""
    command = page.command_of(root)
    if command not in (None, args.command_line):
        console.say(f"in {root} this run replaces the reports of: {command}")
    report.remove_pages(root)
    remove_earlier_file(args.json)


def remove_earlier_file(path: Path | None) -> None:
    """Remove the file that an option names for results, if there is one: until they are there, it has none."""
    if path is not None and path.is_file():
        path.unlink()


def _tell(
    args: argparse.Namespace, results: Sequence[Result], problems: Sequence[str], root: Path, console: Console
) -> None:
    """Print results: as much as is wanted of each, what failed, and the problems of the run as a whole."""
    if console.verbose:
        console.result(f"\n{report.table(results)}\n")
    failing = failures.told(results)
    if failing:
        console.result(f"{failing}\nall of it: {root / failures.FILE_NAME}")
    if args.performance:
        for result in results:
            console.result(f"{result.identity}\n{performance.table(performance.layers_of(result.layers))}\n")
    for line in problems:
        console.result(line)


def _played(
    args: argparse.Namespace,
    plays: Plays,
    root: Path,
    console: Console,
    live: LiveReport,
    keep: Callable[[Result], object],
) -> tuple[list[Result], Mapping[str, tuple[Job, Setup]]]:
    """Play jobs, and return their results in the order of the jobs, and what played each."""
    found: dict[str, Result] = {}
    played: dict[str, tuple[Job, Setup]] = {}
    progress = Progress(console, sum(len(jobs) for _, jobs, _ in plays))
    for device, jobs, built in plays:
        setup = setup_of(args, device, built)
        played |= {job.identity: (job, setup) for job in jobs}
        for job, result in run_jobs(jobs, setup, root, workers=args.jobs, isolated=args.isolate):
            found[job.identity] = result
            live.add(job.identity, result)
            keep(result)
            progress.add(result)
    console.clear()
    return [found[identity] for identity in played], played


def _explained(
    results: Sequence[Result], played: Mapping[str, tuple[Job, Setup]], root: Path, console: Console, seconds: float
) -> list[Result]:
    """Return results with what playing some failures again, and comparing their layers, says of them in some time."""
    until = time.monotonic() + seconds
    results = with_handovers(results, played, root, console, until)
    with console.waiting("looking for what failures without a cause have in common"):
        return with_leads(results, {identity: job.make for identity, (job, _) in played.items()}, until)


def setup_of(args: argparse.Namespace, device: argparse.Namespace, built: Built) -> Setup:
    """Return what plays jobs on the device that some options select, by the options of the run."""
    return Setup(built, dut_of(device), args.timeout, waves=args.waves)


def with_handovers(
    results: Sequence[Result],
    played: Mapping[str, tuple[Job, Setup]],
    root: Path,
    console: Console,
    until: float,
    watch: Callable[[Job, Result, Setup, Path], Result] = watched,
) -> list[Result]:
    """Return results in which failures of each kind say where inside they arise, as far as that can be seen.

    Args:
        results: All results of a run.
        played: By the identity of a result, the job and what played it.
        root: Folder of the run.
        console: Where it is said what is played again.
        until: When it ends, by ``time.monotonic``; a simulation that takes longer is killed.
        watch: Plays a failure again.
    """
    found: dict[str, Result] = {}
    looks = Looks(results)
    for result in chain.from_iterable(looks.rounds()):
        left = until - time.monotonic()
        if left <= 0:
            break
        console.progress(f"{looking_inside(looks)}, {result.identity}, {left:.0f} s left")
        job, setup = played[result.identity]
        setup = replace(setup, timeout_seconds=min(setup.timeout_seconds, left))
        again = watch(job, result, setup, folders.place(root, folders.folder_name(result.identity)))
        found[result.identity] = again
        looks.add(again)
    console.clear()
    if looks.seen < looks.kinds and time.monotonic() >= until:
        console.say(time_is_over(looks))
    return [found.get(result.identity, result) for result in results]


def looking_inside(looks: Looks) -> str:
    """Return how far looking inside failures is."""
    return f"looking inside failures: {looks.seen} of {counted(looks.kinds, 'kind')}"


def time_is_over(looks: Looks, lack_waves: int = 0) -> str:
    """Return what the time for looking inside failures was too short for.

    Args:
        looks: What was to be looked into.
        lack_waves: How many of those that were looked into have no waves, or none that are whole.
    """
    cut, lacking = looks.kinds - looks.seen, f", {lack_waves} without complete waves" if lack_waves else ""
    what = f"{cut} of {counted(looks.kinds, 'kind')} not looked into{lacking}"
    return f"the time for looking inside failures was over, {what}: --explain SECONDS allows more"
