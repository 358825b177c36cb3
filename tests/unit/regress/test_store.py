"""The store: what was asked for, how it ended, and what nobody may lose."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from models.errors import InputError
from tb.regress.record import Ending, Record
from tb.regress.store import Store
from tb.regress.task import Device
from tests.unit.regress.tasks import record, task

TASKS = [task(seed) for seed in range(5)]
EMBEDDED = Device("nv_small", None)


def test_results_outlive_the_process_that_added_them(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("random", tmp_path / "runs", TASKS)
        for number in (4, 0, 3):
            store.add(run, record(TASKS[number]))
    with Store(tmp_path / "store.sqlite") as store:
        run = store.run()
        assert run.folder == tmp_path / "runs" / "0001"
        assert store.tasks(run) == TASKS
        assert store.missing(run) == [TASKS[1], TASKS[2]]
        assert store.records(run) == [record(TASKS[number]) for number in (0, 3, 4)]
        assert store.counts(run) == {Ending.PASSED: 2, Ending.MISMATCH: 1}


def test_the_first_result_of_a_task_stays(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("random", tmp_path, TASKS)
        store.add(run, record(TASKS[0]))
        store.add(run, Record(TASKS[0].key, Ending.LOST, ("gone",)))
        assert store.records(run) == [record(TASKS[0])]


def test_runs_are_kept_apart(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        first = store.start("first", tmp_path, TASKS[:2])
        second = store.start("second", tmp_path, TASKS)
        store.add(first, record(TASKS[0]))
        assert [run.title for run in store.runs()] == ["first", "second"]
        assert store.run() == second
        assert store.run(1) == first
        assert store.missing(second) == TASKS


def test_two_processes_may_use_a_store(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as one, Store(tmp_path / "store.sqlite") as other:
        run = one.start("random", tmp_path, TASKS)
        other.add(run, record(TASKS[2]))
        assert one.records(run) == [record(TASKS[2])]


def test_history_gives_a_task_the_average_of_its_runs_and_one_without_any_that_of_its_test(tmp_path: Path) -> None:
    first, second, new, refused, unknown = task(1), task(2), task(3), task(1, "refused"), task(1, "unknown")
    with Store(tmp_path / "store.sqlite") as store:
        for seconds in (1.0, 3.0):
            run = store.start("random", tmp_path, [first, second, refused])
            store.add(run, Record(first.key, Ending.PASSED, (), {}, seconds))
            store.add(run, Record(second.key, Ending.PASSED, (), {}, 10 * seconds))
            store.add(run, Record(refused.key, Ending.REFUSED, ("no Y",), {}, 9.0))
        known = store.durations([first, second, new, refused, unknown])
    assert known == {first.key: 2.0, second.key: 20.0, new.key: 11.0}


def test_a_run_grows_by_tasks_that_it_does_not_have(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("L1", tmp_path, TASKS[:2])
        assert store.extend(run, TASKS[1:4]) == TASKS[2:4]
        assert store.tasks(run) == TASKS[:4]
        assert store.missing(run) == TASKS[:4]
        assert store.extend(run, TASKS[:4]) == []


def test_the_latest_result_of_a_test_is_that_of_the_newest_run_that_played_it(tmp_path: Path) -> None:
    one, other = (task(seed, "one") for seed in (1, 2)), task(1, "other")
    tasks = [*one, other]
    full, own = (replace(other, dut=replace(other.dut, **what)) for what in ({"config": "nv_full"}, {"rtl": "/my.f"}))
    with Store(tmp_path / "store.sqlite") as store:
        first, second = store.start("first", tmp_path, tasks), store.start("second", tmp_path, tasks)
        for entry in tasks:
            store.add(first, Record(entry.key, Ending.HANG, ("hang",)))
        store.add(second, Record(tasks[0].key, Ending.PASSED, ()))
        store.add(second, Record(tasks[1].key, Ending.MISMATCH, ()))
        for entry in (full, own):
            store.add(store.start("of another", tmp_path, [entry]), Record(entry.key, Ending.PASSED, ()))
        assert store.latest(EMBEDDED) == {
            "one": {Ending.PASSED: 1, Ending.MISMATCH: 1},
            "other": {Ending.HANG: 1},
        }
        assert store.latest(own.dut.device) == {"other": {Ending.PASSED: 1}}
        assert store.latest(Device("nv_large", None)) == {}


def test_a_run_is_of_one_device_and_found_by_it(tmp_path: Path) -> None:
    own = [replace(entry, dut=replace(entry.dut, rtl="/my.f")) for entry in TASKS]
    with Store(tmp_path / "store.sqlite") as store:
        first = store.start("embedded", tmp_path, TASKS)
        second = store.start("own", tmp_path, own[:2])
        assert store.runs_of(EMBEDDED) == [first]
        assert store.runs_of(own[0].dut.device) == [second]
        assert store.runs_of(Device("nv_full", None)) == []
        message = (
            r"^tasks of a run must all be of nv_small on the embedded DUT, not of nv_small on /my\.f: "
            r"random\.1\.nv_small\.verilator$"
        )
        with pytest.raises(InputError, match=message):
            store.start("mixed", tmp_path, [TASKS[0], own[1]])
        with pytest.raises(InputError, match=message):
            store.extend(first, [own[1]])
        assert store.runs() == [first, second]


def test_coverage_is_summed_up_over_tasks_and_merged_over_runs(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run, other = (store.start(title, tmp_path / title, TASKS) for title in ("one", "other"))
        store.add(run, replace(record(TASKS[0]), coverage={"a": 2, "b": 1}))
        store.add(run, replace(record(TASKS[1]), coverage={"b": 4}))
        store.add(other, replace(record(TASKS[0]), coverage={"a": 1, "c": 7}))
        assert store.coverage(run) == {"a": 2, "b": 5}
        assert store.coverage(run, other) == {"a": 3, "b": 5, "c": 7}
        assert store.coverage() == {}
        assert store.records(run)[0].coverage == {}


def test_a_result_that_comes_twice_covers_once(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("random", tmp_path, TASKS)
        for _ in range(2):
            store.add(run, replace(record(TASKS[0]), coverage={"a": 1}))
        assert store.coverage(run) == {"a": 1}


def test_a_store_from_before_there_was_coverage_is_taken_over(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("random", tmp_path, TASKS)
        store.add(run, record(TASKS[0]))
    with sqlite3.connect(tmp_path / "store.sqlite") as database:
        database.executescript("DROP TABLE coverage; PRAGMA user_version = 1;")
    with Store(tmp_path / "store.sqlite") as store:
        assert store.records(run) == [record(TASKS[0])]
        store.add(run, replace(record(TASKS[1]), coverage={"a": 1}))
        assert store.coverage(run) == {"a": 1}


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([], "a run must have at least one task"),
        (
            [task(1), task(2), task(1)],
            "tasks must be different; more than once: random.1.nv_small.verilator",
        ),
    ],
)
def test_a_run_needs_different_tasks(tmp_path: Path, tasks: list, message: str) -> None:
    with Store(tmp_path / "store.sqlite") as store, pytest.raises(InputError, match=rf"^{message}$"):
        store.start("random", tmp_path, tasks)


def test_a_result_must_belong_to_the_run(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("random", tmp_path, TASKS)
        with pytest.raises(InputError, match=r"^run 1 has no task random\.9\.nv_small\.verilator$"):
            store.add(run, record(task(9)))


def test_a_run_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        with pytest.raises(InputError, match=r"^the store holds no run$"):
            store.run()
        store.start("random", tmp_path, TASKS)
        with pytest.raises(InputError, match=r"^there is no run 7; there are 1$"):
            store.run(7)


def test_another_file_is_not_taken_for_a_store(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be looked at " * 30)
    with pytest.raises(InputError, match=r"notes\.txt must be a regression store: file is not a database$"):
        Store(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE mine (x)")
    with pytest.raises(InputError, match=r"other\.sqlite must be a regression store of version 2, not 0$"):
        Store(other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE tasks SET task = '{'", "run 1 must be JSON: Expecting property name"),
        ("UPDATE tasks SET task = '[]'", "run 1: tasks and results must be tables, not []"),
        ("UPDATE tasks SET task = x'00'", "run 1: tasks and results must be tables, not b'"),
        ("UPDATE tasks SET task = json_set(task, '$.seed', 'x')", "a task: Expected `int`, got `str` - at `$.seed`"),
        ("UPDATE tasks SET task = json_set(task, '$.seed', -1)", "seed must be 0 to 0xffffffffffffffff, not -1"),
        (
            "UPDATE tasks SET task = json_set(task, '$.dut', 1)",
            "run 1: tasks must be of a device, not of None and None",
        ),
        (
            "UPDATE tasks SET task = json_set(task, '$.dut.top', 1)",
            "a task: Expected `str`, got `int` - at `$.dut.top`",
        ),
        ("UPDATE results SET record = '{}'", "a record: Object missing required field `key`"),
        (
            "UPDATE results SET record = json_set(record, '$.ending', 'x')",
            "a record: Invalid enum value 'x' - at `$.ending`",
        ),
        ("UPDATE results SET ending = 'x'", "results: Invalid enum value 'x'"),
        (
            "UPDATE tasks SET task = json_set(task, '$.dut.config', 1)",
            "run 1: tasks must be of a device, not of 1 and None",
        ),
        ("UPDATE runs SET started = 'x'", "run 1 must have a title, a time and a folder, not ('random', 'x', "),
    ],
)
def test_a_cell_with_another_content_is_refused(change: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        run = store.start("random", tmp_path, [task(1)])
        store.add(run, record(task(1)))
        device = store.device(run)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    with Store(path) as store, pytest.raises(InputError, match=re.escape(message)):
        everything_of(store, device)


def everything_of(store: Store, device: Device) -> None:
    run = store.run()
    store.device(run)
    store.tasks(run)
    store.records(run)
    store.latest(device)
