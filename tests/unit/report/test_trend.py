"""The trend of a run: only what it plays as well is counted of other runs, and what changed is named."""

from __future__ import annotations

from pathlib import Path

from nvdla_tb.judge.verdict import Ending
from nvdla_tb.markup import Cell, Section
from nvdla_tb.report.trend import sections
from nvdla_tb.run.regress.store import Run

GOOD, BAD, HANGS, MISSING = Ending.PASSED, Ending.MISMATCH, Ending.HANG, Ending.NOT_PLAYED


def run(number: int, root: Path) -> Run:
    return Run(number, "L1", 0.0, root / f"{number:04}")


def shown(section: Section) -> list[list[str]]:
    """Return the texts of a table's cells, without those of times and bars."""
    rows = [[cell.text if isinstance(cell, Cell) else cell for cell in row] for row in section.rows]
    return [[row[0], *row[2:3], row[4]] for row in rows]


def test_only_tests_of_the_run_count_in_other_runs_and_runs_without_one_are_left_out(tmp_path: Path) -> None:
    now = {"a": GOOD, "b": BAD}
    trend = [
        (run(1, tmp_path), {"c": BAD, "d": BAD}),
        (run(2, tmp_path), {"a": BAD, "c": BAD}),
        (run(3, tmp_path), now),
    ]
    (found, *_) = sections(trend, run(3, tmp_path), tmp_path / "0003" / "index.html")
    assert shown(found) == [
        ["3: L1 (this)", "2 of 2", "1 passed, 1 failed (1 mismatch), 0 refused"],
        ["2: L1", "1 of 2", "0 passed, 1 failed (1 mismatch), 0 refused"],
    ]


def test_what_fails_or_passes_newly_is_named_by_the_last_run_that_played_it(tmp_path: Path) -> None:
    trend = [
        (run(1, tmp_path), {"a": GOOD, "b": HANGS, "c": BAD, "d": GOOD}),
        (run(2, tmp_path), {"a": GOOD, "b": MISSING, "c": BAD, "d": GOOD}),
        (run(3, tmp_path), {"a": BAD, "b": GOOD, "c": HANGS, "d": MISSING, "e": GOOD, "f": BAD}),
        (run(4, tmp_path), {"a": GOOD}),
    ]
    _, changes, fresh = sections(trend, run(3, tmp_path), tmp_path / "0003" / "index.html")
    assert list(changes.rows) == [
        ("newly failing", "a", "mismatch", "passed in run 2"),
        ("newly passing", "b", "passed", "hang in run 1"),
    ]
    assert (fresh.title, fresh.lines) == ("Never played before", ["e", "f"])


def test_older_runs_are_linked_where_their_page_is(tmp_path: Path) -> None:
    page = tmp_path / "0001" / "index.html"
    page.parent.mkdir()
    trend = [(run(number, tmp_path), {"a": GOOD}) for number in (1, 2)]
    here = tmp_path / "0002" / "index.html"

    def links() -> list[str]:
        (found, *_) = sections(trend, run(2, tmp_path), here)
        return [row[0].link for row in found.rows if isinstance(row[0], Cell)]

    assert links() == ["", ""]
    page.touch()
    assert links() == ["", "../0001/index.html"]


def test_a_first_run_has_neither_changes_nor_anything_that_was_never_played_before(tmp_path: Path) -> None:
    assert len(sections([(run(1, tmp_path), {"a": BAD})], run(1, tmp_path), tmp_path / "index.html")) == 1
    assert sections((), run(1, tmp_path), tmp_path / "index.html") == []
