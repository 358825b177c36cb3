"""Addresses use all 64 bits: beyond the signed numbers, across their limit, and up to the end of the space."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nvdla_tb.explain import Explanation, explain_run
from nvdla_tb.explain.page import page
from nvdla_tb.explain.seen import Seen
from nvdla_tb.nvdla.layers import SdpLayer, Surface
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.stimulus.scenario import MemLoad
from tests.unit.explain import cases
from tests.unit.explain.faults import run
from tests.unit.nvdla.samples import SMALL

ORIGINS = {
    "beyond the signed numbers": 0xCD7E << 48,
    "across their limit": (1 << 63) - (cases.DST - cases.BASE) - 256,
    "up to the end": (1 << 64) - cases.NBYTES,
}


WIDE = replace(SMALL, memif_address_width_bits=64)


def surface(address: int, line_atoms: int = 0) -> Surface:
    """Return a surface whose lines may have gaps, at the cost of those between surfaces."""
    return Surface(replace(cases.gapped((21, 5, 6), line_atoms, 5 - 5 * line_atoms), config=WIDE), address)


def explained(origin: int, faulty: str) -> Explanation:
    """Explain a copy at an origin, of which something is wrong."""
    memory = replace(cases.memory_for(2), starts=(origin,))
    src, dst = origin + cases.SRC - cases.BASE, origin + cases.DST - cases.BASE
    right = replace(cases.copy_layer(), src=surface(src), dst=surface(dst))
    wrong: dict[str, SdpLayer] = {
        "src-base": replace(right, src=surface(src + 64)),
        "dst-base": replace(right, dst=surface(dst - 4096)),
        "dst-line-stride": replace(right, dst=surface(dst, 1)),
    }
    seen = Seen.of(cases.scored([(cases.predicted(right, memory), cases.beats_of(run(wrong[faulty], memory)))]))
    (explanation,) = explain_run(seen, (MemLoad(Ram.MC, origin, ((0, memory.data.tobytes()),), "all"),))
    return explanation


@pytest.mark.parametrize("faulty", ["src-base", "dst-base", "dst-line-stride"])
@pytest.mark.parametrize("origin", ORIGINS.values(), ids=ORIGINS.keys())
def test_a_failure_is_explained_wherever_it_lies(origin: int, faulty: str) -> None:
    here, there = explained(cases.BASE, faulty), explained(origin, faulty)
    assert there.causes[0].name == faulty
    assert [(cause.name, cause.share) for cause in there.causes] == [(cause.name, cause.share) for cause in here.causes]
    here_page, there_page = (page("moved", [explanation]) for explanation in (here, there))
    assert there_page.count("cycle 1") == here_page.count("cycle 1") > 0
