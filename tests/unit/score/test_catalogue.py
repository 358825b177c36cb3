"""The catalogue of seeded bugs, against the hooks in the device and the causes of the explainer."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from dlhdl_tb.config import embedded_configs
from dlhdl_tb.explain.causes import CAUSES as DLHDL_CAUSES
from nvdla_score.catalogue import DLHDL_BUGS_FILE, BugKind, CatalogueError, Place, load_catalogue
from nvdla_score.operands import OPERAND_BUGS
from nvdla_score.scenarios import dlhdl_sources, of_unit, sources
from nvdla_tb.explain.causes import CAUSES
from tests.repository import ROOT

STUBS = ROOT / "hdl_stubs"
CATALOGUE = load_catalogue()


def names(place: Place) -> set[str]:
    return {bug.name for bug in CATALOGUE.bugs if bug.place is place}


def test_the_catalogue_has_every_hook_of_the_device_and_every_operand_bug_and_no_others() -> None:
    hooks = {name for path in STUBS.rglob("*.v") for name in re.findall(r"`NVDLA_BUG\((\w+)\)", path.read_text())}
    assert hooks == names(Place.RTL)
    assert set(OPERAND_BUGS) == names(Place.OPERAND)


def test_the_device_lists_the_same_names_as_it_refuses_others() -> None:
    listed = re.findall(r'name\("(\w+)"\)', (STUBS / "bugs" / "nvdla_bug_names.v").read_text())
    assert listed == sorted(names(Place.RTL))


def test_the_bugs_are_spread_over_all_kinds() -> None:
    counts = Counter(bug.kind for bug in CATALOGUE.bugs)
    least = {"layout": 30, "arithmetic": 25, "control": 10, "protocol": 8, "interrupt": 4}
    assert all(counts[BugKind(kind)] >= number for kind, number in least.items()), counts
    assert len(CATALOGUE.bugs) >= 80


def test_every_expected_cause_is_one_that_the_explainer_knows() -> None:
    named = {part for bug in CATALOGUE.bugs for cause in bug.causes for part in cause.split("+")}
    assert named <= {cause.name for cause in CAUSES}


def test_every_unit_has_scenarios() -> None:
    assert {bug.unit for bug in CATALOGUE.bugs} == set(CATALOGUE.units)
    for config, unit in {(bug.config, bug.unit) for bug in CATALOGUE.bugs}:
        assert of_unit(sources(config), CATALOGUE.units[unit]), (config, unit)


def test_a_pattern_that_no_scenario_matches_is_refused() -> None:
    found = sources()
    with pytest.raises(CatalogueError, match=r"^pattern nothing_\* must match a scenario; there are sdp_pass_through_"):
        of_unit(found, ["nothing_*"])


BUG = """
[units]
SDP = ["sdp_*"]
[bugs.layout.SDP]
one = { about = "lines", causes = ["dst-line-stride"] }
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "bugs.layout",
            "bugs.timing",
            "{path}: a key of bugs must be one of layout, arithmetic, control, protocol, "
            "interrupt, handshake, stale, not timing",
        ),
        ("bugs.layout.SDP", "bugs.layout.EDP", "unit of bugs must be one of SDP, not EDP"),
        ('about = "lines", ', "", "{path}: bug one: about is missing"),
        (
            "about =",
            "when = 1, about =",
            "{path}: bug one: when is unknown; "
            "allowed: name, kind, unit, about, config, where, causes, equivalent, case",
        ),
        (', causes = ["dst-line-stride"]', "", "bug one lacks causes, which a bug of kind layout must have"),
        ("about =", 'where = "bus", about =', "{path}: bug one: where must be one of rtl, operand, not bus"),
        ("[bugs", '[bugs.control.SDP]\none = { about = "lines" }\n[bugs', "bug one must be listed once"),
    ],
)
def test_what_is_wrong_with_a_catalogue_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "bugs.toml"
    path.write_text(BUG.replace(old, new))
    with pytest.raises(CatalogueError, match=f"^{re.escape(message.format(path=path))}$"):
        load_catalogue(path)


SECOND = load_catalogue(DLHDL_BUGS_FILE)


def test_the_second_system_has_a_cause_for_each_bug_of_layout_and_arithmetic() -> None:
    known = {cause.name for cause in DLHDL_CAUSES}
    assert {cause for bug in SECOND.bugs for cause in bug.causes} <= known
    assert len(SECOND.bugs) >= 50
    assert {bug.config for bug in SECOND.bugs} <= {config.name for config in embedded_configs()}


def test_units_of_the_second_system_have_scenarios() -> None:
    found = dlhdl_sources()
    assert {bug.unit for bug in SECOND.bugs} == set(SECOND.units)
    for patterns in SECOND.units.values():
        assert of_unit(found, patterns)
