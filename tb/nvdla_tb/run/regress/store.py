"""The store of a regression: what was asked for and how it ended, in SQLite, written as results arrive."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.reading import parse_json, read_text, resolved, shown
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.plain_data import converted
from nvdla_tb.run.dut import about
from nvdla_tb.run.errors import StoreError
from nvdla_tb.run.folders import failure_folder
from nvdla_tb.run.systems import is_nvdla
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Device, Dut, Result
from nvdla_tb.writing import writing

BY_HAND = "run"
"""The title of what the command ``run`` has played: evidence like any other, and no regression."""

Latest = Mapping[tuple[str, str], Mapping[Ending, int]]
"""How tests ended last, by name and source; tests that were never played are absent."""

ABOUT_FILE = "about.txt"
"""Says in the folder of a run what was tested."""

_VERSION = 5
_PATIENCE_SECONDS = 60
"""How long another process may lock the file."""

_TABLES = """
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, title TEXT NOT NULL, started REAL NOT NULL, folder TEXT NOT NULL,
  goal REAL, complete INTEGER NOT NULL);
CREATE TABLE tasks (
  run INTEGER NOT NULL REFERENCES runs, number INTEGER NOT NULL, key TEXT NOT NULL, test TEXT NOT NULL,
  task TEXT NOT NULL, PRIMARY KEY (run, key));
CREATE TABLE results (
  run INTEGER NOT NULL REFERENCES runs, key TEXT NOT NULL, ending TEXT NOT NULL, seconds REAL NOT NULL,
  result TEXT NOT NULL, PRIMARY KEY (run, key));
CREATE TABLE coverage (
  run INTEGER NOT NULL REFERENCES runs, bin TEXT NOT NULL, hits INTEGER NOT NULL, PRIMARY KEY (run, bin));
"""
"""Bins are counted for each run, not for each task, so that many tasks need no more room than few."""

_COUNT_BIN = """
INSERT INTO coverage VALUES (?, ?, ?) ON CONFLICT (run, bin) DO UPDATE SET hits = hits + excluded.hits
"""


@dataclass(frozen=True)
class Run:
    """One regression.

    Attributes:
        id: Its number.
        title: The level that is played, or what else.
        started: Seconds since 1970.
        folder: Its folder beside the store.
        goal: Percent of the reachable bins that it must cover, None when that is not asked for.
        complete: Whether all its tasks are entered; those of a level are chosen while it is played.
    """

    id: int
    title: str
    started: float
    folder: Path
    goal: float | None = None
    complete: bool = True

    def note_about(self, duts: Iterable[Dut], command: str) -> None:
        """Write down what is tested, with the revision of the RTL, and by which command, in the run's folder."""
        path = self.folder / ABOUT_FILE
        lines = [*self.read_about(), *(about(dut) for dut in duts), command]
        with writing(path):
            path.write_text("".join(f"{line}\n" for line in dict.fromkeys(lines)), encoding="utf-8")

    def read_about(self) -> list[str]:
        """Return a line for each device, revision and date under test, and for each command that has played it."""
        path = self.folder / ABOUT_FILE
        return read_text(path).splitlines() if path.is_file() else []


