"""One is singular, none and several are plural."""

from __future__ import annotations

import pytest

from nvdla_tb.counting import counted


@pytest.mark.parametrize(("count", "text"), [(0, "0 tests"), (1, "1 test"), (2, "2 tests"), (11, "11 tests")])
def test_only_one_is_singular(count: int, text: str) -> None:
    assert counted(count, "test") == text


def test_a_plural_of_its_own_is_given() -> None:
    assert [counted(count, "entry", "entries") for count in (1, 2)] == ["1 entry", "2 entries"]
