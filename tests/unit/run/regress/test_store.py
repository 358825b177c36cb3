"""The store: what was asked for, how it ended, and what nobody may lose."""

from __future__ import annotations

import dataclasses
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_models.errors import InputError
from nvdla_models.layout import Element
from nvdla_tb.judge.verdict import Ending, Margin, Verdict
from nvdla_tb.run.folders import failure_folder
from nvdla_tb.run.regress.store import Store
from nvdla_tb.stimulus.result import Device, Performance
from tests.unit.run.regress.tasks import DUT, ended, explained, hang, played, stored, task, wrong

TASKS = [task(seed) for seed in range(5)]
EMBEDDED = Device("nv_small", None)
MARGIN = Margin("layer 0 (CONV, group 0)", "CC DC", "some rule", 9, None, Element(1, 2, 3))


def test_a_run_of_a_system_without_coverage_is_of_several_devices(store: Store) -> None:
    cores = [replace(task(seed), dut=replace(DUT, config=f"dlhdl_int8_{seed}", evidence=str(seed))) for seed in (4, 9)]
    run = store.start("random", cores)
    assert (store.tasks(run), store.device(run).config) == (cores, "dlhdl_int8_4")
    changed = [*cores, replace(task(64), dut=replace(cores[0].dut, evidence="other"))]
    message = r"^dlhdl_int8_4 on the embedded DUT or the testbench must not change during a run: random\.64\."
    with pytest.raises(InputError, match=message):
        store.start("random", changed)


def test_more_that_is_known_of_a_failure_takes_its_place_and_no_other_ending(store: Store) -> None:
    run = store.start("random", TASKS[:2])
    failure = ended(TASKS[0], Ending.MISMATCH)
    store.add(run, failure)
    known = replace(failure, explained=explained("why"))
    store.amend(run, known)
    assert [result.explained for result in store.results(run)] == [known.explained]
    for other in (ended(TASKS[0], Ending.PASSED), ended(TASKS[1], Ending.PASSED)):
        message = rf"^run 1: {other.key} must have the ending that is stored, not passed$"
        with pytest.raises(InputError, match=message):
            store.amend(run, other)
    assert store.counts(run) == {Ending.MISMATCH: 1, Ending.NOT_PLAYED: 1}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


