"""Plans that are written: what is read of them is what was written."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from nvdla_tb.stimulus.generate.plan_text import plan_text


@pytest.mark.parametrize(
    "value",
    [
        True, False, 0, -(1 << 40), 0.25, 1e-05, -3.0, "", 'a "quoted" \\ text\n\t\x7f\u00e9', [], [1, [2.5, "x"]],
        {"MCIF.CFG_OUTSTANDING_CNT": 257, "plain-key_1": {"deeper": [{"a": 1}, {"b": False}]}},
    ],
)  # fmt: skip
def test_a_value_is_read_as_it_was_written(value: Any) -> None:
    data = {"key": value, "layer": [{"engine": "SDP", "of.layer": value}]}
    text = plan_text("nv_small", [("one", "first", data), ("two", "second", {"base": 8})], "a comment")
    assert tomllib.loads(text) == {
        "config": "nv_small",
        "scenario": [{"name": "one", "about": "first", **data}, {"name": "two", "about": "second", "base": 8}],
    }


def test_true_is_not_written_as_a_number() -> None:
    assert tomllib.loads(plan_text("c", [("n", "a", {"flag": True})]))["scenario"][0]["flag"] is True


def test_what_no_plan_holds_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"^a plan holds tables, lists, texts and numbers, not NoneType$"):
        plan_text("nv_small", [("one", "first", {"key": None})])
