"""``--only`` takes several patterns, in one option or in several."""

from __future__ import annotations

import pytest

from nvdla_tb.cli.main import parser
from tests.unit.conftest import Run


@pytest.mark.parametrize(
    ("words", "patterns"),
    [
        ("--only a", ["a"]),
        ("--only a,b*", ["a", "b*"]),
        ("--only a,b --only c", ["a", "b", "c"]),
        ("--only x[a,b]?", ["x[a,b]?"]),
        ("", None),
    ],
)
def test_patterns_are_listed_or_repeated(words: str, patterns: list[str] | None) -> None:
    assert parser().parse_args(["run", *words.split()]).only == patterns
    assert parser().parse_args(["regress", "plan", *words.split()]).only == patterns


def test_all_that_one_of_them_matches_is_chosen_in_the_order_of_the_plan(tb: Run) -> None:
    listed = tb("run --list --only pdp_max_2x?,sdp_x1_bias_per_channel --only sdp_back*both*").out
    assert [line.split()[0] for line in listed.splitlines()] == [
        "sdp_x1_bias_per_channel",
        "pdp_max_2x2",
        "sdp_back_to_back_in_both_groups",
    ]


def test_a_pattern_that_matches_nothing_is_refused_although_others_match(tb: Run) -> None:
    refusal = tb("run --list --only sdp_back*,pdp_max_2x").refusal
    assert refusal.startswith("no scenario of ")
    assert " matches pdp_max_2x; closest: pdp_max_2x2" in refusal
