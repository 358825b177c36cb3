"""An interrupted score goes on where it ended, and only with what it began with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from models.errors import InputError
from tb.judge.finding import Check
from tb.tools.score.journal import Catch, Journal, Played
from tb.tools.score.reach import Reached

CAUGHT = Played(
    2, Catch("sdp.1", 2, (Check.VALUE, Check.MISSING), 312, "dst-base", "wrong value at c=0", ("dst-order",)), 1.5
)
SURVIVED = Played(7, None, 9.25)


def test_what_was_played_is_there_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "score" / "played.jsonl", {"seed": 1}, Played, resume=False)
    journal.add("one", CAUGHT)
    journal.add("two", SURVIVED)
    again = Journal(tmp_path / "score" / "played.jsonl", {"seed": 1}, Played, resume=True)
    assert again.done == {"one": CAUGHT, "two": SURVIVED}


@pytest.mark.parametrize("second", [SURVIVED, CAUGHT])
def test_a_line_that_was_cut_off_anywhere_is_played_again(tmp_path: Path, second: Played) -> None:
    path = tmp_path / "played.jsonl"
    journal = Journal(path, {"seed": 1}, Played, resume=False)
    journal.add("one", CAUGHT)
    begin = path.stat().st_size
    journal.add("two", second)
    whole = path.read_bytes()
    for end in {*range(begin, len(whole), 9), len(whole) - 1}:
        path.write_bytes(whole[:end])
        assert Journal(path, {"seed": 1}, Played, resume=True).done == {"one": CAUGHT}
    again = Journal(path, {"seed": 1}, Played, resume=True)
    assert again.done == {"one": CAUGHT}
    again.add("two", SURVIVED)
    assert Journal(path, {"seed": 1}, Played, resume=True).done == {"one": CAUGHT, "two": SURVIVED}


def test_a_new_run_begins_with_nothing(tmp_path: Path) -> None:
    Journal(tmp_path / "played.jsonl", {"seed": 1}, Played, resume=False).add("one", CAUGHT)
    assert Journal(tmp_path / "played.jsonl", {"seed": 1}, Played, resume=False).done == {}
    assert Journal(tmp_path / "played.jsonl", {"seed": 1}, Played, resume=True).done == {}


def test_results_of_another_seed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "played.jsonl"
    Journal(path, {"seed": 1}, Played, resume=False)
    message = f'--resume must go on with the same model, seed and choice: {path} has {{"seed": 1}}'
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Journal(path, {"seed": 2}, Played, resume=True)


def test_what_scenarios_reach_is_kept_with_the_same_model_alone(tmp_path: Path) -> None:
    path, about = tmp_path / "folder" / "reached.jsonl", {"model": "model-1", "hang_cycles": None}
    assert not Journal.is_about(path, about)
    survey = Journal(path, about, Reached, resume=False)
    survey.add("a.1", Reached("a.1", 0.5, [1, 3]))
    survey.add("b.1", Reached("b.1", 0.5, None, alarm=["hang"]))
    with path.open("a") as file:
        file.write('{"name":"c.1","pla')  # interrupted while it was written
    assert Journal.is_about(path, about)
    assert not Journal.is_about(path, about | {"model": "model-2"})
    again = Journal(path, about, Reached, resume=True)
    assert again.done == survey.done
    again.add("c.1", Reached("c.1", 0.5, [2]))
    assert Journal(path, about, Reached, resume=True).done == again.done, (
        "what follows a line that was cut off is sound"
    )
