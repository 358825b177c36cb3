"""Operand bugs: which bytes change, and what the device reads then."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_score.catalogue import Place, load_catalogue
from nvdla_score.operands import OPERAND_BUGS, alterations, layers_of
from nvdla_score.scenarios import of_unit, sources
from nvdla_tb.nvdla.layers import Surface
from nvdla_tb.nvdla.program.ops import MemLoad
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.scenario import Scenario

SMALL = HwConfig.load("nv_small")
PLAN = {entry.name: entry for entry in load_plan(PLANS / "nv_small.toml")}


def loaded(scenario: Scenario, address: int, nbytes: int) -> np.ndarray:
    """Return what a scenario loads, 0 elsewhere."""
    data = np.zeros(nbytes, dtype=np.uint8)
    for op in scenario.ops:
        if isinstance(op, MemLoad):
            for offset, chunk in op.chunks:
                for n, byte in enumerate(chunk):
                    if 0 <= op.address + offset + n - address < nbytes:
                        data[op.address + offset + n - address] = byte
    return data


def altered_source(bug: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the source cube of a scenario's first layer, padding included: as it is, and as the device finds it."""
    scenario = PLAN[name].build(SMALL, 5)
    surface = layers_of(scenario.ops, SMALL)[0].src
    assert isinstance(surface, Surface)
    raw = loaded(scenario, surface.address, surface.layout.nbytes)
    found = raw.copy()
    for change in alterations(bug, scenario, SMALL):
        first = change.address - surface.address
        if 0 <= first < len(found):
            found[first : first + len(change.data)] = change.data
    return surface.layout.unpack(raw), surface.layout.unpack(found)


def test_lines_atoms_and_signs_are_what_the_bug_says() -> None:
    right, wrong = altered_source("source_lines_reversed", "sdp_pass_through_half_atom")
    np.testing.assert_array_equal(wrong, right[:, ::-1])
    right, wrong = altered_source("source_atom_late", "sdp_pass_through_full_atom")
    flat, moved = (cube.reshape(len(cube), -1) for cube in (right, wrong))
    np.testing.assert_array_equal(moved[:, :-1], flat[:, 1:], "every atom is that behind it")
    right, wrong = altered_source("source_offset_binary", "sdp_pass_through_full_atom")
    np.testing.assert_array_equal(wrong.view(np.uint8), right.view(np.uint8) ^ 0x80)


def test_only_bytes_that_a_scenario_loads_are_changed() -> None:
    for bug in OPERAND_BUGS:
        scenario = PLAN["sdp_unpacked_lines_and_surfaces"].build(SMALL, 2)
        chunks = [
            (op.address + offset, len(chunk))
            for op in scenario.ops
            if isinstance(op, MemLoad)
            for offset, chunk in op.chunks
        ]
        for change in alterations(bug, scenario, SMALL):
            inside = any(s <= change.address and change.address + len(change.data) <= s + n for s, n in chunks)
            assert inside, bug


def test_every_operand_bug_changes_a_scenario_of_its_unit() -> None:
    catalogue = load_catalogue()
    found = sources()
    for bug in catalogue.bugs:
        if bug.place is Place.OPERAND:
            scenarios = (source.build(SMALL, 1) for source in of_unit(found, catalogue.units[bug.unit]))
            assert any(alterations(bug.name, scenario, SMALL) for scenario in scenarios), bug.name


def test_an_unknown_operand_bug_is_refused() -> None:
    scenario = PLAN["sdp_pass_through_full_atom"].build(SMALL, 1)
    with pytest.raises(InputError, match=r"^operand bug must be one of source_line_stride, .*, not other$"):
        alterations("other", scenario, SMALL)
