"""The corpus: what it keeps, chooses and leaves out, and that its folder holds all of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_steer.corpus import LEAST_PLAN, PLAN, Corpus, Described, Gain
from nvdla_steer.points import Levels
from nvdla_tb.stimulus.generate.plan import load_plan

POINTS = 40


def corpus_in(folder: Path, model: str = "model", config: str = "nv_small") -> Corpus:
    return Corpus(folder, config, model, POINTS)


def described(size: int) -> Described:
    return Described.of(f"size {size}", {"layer": [{"engine": "SDP", "shape": [size, 1, 1]}]})


def reaching(*points: int, level: int = 1) -> Levels:
    found = np.zeros(POINTS, dtype=np.uint8)
    found[list(points)] = level
    return found


def test_a_scenario_is_kept_for_a_point_a_level_or_many_fewer_cycles(tmp_path: Path) -> None:
    corpus = corpus_in(tmp_path / "c")
    assert corpus.add(described(1), reaching(1, 2), 4000) == Gain(2, kept=True)
    assert corpus.add(described(2), reaching(1, 2), 4000) == Gain(0, kept=False)
    assert corpus.add(described(3), reaching(1, level=2), 4000) == Gain(0, kept=True)
    assert corpus.add(described(4), reaching(2), 2000) == Gain(0, kept=False)
    assert corpus.add(described(5), reaching(2), 1000) == Gain(0, kept=True)
    assert [entry.described for entry in corpus.entries.values()] == [described(n) for n in (1, 3, 5)]


def test_rare_points_and_few_cycles_are_chosen_first_and_what_was_chosen_later(tmp_path: Path) -> None:
    corpus = corpus_in(tmp_path / "c")
    corpus.add(described(1), reaching(1), 100_000)
    corpus.add(described(2), reaching(2), 100)
    corpus.add(described(3), reaching(*range(3, 30)), 100)
    for _ in range(40):
        corpus.add(described(2), reaching(2), 100)
    rng = np.random.default_rng(1)
    first = Counter(corpus.choose(rng).described.about for _ in range(8))
    assert first.most_common(1)[0][0] == "size 3"
    later = Counter(corpus.choose(rng).described.about for _ in range(3000))
    assert set(later) == {"size 1", "size 2", "size 3"}


def test_the_least_reach_the_same_points_in_fewer_cycles(tmp_path: Path) -> None:
    corpus = corpus_in(tmp_path / "c")
    corpus.add(described(1), reaching(*range(20)), 500_000)
    corpus.add(described(2), reaching(*range(11)), 1000)
    corpus.add(described(3), reaching(*range(10, 20)), 1000)
    corpus.add(described(4), reaching(20), 1000)
    least = corpus.least()
    assert [entry.described for entry in least] == [described(n) for n in (2, 3, 4)]
    reached = np.zeros(POINTS, dtype=bool)
    for entry in least:
        reached |= np.unpackbits(entry.reached, count=POINTS).astype(bool)
    assert (reached == corpus.reached).all()


def test_a_corpus_is_a_plan_and_what_it_has_reached_lasts(tmp_path: Path) -> None:
    corpus = corpus_in(tmp_path / "c")
    corpus.add(described(1), reaching(1, 2), 300)
    corpus.add(described(2), reaching(1, 3, level=4), 900)
    corpus.save()
    assert [(entry.name, entry.data) for entry in load_plan(tmp_path / "c" / PLAN)] == [
        (described(n).name, described(n).data) for n in (1, 2)
    ]
    assert {entry.name for entry in load_plan(tmp_path / "c" / LEAST_PLAN)} == {described(n).name for n in (1, 2)}
    again = corpus_in(tmp_path / "c")
    assert again.unmeasured == []
    assert [(e.described, e.cycles) for e in again.entries.values()] == [(described(1), 300), (described(2), 900)]
    assert (again.reached == corpus.reached).all()
    assert again.add(described(3), reaching(1, 3, level=4), 900) == Gain(0, kept=False)
    assert again.add(described(3), reaching(5), 900) == Gain(1, kept=True)


def test_what_was_edited_or_never_played_on_this_model_is_unmeasured_and_stays(tmp_path: Path) -> None:
    corpus = corpus_in(tmp_path / "c")
    corpus.add(described(1), reaching(1), 300)
    corpus.add(described(2), reaching(2), 300)
    corpus.save()
    path = tmp_path / "c" / PLAN
    path.write_text(path.read_text("utf-8").replace("shape = [2, 1, 1]", "shape = [9, 1, 1]"), "utf-8")
    edited = Described(described(2).name, "size 2", {"layer": [{"engine": "SDP", "shape": [9, 1, 1]}]})
    again = corpus_in(tmp_path / "c")
    assert (list(again.entries), again.unmeasured) == ([described(1).name], [edited])
    again.add(described(4), reaching(7), 10)
    again.save()
    assert edited.name in {entry.name for entry in load_plan(path)}
    other = corpus_in(tmp_path / "c", model="another")
    assert (len(other.unmeasured), other.entries, other.reached.any()) == (3, {}, False)


def test_what_was_in_the_plan_stays_once_it_is_measured_and_is_there_once(tmp_path: Path) -> None:
    corpus = corpus_in(tmp_path / "c")
    corpus.add(described(1), reaching(1), 300)
    corpus.add(described(2), reaching(2), 300)
    corpus.save()
    other = corpus_in(tmp_path / "c", model="another")
    for number in (2, 1):
        assert other.add(described(number), reaching(3), 300).kept
    assert other.unmeasured == []
    other.save()
    again = corpus_in(tmp_path / "c", model="another")
    assert list(again.entries) == [described(2).name, described(1).name]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"nothing"])
def test_damaged_points_are_measured_again(tmp_path: Path, content: bytes) -> None:
    corpus = corpus_in(tmp_path / "c")
    corpus.add(described(1), reaching(1), 300)
    corpus.save()
    (file,) = (tmp_path / "c" / "points" / "model").glob("*.npz")
    file.write_bytes(content)
    assert corpus_in(tmp_path / "c").unmeasured == [described(1)]


def test_a_corpus_of_another_configuration_is_refused(tmp_path: Path) -> None:
    corpus = corpus_in(tmp_path / "c")
    corpus.add(described(1), reaching(1), 300)
    corpus.save()
    with pytest.raises(InputError) as error:
        corpus_in(tmp_path / "c", config="nv_full")
    assert str(error.value) == f"{tmp_path / 'c' / PLAN} must be of the configuration nv_full, not nv_small"