class Store:
    """A file with every run, its tasks and their results; each result is durable when ``add`` returns.

    Several processes may use the file at once. A context manager that closes it; whatever SQLite has raised in its
    block leaves it as a ``StoreError``.

    Raises:
        StoreError: for a file that cannot be opened, is not a store, or of another version.
    """

    def __init__(self, path: Path) -> None:
        """Open the store, making it when the file does not exist."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{path.parent} cannot be made: {error.strerror}") from error
        self._path, self._folder = path, resolved(path.parent)
        if path.exists() and not path.is_file():
            raise StoreError(f"{shown(path)} must be a regression store, not a folder, FIFO or device")
        with ExitStack() as unless_sound:
            try:
                self._database = sqlite3.connect(path, timeout=_PATIENCE_SECONDS)
                unless_sound.callback(self._database.close)
                self._prepare()
            except sqlite3.OperationalError as error:
                raise StoreError(f"{path} cannot be used: {error}") from error
            except sqlite3.DatabaseError as error:
                raise StoreError(f"{path} must be a regression store: {error}") from error
            unless_sound.pop_all()

    def _prepare(self) -> None:
        """Make the tables of a new file, and check those of an old one."""
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        empty = not self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if empty:
            self._database.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {_VERSION}; COMMIT;")
        elif version != _VERSION:
            raise StoreError(f"{self._path} must be a regression store of version {_VERSION}, not {version}")

    def __enter__(self) -> Store:
        """Return the store."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file.

        Raises:
            StoreError: when SQLite has raised an error in the block.
        """
        self._database.close()
        if isinstance(error, sqlite3.Error):
            raise StoreError(f"{self._path} cannot be used: {error}") from error

    def start(self, title: str, tasks: Sequence[Task], *, goal: float | None = None, complete: bool = True) -> Run:
        """Enter a new run with its tasks; ``goal`` and ``complete`` are those of ``Run``.

        Raises:
            InputError: when there is no task, one of them twice, or they are of several devices, which only a system
                without coverage may play in one run.
        """
        if not tasks:
            raise InputError("a run must have at least one task")
        of = tasks[:1] if is_nvdla(tasks[0].dut.config) else tasks[::-1]
        _check(tasks, {task.dut.device: task.dut.evidence for task in of})
        started = time.time()
        with self._database, closing(self._database.cursor()) as cursor:
            row = (title, started, goal, complete)
            cursor.execute("INSERT INTO runs (title, started, folder, goal, complete) VALUES (?, ?, '', ?, ?)", row)
            number = cursor.lastrowid
            assert number is not None
            run = self._run(number, title, started, goal, complete)
            cursor.execute("UPDATE runs SET folder = ? WHERE id = ?", (run.folder.name, number))
            self._enter(run, tasks, 0)
        return run

    def extend(self, run: Run, tasks: Sequence[Task]) -> list[Task]:
        """Enter more tasks of a run, which is complete then, and return those that it did not have.

        Raises:
            InputError: when one of them is there twice, or of another device than the run.
        """
        _check(tasks, {self.device(run): self.evidence(run)})
        known = {key for (key,) in self._database.execute("SELECT key FROM tasks WHERE run = ?", (run.id,))}
        fresh = [task for task in tasks if task.key not in known]
        with self._database:
            self._enter(run, fresh, len(known))
            self._database.execute("UPDATE runs SET complete = 1 WHERE id = ?", (run.id,))
        return fresh

    def _enter(self, run: Run, tasks: Sequence[Task], first: int) -> None:
        rows = [(run.id, n, task.key, task.test, task.encode()) for n, task in enumerate(tasks, first)]
        self._database.executemany("INSERT INTO tasks VALUES (?, ?, ?, ?, ?)", rows)

    def add(self, run: Run, *results: Result) -> None:
        """Enter results, all of them or none; one that is there already stays, as the task ended once.

        Raises:
            InputError: when the run has no such task.
        """
        hits: Counter[str] = Counter()
        with self._database:
            for result in results:
                if not self._read("SELECT 1 FROM tasks WHERE run = ? AND key = ?", (run.id, result.key)):
                    raise InputError(f"run {run.id} has no task {result.key}")
                kept = msgspec.structs.replace(result, coverage={})
                row = (run.id, result.key, result.ending.value, result.seconds, kept.encode().decode())
                if self._database.execute("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?, ?)", row).rowcount:
                    hits.update(result.coverage)
            self._database.executemany(_COUNT_BIN, [(run.id, name, count) for name, count in hits.items()])

    def amend(self, run: Run, result: Result) -> None:
        """Replace a result by the same one of which more is known.

        Raises:
            InputError: for one that ended another way.
        """
        stored = self._read("SELECT ending FROM results WHERE run = ? AND key = ?", (run.id, result.key))
        ending = result.ending.value
        if stored != [(ending,)]:
            raise InputError(f"run {run.id}: {result.key} must have the ending that is stored, not {ending}")
        values = (msgspec.structs.replace(result, coverage={}).encode().decode(), run.id, result.key)
        with self._database:
            self._database.execute("UPDATE results SET result = ? WHERE run = ? AND key = ?", values)

    def runs(self) -> list[Run]:
        """Return all runs, the oldest first."""
        rows = self._read("SELECT id, title, started, goal, complete FROM runs ORDER BY id")
        return [self._run(*row) for row in rows]

    def _run(self, number: int, title: object, started: object, goal: object, complete: object) -> Run:
        if not (isinstance(title, str) and isinstance(started, float)):
            raise StoreError(f"{self._path}: run {number} must have a title and a time, not {shown((title, started))}")
        if not isinstance(goal, float | None):
            raise StoreError(f"{self._path}: run {number} must have a number as its goal, or none, not {shown(goal)}")
        # Whoever copies a store copies the folders of its runs with it; no path in the file counts.
        return Run(number, title, started, self._folder / f"{int(number):04}", goal, bool(complete))

    def device(self, run: Run) -> Device:
        """Return the device that all tasks of a run are of, the first of those of a system that has several."""
        dut = self._dut(run)
        config, rtl = dut.get("config"), dut.get("rtl")
        if not isinstance(config, str) or not isinstance(rtl, str | None):
            raise InputError(f"{self._path}: run {run.id}: tasks must be of a device, not of {config!r} and {rtl!r}")
        return Device(config, rtl)

    def evidence(self, run: Run) -> str:
        """Return the digest of what all tasks of a run are evidence of; empty when they are of nothing."""
        found = self._dut(run).get("evidence")
        return found if isinstance(found, str) else ""

    def _dut(self, run: Run) -> dict[str, Any]:
        rows = self._read("SELECT task FROM tasks WHERE run = ? ORDER BY number LIMIT 1", (run.id,))
        dut = self._parsed(rows[0][0], run).get("dut") if rows else None
        return dut if isinstance(dut, dict) else {}

    def runs_of(self, device: Device) -> list[Run]:
        """Return the regressions of a device, whatever its content was, the oldest first."""
        return [run for run in self.runs() if run.title != BY_HAND and self.device(run) == device]

    def runs_with(self, evidence: str) -> list[Run]:
        """Return the runs that are evidence of one thing, the oldest first."""
        return [run for run in self.runs() if evidence and self.evidence(run) == evidence]

    def run(self, number: int | None = None) -> Run:
        """Return a run by its number, or the newest regression.

        Raises:
            InputError: when there is none.
        """
        runs = self.runs()
        for run in reversed(runs):
            if run.id == number or (number is None and run.title != BY_HAND):
                return run
        if number is None:
            raise InputError("the store holds no run of regress")
        raise InputError(f"no run {number}: " + (f"the newest is {runs[-1].id}" if runs else "the store holds no runs"))

    def tasks(self, run: Run) -> list[Task]:
        """Return all tasks of a run, in their order."""
        rows = self._read("SELECT task FROM tasks WHERE run = ? ORDER BY number", (run.id,))
        return [converted(self._parsed(text, run), Task, "a task") for (text,) in rows]

    def missing(self, run: Run) -> list[Task]:
        """Return the tasks of a run that have no result yet, in their order."""
        done = {key for (key,) in self._read("SELECT key FROM results WHERE run = ?", (run.id,))}
        return [task for task in self.tasks(run) if task.key not in done]

    def forget_lost(self, run: Run) -> None:
        """Take the tasks of a run that were lost for missing again: they say nothing about the device."""
        with self._database:
            self._database.execute("DELETE FROM results WHERE run = ? AND ending = ?", (run.id, Ending.LOST.value))

    def results(self, run: Run) -> list[Result]:
        """Return the results of a run, in the order of its tasks; ``coverage`` has what they cover."""
        rows = self._read(
            "SELECT result FROM results JOIN tasks USING (run, key) WHERE run = ? ORDER BY number", (run.id,)
        )
        return [_in_folder_of(run, converted(self._parsed(text, run), Result, "a result")) for (text,) in rows]

    def coverage(self, *runs: Run) -> dict[str, int]:
        """Return how often runs together hit which bins."""
        marks = ", ".join("?" * len(runs))
        rows = self._read(
            f"SELECT bin, sum(hits) FROM coverage WHERE run IN ({marks}) GROUP BY bin", [run.id for run in runs]
        )
        return dict(rows)

    def counts(self, run: Run) -> dict[Ending, int]:
        """Return how many tasks of a run ended how, or were not played; endings that did not occur are absent."""
        counts = Counter(self.endings(run).values())
        return {ending: counts[ending] for ending in Ending if ending in counts}

    def endings(self, run: Run) -> dict[str, Ending]:
        """Return how the tasks of a run ended, or that they were not played, by their keys and in their order."""
        rows = self._read(
            "SELECT key, ifnull(ending, ?) FROM tasks LEFT JOIN results USING (run, key) WHERE run = ? ORDER BY number",
            (Ending.NOT_PLAYED.value, run.id),
        )
        return {key: converted(ending, Ending, f"{self._path}: results") for key, ending in rows}

    def latest(self, *runs: Run) -> Latest:
        """Return how tests ended, each seed with each state of the simulator in the newest of some runs that played it.

        A seed that failed stays a failure until the same seed passes. One that none of them has played is not played.
        """
        marks = ", ".join("?" * len(runs))
        rows = self._read(
            "SELECT test, json_extract(task, '$.source'), key, json_extract(task, '$.plusargs'), ifnull(ending, ?) "
            f"FROM tasks LEFT JOIN results USING (run, key) WHERE run IN ({marks}) ORDER BY ending IS NOT NULL, run",
            [Ending.NOT_PLAYED.value, *(run.id for run in runs)],
        )
        newest = {tuple(identity): ending for *identity, ending in rows}
        found: dict[tuple[str, str], Counter[Ending]] = {}
        for (test, source, *_), ending in newest.items():
            counts = found.setdefault((test, source), Counter())
            counts[converted(ending, Ending, f"{self._path}: results")] += 1
        return found

    def durations(self, tasks: Iterable[Task]) -> dict[str, float]:
        """Return by key how many seconds tasks took on average in all runs.

        One that was never played takes what its test took with other seeds; without these it is absent.
        """
        rows = self._read(
            "SELECT key, test, sum(seconds), count(*) FROM results JOIN tasks USING (run, key) WHERE ending != ? "
            "GROUP BY key, test",
            (Ending.REFUSED.value,),
        )
        by_key: dict[str, float] = {}
        tests: dict[str, list[float]] = {}
        for key, test, seconds, count in rows:
            by_key[key] = seconds / count
            tests.setdefault(test, []).append(by_key[key])
        by_test = {test: sum(seconds) / len(seconds) for test, seconds in tests.items()}
        known = ((task.key, by_key.get(task.key, by_test.get(task.test))) for task in tasks)
        return {key: seconds for key, seconds in known if seconds is not None}

    def _read(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows that a query finds."""
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self._path} must be a sound regression store: {error}") from error

    def _parsed(self, text: object, run: Run) -> dict[str, Any]:
        """Return the table that a cell holds as JSON."""
        where = f"{self._path}: run {run.id}"
        raw = parse_json(text, where) if isinstance(text, str) else text
        if not isinstance(raw, dict):
            raise InputError(f"{where}: tasks and results must be tables, not {shown(repr(raw))}")
        return raw


def _in_folder_of(run: Run, result: Result) -> Result:
    """Return the result with the folder that its failure has below that of the run, wherever the store lies now."""
    if result.folder is None:
        return result
    return msgspec.structs.replace(result, folder=str(failure_folder(run.folder, result.key)))


def _check(tasks: Sequence[Task], contents: Mapping[Device, str]) -> None:
    """Check that tasks are different, and all of some devices with the content of which each is evidence."""
    twice = sorted(key for key, count in Counter(task.key for task in tasks).items() if count > 1)
    if twice:
        raise InputError(f"tasks must be different; more than once: {', '.join(twice)}")
    for task in tasks:
        device = task.dut.device
        if device not in contents:
            raise InputError(f"tasks of a run must all be of {next(iter(contents))}, not of {device}: {task.key}")
        if task.dut.evidence != contents[device]:
            raise InputError(f"{device} or the testbench must not change during a run: {task.key}")