def test_results_outlive_the_process_that_added_them(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("random", TASKS)
        for number in (4, 0, 3):
            store.add(run, played(TASKS[number]))
    with Store(tmp_path / "store.sqlite") as store:
        run = store.run()
        assert run.folder == tmp_path / "0001"
        assert store.tasks(run) == TASKS
        assert store.missing(run) == [TASKS[1], TASKS[2]]
        assert store.results(run) == [stored(TASKS[number]) for number in (0, 3, 4)]
        assert store.counts(run) == {Ending.PASSED: 2, Ending.MISMATCH: 1, Ending.NOT_PLAYED: 2}


def test_a_run_keeps_what_it_must_cover_and_whether_all_its_tasks_were_chosen(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        begun = store.start("L1", TASKS[:2], goal=90.5, complete=False)
        whole = store.start("plan", TASKS)
        assert (begun.goal, begun.complete, whole.goal, whole.complete) == (90.5, False, None, True)
    with Store(tmp_path / "store.sqlite") as store:
        assert store.runs() == [begun, whole]
        store.extend(begun, TASKS[2:3])
        assert store.run(begun.id) == dataclasses.replace(begun, complete=True)


def test_the_first_result_of_a_task_stays_and_covers_once(store: Store) -> None:
    run = store.start("random", TASKS)
    store.add(run, replace(played(TASKS[0]), coverage={"a": 1}))
    store.add(run, ended(TASKS[0], Ending.LOST, coverage={"a": 1}))
    assert store.results(run) == [stored(TASKS[0])]
    assert store.coverage(run) == {"a": 1}


def test_tasks_that_were_lost_can_be_taken_up(store: Store) -> None:
    run, other = (store.start(title, TASKS[:3]) for title in ("one", "other"))
    for one in (run, other):
        store.add(one, played(TASKS[0]), ended(TASKS[1], Ending.LOST))
    store.forget_lost(run)
    assert store.missing(run) == TASKS[1:3]
    assert store.missing(other) == TASKS[2:3]
    store.add(run, played(TASKS[1]))
    assert store.results(run) == [stored(TASKS[0]), stored(TASKS[1])]


def test_runs_are_kept_apart(store: Store) -> None:
    first = store.start("first", TASKS[:2])
    second = store.start("second", TASKS)
    store.add(first, played(TASKS[0]))
    assert [run.title for run in store.runs()] == ["first", "second"]
    assert store.run() == second
    assert store.run(1) == first
    assert store.missing(second) == TASKS


def test_two_processes_may_use_a_store(tmp_path: Path) -> None:
    with Store(tmp_path / "store.sqlite") as one, Store(tmp_path / "store.sqlite") as other:
        run = one.start("random", TASKS)
        other.add(run, played(TASKS[2]))
        assert one.results(run) == [stored(TASKS[2])]


def test_history_gives_a_task_the_average_of_its_runs_and_one_without_any_that_of_its_test(store: Store) -> None:
    first, second, new, refused, unknown = task(1), task(2), task(3), task(1, "refused"), task(1, "unknown")
    for seconds in (1.0, 3.0):
        run = store.start("random", [first, second, refused])
        store.add(run, ended(first, Ending.PASSED, seconds))
        store.add(run, ended(second, Ending.PASSED, 10 * seconds))
        store.add(run, ended(refused, Ending.REFUSED, 9.0))
    known = store.durations([first, second, new, refused, unknown])
    assert known == {first.key: 2.0, second.key: 20.0, new.key: 11.0}


def test_a_run_grows_by_tasks_that_it_does_not_have(store: Store) -> None:
    run = store.start("L1", TASKS[:2])
    assert store.extend(run, TASKS[1:4]) == TASKS[2:4]
    assert store.tasks(run) == TASKS[:4]
    assert store.missing(run) == TASKS[:4]
    assert store.extend(run, TASKS[:4]) == []


def test_the_latest_result_of_a_seed_is_that_of_the_newest_run_that_played_it(store: Store) -> None:
    one, other = [task(seed, "one") for seed in (1, 2)], task(1, "other")
    tasks = [*one, other]
    first, second = store.start("first", tasks), store.start("second", tasks)
    for entry in tasks:
        store.add(first, ended(entry, Ending.HANG))
    store.add(second, ended(one[0], Ending.PASSED))
    assert store.latest(first, second) == {
        ("one", "SDP,PDP"): {Ending.PASSED: 1, Ending.HANG: 1},
        ("other", "SDP,PDP"): {Ending.HANG: 1},
    }
    assert store.latest(second) == {
        ("one", "SDP,PDP"): {Ending.PASSED: 1, Ending.NOT_PLAYED: 1},
        ("other", "SDP,PDP"): {Ending.NOT_PLAYED: 1},
    }, "also what no run has played"
    assert store.latest() == {}


def test_another_state_of_the_simulator_is_another_result(store: Store) -> None:
    plain = task(1, "one")
    powered_up = replace(plain, plusargs=("+verilator+rand+reset+2",))
    first, second = store.start("L1", [powered_up]), store.start("run", [plain])
    store.add(first, ended(powered_up, Ending.HANG))
    store.add(second, ended(plain, Ending.PASSED))
    assert store.latest(first, second) == {("one", "SDP,PDP"): {Ending.HANG: 1, Ending.PASSED: 1}}


def test_runs_are_found_by_what_they_are_evidence_of(store: Store) -> None:
    old, new = ([replace(TASKS[0], dut=replace(TASKS[0].dut, evidence=text))] for text in ("old", "new"))
    runs = [store.start("L1", tasks) for tasks in (old, new, TASKS[:1])]
    assert [store.evidence(run) for run in runs] == ["old", "new", ""]
    assert store.runs_with("new") == [runs[1]]
    assert store.runs_with("") == [], "of nothing"
    what = r"nv_small on the embedded DUT or the testbench must not change during a run"
    with pytest.raises(InputError, match=rf"^{what}: random\.9\.nv_small\.verilator$"):
        store.start("both", [*new, replace(old[0], seed=9)])


def test_a_run_is_of_one_device_and_found_by_it(store: Store) -> None:
    own = [replace(entry, dut=replace(entry.dut, rtl="/my.f")) for entry in TASKS]
    first = store.start("embedded", TASKS)
    second = store.start("own", own[:2])
    assert store.runs_of(EMBEDDED) == [first]
    assert store.runs_of(own[0].dut.device) == [second]
    assert store.runs_of(Device("nv_full", None)) == []
    message = (
        r"^tasks of a run must all be of nv_small on the embedded DUT, not of nv_small on /my\.f: "
        r"random\.1\.nv_small\.verilator$"
    )
    with pytest.raises(InputError, match=message):
        store.start("mixed", [TASKS[0], own[1]])
    with pytest.raises(InputError, match=message):
        store.extend(first, [own[1]])
    assert store.runs() == [first, second]


def test_coverage_is_summed_up_over_tasks_and_merged_over_runs(store: Store) -> None:
    run, other = (store.start(title, TASKS) for title in ("one", "other"))
    store.add(run, replace(played(TASKS[0]), coverage={"a": 2, "b": 1}))
    store.add(run, replace(played(TASKS[1]), coverage={"b": 4}))
    store.add(other, replace(played(TASKS[0]), coverage={"a": 1, "c": 7}))
    assert store.coverage(run) == {"a": 2, "b": 5}
    assert store.coverage(run, other) == {"a": 3, "b": 5, "c": 7}
    assert store.coverage() == {}
    assert store.results(run)[0].coverage == {}


def test_a_store_of_another_version_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.start("random", TASKS)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 2")
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"store\.sqlite must be a regression store of version 5, not 2$"):
        Store(path)
    assert path.read_bytes() == before


def test_a_result_is_kept_with_its_findings(tmp_path: Path) -> None:
    verdict = Verdict(judged_bytes=8, findings=[wrong(3), hang("SDP_0")], margins=[MARGIN])
    why = explained("dst-base", equal=("dst-base", "dst-order"))
    left = failure_folder(tmp_path / "0001", TASKS[0].key)
    whole = replace(TASKS[0].result(verdict, 2.5, left), performance=Performance(1e5, 0.5, 1 << 20), explained=why)
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("random", TASKS)
        store.add(run, whole)
        assert store.results(run) == [whole]


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
        store.start("random", tasks)


def test_a_result_must_belong_to_the_run(store: Store) -> None:
    run = store.start("random", TASKS)
    with pytest.raises(InputError, match=r"^run 1 has no task random\.9\.nv_small\.verilator$"):
        store.add(run, played(task(9)))


def test_a_run_that_is_not_there_is_an_error(store: Store) -> None:
    with pytest.raises(InputError, match=r"^the store holds no run of regress$"):
        store.run()
    store.start("random", TASKS)
    with pytest.raises(InputError, match=r"^no run 7: the newest is 1$"):
        store.run(7)


def test_another_file_is_not_taken_for_a_store(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be looked at " * 30)
    with pytest.raises(InputError, match=r"notes\.txt must be a regression store: file is not a database$"):
        Store(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE mine (x)")
    with pytest.raises(InputError, match=r"other\.sqlite must be a regression store of version 5, not 0$"):
        Store(other)


def test_a_copied_store_speaks_of_the_folders_beside_it(tmp_path: Path) -> None:
    """Whatever paths stand in the file: of the place where it was made, or of somebody who wants them overwritten."""
    original = tmp_path / "original"
    with Store(original / "results.sqlite") as store:
        run = store.start("random", TASKS[:1])
        left = replace(ended(TASKS[0], Ending.HANG), folder=str(run.folder / TASKS[0].key))
        store.add(run, left)
    copy = Path(shutil.copytree(original, tmp_path / "copy"))
    with sqlite3.connect(copy / "results.sqlite") as database:
        database.execute("UPDATE runs SET folder = '/some/where'")
    with Store(copy / "results.sqlite") as store:
        run = store.run()
        assert run.folder == copy / "0001"
        assert [entry.folder for entry in store.results(run)] == [str(copy / "0001" / TASKS[0].key)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE tasks SET task = '{'", "run 1 must be JSON: Expecting property name"),
        ("UPDATE tasks SET task = '[]'", "run 1: tasks and results must be tables, not []"),
        ("UPDATE tasks SET task = x'00'", "run 1: tasks and results must be tables, not b'"),
        ("UPDATE tasks SET task = json_set(task, '$.seed', 'x')", "a task: seed must be an integer, not 'x'"),
        ("UPDATE tasks SET task = json_set(task, '$.seed', -1)", "seed must be 0 to 0xffffffffffffffff, not -1"),
        (
            "UPDATE tasks SET task = json_set(task, '$.dut', 1)",
            "run 1: tasks must be of a device, not of None and None",
        ),
        (
            "UPDATE tasks SET task = json_set(task, '$.dut.top', 1)",
            "a task: dut.top must be a text, not 1",
        ),
        ("UPDATE results SET result = '{}'", "a result: test is missing"),
        (
            "UPDATE results SET result = json_set(result, '$.verdict.layers', 'x')",
            "a result: verdict.layers must be an integer, not 'x'",
        ),
        ("UPDATE results SET ending = 'x'", "results: must be one of passed, golden equal, "),
        (
            "UPDATE tasks SET task = json_set(task, '$.dut.config', 1)",
            "run 1: tasks must be of a device, not of 1 and None",
        ),
        ("UPDATE runs SET started = 'x'", "run 1 must have a title and a time, not ('random', 'x')"),
    ],
)
def test_a_cell_with_another_content_is_refused(change: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        run = store.start("random", [task(1)])
        store.add(run, played(task(1)))
        device = store.device(run)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    with Store(path) as store, pytest.raises(InputError, match=re.escape(message)):
        everything_of(store, device)


def everything_of(store: Store, device: Device) -> tuple[object, ...]:
    run = store.run()
    return store.device(run), store.tasks(run), store.results(run), store.latest(run)
