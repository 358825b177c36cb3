"""Candidates: what is refused is thrown away unplayed, and whatever comes is allowed and new."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_steer import candidates as module
from nvdla_steer.candidates import SEED, Candidates, estimate
from nvdla_steer.corpus import Corpus, Described
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.generate.plan_text import plan_text
from nvdla_tb.stimulus.generate.random import ENGINES, random_entry
from nvdla_tb.stimulus.refusal import refusal

CONFIG = HwConfig.load("nv_small")


def corpus_in(folder: Path, seeds: int = 6) -> Corpus:
    corpus = Corpus(folder, "nv_small", "model", 30)
    for seed in range(seeds):
        levels = np.zeros(30, dtype=np.uint8)
        levels[seed] = 1
        corpus.add(Described.of("drawn", random_entry(CONFIG, seed, ENGINES).data), levels, 1000)
    return corpus


def test_candidates_are_new_and_neither_rules_nor_judge_refuse_them(tmp_path: Path) -> None:
    candidates = Candidates(CONFIG, corpus_in(tmp_path / "c"), seed=1)
    found = [candidates.next() for _ in range(40)]
    assert len({each.described.name for each in found}) == 40
    assert Counter(each.kind for each in found).keys() == {"fresh", "mutated"}
    for each in found:
        scenario = PlanEntry(each.described.name, "", "nv_small", each.described.data).build(CONFIG, SEED)
        assert refusal(scenario.ops, CONFIG) is None
    assert sum(candidates.thrown.values()) > 0


def test_the_same_seed_proposes_the_same_and_another_one_others(tmp_path: Path) -> None:
    def names(folder: str, seed: int) -> list[str]:
        candidates = Candidates(CONFIG, corpus_in(tmp_path / folder), seed)
        return [candidates.next().described.name for _ in range(10)]

    assert names("a", 1) == names("b", 1)
    assert not set(names("c", 1)) & set(names("d", 2))


def test_what_a_rule_refuses_is_thrown_away_and_what_breaks_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = {"layer": [{"engine": "SDP", "shape": [0, 1, 1]}]}
    with pytest.raises(InputError):
        estimate(CONFIG, Described.of("refused", refused))
    allowed = random_entry(CONFIG, 5, ENGINES).data
    several = iter([refused, refused, allowed])
    monkeypatch.setattr(module, "mutated", lambda *_: next(several))
    monkeypatch.setattr(Candidates, "_share", lambda _: 0.0)
    monkeypatch.setattr(module, "_LEAST_BITS", module._MOST_BITS + 20)
    monkeypatch.setattr(module, "_MOST_BITS", module._MOST_BITS + 20)
    candidates = Candidates(CONFIG, corpus_in(tmp_path / "c", seeds=2), seed=1)
    assert candidates.next().described.data == allowed
    assert candidates.thrown == {"mutated": 2}

    def broken(*_: object) -> float:
        raise ValueError("a fault of the bench")

    monkeypatch.setattr(module, "estimate", broken)
    monkeypatch.setattr(module, "mutated", lambda *_: random_entry(CONFIG, 77, ENGINES).data)
    assert candidates.next().described.data == random_entry(CONFIG, 77, ENGINES).data


def test_entries_that_nobody_has_played_come_first(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    one = {"layer": [{"engine": "SDP", "shape": [8, 1, 1]}]}
    (folder / "corpus.toml").write_text(plan_text("nv_small", [("mine", "by hand", one)]), "utf-8")
    candidates = Candidates(CONFIG, Corpus(folder, "nv_small", "model", 30), seed=1)
    first, second = candidates.next(), candidates.next()
    assert (first.described, first.kind) == (Described("mine", "by hand", one), "corpus")
    assert second.kind == "fresh"


def test_without_steering_it_is_what_regress_random_draws(tmp_path: Path) -> None:
    candidates = Candidates(CONFIG, corpus_in(tmp_path / "c"), seed=3, uniform=True)
    found = [candidates.next().described.data for _ in range(4)]
    assert found == [random_entry(CONFIG, seed, ENGINES).data for seed in (3, 4, 5, 6)]


def test_the_kind_that_yields_more_by_cycle_comes_more_often(tmp_path: Path) -> None:
    def mutants(better: str) -> int:
        candidates = Candidates(CONFIG, corpus_in(tmp_path / better), seed=4)
        for kind in ("fresh", "mutated"):
            candidates.note(kind, 1000 if kind == better else 0, 1000)
        return sum(candidates.next().kind == "mutated" for _ in range(25))

    assert mutants("mutated") > mutants("fresh") + 5


def test_longer_latency_stalls_and_work_are_estimated_to_take_longer() -> None:
    def cycles(side: int, **port: object) -> float:
        layer = {"engine": "SDP", "shape": [8, side, side]}
        return estimate(CONFIG, Described.of("", {"layer": [layer], "settings": {"port": port}}))

    assert cycles(4) < cycles(16) < cycles(16, ready_stall=0.9) < cycles(16, ready_stall=0.99)
    assert cycles(16) < cycles(16, latency_cycles=500) < cycles(16, latency_cycles=5000)
    assert cycles(16, latency_cycles=9) < cycles(16, latency_cycles=9, pause_cycles=90, pause_period_cycles=100)
