"""Failures of each kind are played again, the shortest first, until one of the kind says where inside it arises."""

from __future__ import annotations

from itertools import pairwise

from msgspec.structs import replace

from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run.looks import Looks
from nvdla_tb.stimulus.result import Result
from tests.unit.run.regress.tasks import DUT, explained, hang, task, wrong


def failed(seed: int, cycles: int, cause: str | None = None, *, hangs: bool = False, engine: str = "CONV") -> Result:
    """Return a failure that took so many cycles, of a cause or of an unknown one."""
    why = explained() if cause is None else explained(cause, headline=cause)
    findings = [replace(wrong(), layer=LayerId(0, engine, 0)), *([hang("SDP_0")] if hangs else [])]
    return Result("random", seed, DUT, "rerun", Verdict(findings=findings, cycles=cycles), explained=why)


def located(result: Result, cause: str | None = None) -> Result:
    """Return a failure of which hand-overs inside were compared from the first to the wrong one."""
    why = explained() if cause is None else explained(cause, headline=cause)
    return replace(result, explained=replace(why, interface=["a line"], located=True))


def seeds(looks: Looks, again: dict[int, Result]) -> list[list[int]]:
    """Play all rounds, where some failures become others, and return the seeds of each."""
    found = []
    for chosen in looks.rounds():
        found.append([result.seed for result in chosen])
        for result in chosen:
            looks.add(again.get(result.seed, result))
    return found


def test_each_round_has_the_shortest_that_is_left_of_each_kind() -> None:
    passed = task(5).result(Verdict(judged_bytes=8, cycles=1))
    results = [failed(1, 900), failed(2, 100), failed(3, 500, hangs=True), failed(4, 50), passed]
    assert seeds(Looks(results), {}) == [[4, 3], [2], [1]]
    assert seeds(Looks([passed]), {}) == []
    assert seeds(Looks([failed(1, 600_001)]), {}) == [], "watching takes too long"


def test_a_kind_is_done_when_one_says_where() -> None:
    results = [failed(1, 100), failed(2, 200), failed(3, 10, engine="SDP-PDP", hangs=True), failed(4, 300)]
    looks = Looks(results)
    assert (looks.kinds, looks.seen) == (2, 0)
    assert seeds(looks, {2: located(results[1])}) == [[3, 1], [2]]
    assert (looks.kinds, looks.seen) == (2, 2)


def test_of_what_says_nothing_no_more_than_eight_are_tried() -> None:
    found = seeds(Looks([failed(seed, seed) for seed in range(1, 40)]), {})
    assert found == [[seed] for seed in range(1, 9)]


def test_more_are_tried_when_the_cause_that_was_stated_lies_elsewhere() -> None:
    results = [failed(seed, seed, "bus-lanes") for seed in range(1, 40)]
    assert seeds(Looks(results), {1: located(results[0], "bus-lanes")}) == [[1]]
    found = seeds(Looks(results), {result.seed: located(result, "dst-base") for result in results})
    assert found == [[seed] for seed in range(1, 25)]
    assert all(after == [before + 1] for (before,), after in pairwise(found))


def test_the_shortest_of_a_kind_is_played_for_its_waves() -> None:
    bare = [replace(failed(seed, seed), explained=None) for seed in (1, 2)]
    assert seeds(Looks(bare), {}) == [], "nobody has explained them"
    assert seeds(Looks(bare, lambda result: True), {}) == [[1]]
    assert seeds(Looks(bare, lambda result: result.seed == 2), {}) == []


def test_one_that_does_not_come_back_is_not_played_twice() -> None:
    looks = Looks([failed(1, 1), failed(2, 2)])
    assert [[result.seed for result in chosen] for chosen in looks.rounds()] == [[1], [2]]
    assert looks.seen == 0
