"""``regress``: what a level plays, and when playing for coverage ends."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from dlhdl_tb.config import embedded_configs
from dlhdl_tb.scenario import DlhdlScenario
from nvdla_models.errors import InputError
from nvdla_tb.cli import regress, regress_play, regress_tasks
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.main import parser
from nvdla_tb.cli.regress_play import Player, deadline
from nvdla_tb.cli.regress_tasks import check_random_alone, random_tasks, seed_lots, tasks_of
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.paths import HDL
from nvdla_tb.report import failures as told_failures
from nvdla_tb.run.regress.held import being_played
from nvdla_tb.run.regress.store import Run, Store
from nvdla_tb.run.regress.worker import NO_WAVES_FILE, Limits
from nvdla_tb.run.task import BENCH, Task
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.trace import write
from tests.unit.report.test_network_page import facts
from tests.unit.run.regress.tasks import ended, explained
from tests.unit.run.regress.tasks import task as made


def options(words: str) -> argparse.Namespace:
    return parser().parse_args(f"regress {words}".split())


def test_the_smoke_level_plays_a_layer_of_each_unit() -> None:
    tasks = tasks_of(options("plan --level L0"))
    assert {task.test.partition("_")[0] for task in tasks} == {"sdp", "pdp", "cdp", "conv"}
    assert {task.seed for task in tasks} == {1}


def test_what_is_for_csb_itself_is_played_on_bare_registers_alone() -> None:
    wrapped = HDL / "wrapped"
    dut = f"--rtl {wrapped / 'apb_axi4.f'} --top nvdla_apb_axi4 --port-map {wrapped / 'apb_axi4.toml'}"
    here, there = ({task.test for task in tasks_of(options(f"plan --level L1 {words}"))} for words in ("", dut))
    assert there < here
    assert {"interfaces.a_request_right_behind_reset_is_lost"} < here - there
    assert {name.partition(".")[0] for name in here - there} == {"interfaces"}


def test_a_level_plays_scenarios_and_tests_in_python_on_one_model() -> None:
    tasks = tasks_of(options("plan --level L1"))
    kinds = {task.kind: task.dut.backend for task in tasks}
    assert kinds == {"plan": "native", BENCH: "native"}
    (one,) = [task for task in tasks if task.test == "stress.a_throttled_csb_only_takes_longer"]
    assert one.source == "nvdla_tb.gate_tests.stress"
    again = "--level L1 --config nv_small --sim verilator --only stress.a_throttled_csb_only_takes_longer"
    assert one.rerun.partition(" --plusarg ")[0].endswith(again)


def test_simulators_of_a_level_begin_with_any_of_four_states() -> None:
    tasks = tasks_of(options("plan --level L1"))
    states = {task.plusargs for task in tasks}
    assert states == {("+verilator+rand+reset+2", f"+verilator+seed+{seed}") for seed in range(1, 5)}
    for task in tasks[::60]:
        again = " ".join(f"--plusarg {plusarg}" for plusarg in task.plusargs)
        assert task.rerun.endswith(again)
        (same,) = tasks_of(options(f"plan --level L1 --only {task.test} {again}"))
        assert same.plusargs == task.plusargs
    for words in ("--plusarg +verilator+rand+reset+0", "--sim icarus"):
        assert {task.plusargs for task in tasks_of(options(f"plan --level L1 {words}"))} < {
            (),
            ("+verilator+rand+reset+0",),
        }


def test_a_higher_level_plays_more_seeds_and_random_scenarios_as_they_come() -> None:
    tasks = tasks_of(options("plan --level L2"))
    assert sum(task.test == "pdp_max_2x2" for task in tasks) == 5
    assert sum(task.kind == "random" for task in tasks) == 2000
    assert len({task.key for task in tasks}) == len(tasks)


def test_plusargs_reach_every_task_its_job_and_the_command_that_repeats_it() -> None:
    words = "--plusarg +bug=x --plusarg +verbose"
    tests = tasks_of(options(f"plan --level L1 {words}"))
    assert {task.kind for task in tests} == {"plan", BENCH}
    for task in [*tests, *tasks_of(options(f"random --seeds 2 {words}"))]:
        assert task.plusargs[:2] == ("+bug=x", "+verbose")
        assert words in task.rerun
    (drawn,) = tasks_of(options(f"random --seeds 1 {words}"))
    assert Task.decode(drawn.encode()).job().plusargs == ("+bug=x", "+verbose")


def test_tests_of_a_level_are_chosen_by_name() -> None:
    assert {task.test for task in tasks_of(options("plan --level L1 --only pdp_split_*"))} == {
        "pdp_split_in_two",
        "pdp_split_in_four_average",
    }
    with pytest.raises(PlanError, match=r"^no test of level L0 matches conv_chain$"):
        tasks_of(options("plan --level L0 --only conv_chain"))
    with pytest.raises(PlanError, match=r"^no test of level L1 matches typo$"):
        tasks_of(options("plan --level L1 --only pdp_split_*,typo"))
    with pytest.raises(PlanError, match=r"^level must be one of L0, L1, L2, L3, not L4$"):
        tasks_of(options("plan --level L4"))


@pytest.mark.parametrize(
    ("words", "rerun"),
    [
        ("random --seeds 1", "--only SDP,PDP,CDP,CONV,RUBIK,BDMA {} --seed 0"),
        ("plan --only pdp_max_2x2", "{} --only pdp_max_2x2 --seed 1"),
        ("traces one", "/one {}"),
    ],
)
def test_a_rerun_compares_as_strictly_as_the_regression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, rerun: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (planned,) = tasks_of(options("plan --only pdp_max_2x2"))
    write(planned.job().make(), tmp_path / "one")
    for exact in ("", " --exact"):
        (task,) = tasks_of(options(words + exact))
        assert task.rerun.endswith(rerun.format("--config nv_small --sim verilator" + exact))
        assert task.job().rerun == task.rerun
        assert task.job().make().settings.exact is bool(exact)


class Steered(Player):
    """A player whose seeds cover as many per cent of the bins as the test says, without cluster and simulator."""

    def __init__(self, args: argparse.Namespace, store: Store, finds: list[int]) -> None:
        self.store = store
        self.run = store.start("random", random_tasks(args, "SDP", range(1)))
        super().__init__(args, store, self.run, deadline(args))
        self.finds, self.looked, self.driven = finds, [], 0

    def _steer(self, client: object, seeds: range, most: int | None, covered: Iterable[str]) -> int:
        self.looked.append(seeds)
        reachable = set(self._model.reachable())
        count = len(reachable) * (self.finds.pop(0) if self.finds else 0) // 100
        left = sorted(reachable - set(covered))[:count]
        (task,) = self.store.extend(self.run, random_tasks(self._args, "SDP", [seeds[0] + 1]))
        self.store.add(self.run, ended(task, Ending.PASSED, coverage=dict.fromkeys(left, 1)))
        return count

    def _drive(self, client: object) -> None:
        self.driven += 1


def steered(root: Path, finds: list[int], more: str = "") -> Steered:
    args = options(f"random --seeds 1 --until-coverage 50 --results {root} {more}")
    with Store(root / "store.sqlite") as store:
        player = Steered(args, store, finds)
        player._go_on(None, args.until_coverage, 10)
    return player


def test_rounds_of_seeds_go_on_until_enough_is_covered(tmp_path: Path) -> None:
    player = steered(tmp_path, [30, 25, 15])
    assert player.looked == [range(10, 410), range(410, 810)]
    assert player.driven == 2


def test_three_rounds_that_find_nothing_end_it(tmp_path: Path) -> None:
    player = steered(tmp_path, [5, 0, 0, 7])
    assert len(player.looked) == 7
    assert player.driven == 2


def test_nothing_is_looked_at_behind_the_time_budget(tmp_path: Path) -> None:
    assert steered(tmp_path, [20], "--time-budget 0").looked == []


def test_any_number_of_seeds_is_played_in_runs_that_memory_can_hold() -> None:
    lots = seed_lots(options("random --seed 5 --seeds 4000000000000"))
    assert [next(lots) for _ in range(2)] == [range(5, 10_005), range(10_005, 20_005)]
    assert list(seed_lots(options("random --seeds 20001")))[-1] == range(20_000, 20_001)
    assert [task.seed for task in tasks_of(options("random --seeds 1000000000"))] == list(range(10_000))
    with pytest.raises(InputError, match=r"^--seeds must be at most 10000 with --until-coverage, not 10001$"):
        next(seed_lots(options("random --seeds 10001 --until-coverage 90")))


def test_runs_of_seeds_follow_each_other_until_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played: list[list[int]] = []

    class Played:
        def __init__(self, _: argparse.Namespace, store: Store, run: Run, until: float | None) -> None:
            played.append([task.seed for task in store.tasks(run)])
            self._run = run

        def play(self, *_: object) -> int:
            assert being_played(self._run) is not None
            return 0

    monkeypatch.setattr(regress_tasks, "RUN_SEEDS", 3)
    monkeypatch.setattr(regress, "Player", Played)
    monkeypatch.setattr(regress, "build_dut", lambda *_, **__: None)
    monkeypatch.setattr(regress, "compiled", lambda *_, **__: None)
    monkeypatch.setattr(regress, "is_over", lambda _: len(played) >= 2)
    words = f"random --seed 10 --seeds 100 --results {tmp_path}"
    assert regress.main(options(words)) == 1
    assert played == [[10, 11, 12], [13, 14, 15], [16, 17, 18]], "those of the last run stand there as not played"
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "seeds 10 to 109"
    assert "the time is over; more seeds that are left: --seed 19 --seeds 91" in said
    regress.main(options(f"random --seed 7 --seeds 1 --results {tmp_path}"))
    assert capsys.readouterr().out.splitlines()[0] == "seed 7"
    regress.main(options(f"random --seed 7 --seeds 1 --quiet --results {tmp_path}"))
    assert "seed" not in capsys.readouterr().out.partition("the time")[0]


def test_the_help_says_that_a_seed_is_the_first_of_several(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        options("random --help")
    said = " ".join(capsys.readouterr().out.split())
    assert "--seed N first of the --seeds: --seed 7 --seeds 3 plays the seeds 7, 8 and 9 (default: 0)" in said


def test_random_scenarios_of_the_second_system_take_turns_on_its_cores() -> None:
    tasks = tasks_of(options("random --config dlhdl --seeds 16"))
    assert Counter(task.dut.config for task in tasks) == {config.name: 2 for config in embedded_configs()}
    assert tasks[3].rerun.endswith(
        "--config dlhdl_single_64 --sim verilator --top dlhdl_core --backend coroutine --seed 3"
    )
    scenario = tasks[3].job().make()
    assert isinstance(scenario, DlhdlScenario)
    assert scenario.config.name == tasks[3].dut.config


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "plan --level L1 --config dlhdl",
            r"^regress must be random for dlhdl, not plan: levels, coverage and traces are",
        ),
        ("traces x --config dlhdl", r"^regress must be random for dlhdl, not traces: "),
        (
            "random --config dlhdl --only SDP",
            r"^--only must be left out for dlhdl, whose random ",
        ),
        ("random --config dlhdl --until-coverage 90", r"^--until-coverage must be left out for dlhdl$"),
        ("random --config dlhdl --code-coverage line", r"^--code-coverage must be left out for dlhdl$"),
        ("random --config dlhdl --exact", r"^--exact must be left out for dlhdl$"),
    ],
)
def test_what_the_second_system_does_not_have_is_refused(words: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_random_alone(options(words))


@pytest.mark.parametrize(("more", "is_played"), [("", True), ("--explain 0", False)])
def test_failures_are_played_again_after_the_counts_and_lose_nothing_that_was_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: str, is_played: bool
) -> None:
    right, wrong_one = made(1), made(2)
    layers = [facts(0, wrong_bytes=8)]
    folder = tmp_path / "left"
    folder.mkdir()
    (folder / NO_WAVES_FILE).touch()
    failure = msgspec.structs.replace(ended(wrong_one, Ending.MISMATCH), folder=str(folder), layers=layers)
    told: list[str] = []

    def look(one: Task, failures: Mapping[str, Result], limits: Limits, until: float) -> Result:
        told.extend(capsys.readouterr().out.splitlines())
        return msgspec.structs.replace(failures[one.key], explained=explained("dst-base"))

    monkeypatch.setattr(regress_play, "look_again", look)
    monkeypatch.setattr(regress_play, "run_tasks", lambda _, tasks, play, until: [[play(one)] for one in tasks])
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("random", [right, wrong_one])
        store.add(run, ended(right, Ending.PASSED), failure)
        player = Player(options(f"random {more} --results {tmp_path}"), store, run, None)
        player._failures = [failure]
        player._look_again(None)
        said = capsys.readouterr().out
        (after,) = [result for result in store.results(run) if result.ending is Ending.MISMATCH]
    verdict = [told_failures.headings([failure]), "1 passed, 1 failed (1 mismatch), 0 refused"]
    assert [*told, *said.splitlines()] == verdict, "the verdict waits for nothing"
    assert bool(told) == is_played
    assert (after.explained is not None, after.layers) == (is_played, layers)


def test_it_says_how_many_failures_are_looked_into_and_what_the_time_was_too_short_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = [made(seed) for seed in range(2)]
    told: list[str] = []

    class Waiting(Console):
        @contextmanager
        def waiting(self, text: str | Callable[[float], str]) -> Iterator[None]:
            assert callable(text)
            told.append(text(1.0))
            yield
            time.sleep(0.02)
            told.append(text(75.2))

    monkeypatch.setattr(regress_play, "Console", Waiting)
    monkeypatch.setattr(regress_play, "look_again", lambda one, failures, **_: failures[one.key])
    monkeypatch.setattr(regress_play, "lacks_waves", lambda result: True)
    monkeypatch.setattr(regress_play, "run_tasks", lambda _, tasks, play, until: [[play(tasks[0])]])
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("random", drawn)
        store.add(run, ended(drawn[0], Ending.MISMATCH), ended(drawn[1], Ending.HANG))
        player = Player(options(f"random --waves --explain 0.01 --results {tmp_path}"), store, run, None)
        player._failures = store.results(run)
        player._look_again(None)
    assert told == [
        "looking inside failures: 0 of 2 kinds, 1 s of at most 0.01 s",
        "looking inside failures: 1 of 2 kinds, 75 s of at most 0.01 s",
    ]
    assert capsys.readouterr().out.splitlines()[-1] == (
        "the time for looking inside failures was over, 1 of 2 kinds not looked into, 1 without complete waves: "
        "--explain SECONDS allows more"
    )
