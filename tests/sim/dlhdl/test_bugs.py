"""Every seeded bug is listed, and spoils the case that its row of the table names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nvdla_score.catalogue import DLHDL_BUGS_FILE, Bug, load_catalogue
from nvdla_tb.paths import HDL
from tests.sim.conftest import needs_icarus
from tests.sim.dlhdl.play import complaints
from tests.sim.dlhdl.test_cases import CASES

FOLDER = HDL / "dlhdl"
BUGS = load_catalogue(DLHDL_BUGS_FILE).bugs


def test_table_list_and_hooks_name_the_same_bugs() -> None:
    listed = re.findall(r'name\("(\w+)"\)', (FOLDER / "dlhdl_bug_names.v").read_text(encoding="utf-8"))
    sources = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.v*") if path.name != "dlhdl_bugs.vh"]
    hooks = {name for text in sources for name in re.findall(r"`DLHDL_BUG\((\w+)\)", text)}
    assert listed == sorted(hooks)
    assert sorted(bug.name for bug in BUGS) == listed


@needs_icarus
@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_a_seeded_bug_spoils_its_case(bug: Bug, tmp_path: Path) -> None:
    assert complaints(CASES[bug.case](), tmp_path, bug.name) != []


@needs_icarus
def test_an_unknown_bug_ends_the_simulation_with_the_list_of_all(tmp_path: Path) -> None:
    found = complaints(CASES["channels"](), tmp_path, "none_of_them")
    assert "bug must be one of those below, not none_of_them" in found
    assert "  wlast_early" in found
