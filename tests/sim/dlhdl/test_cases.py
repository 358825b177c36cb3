"""What the stand-in computes is what the specification says; each case's docstring tells how its result was found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sim.conftest import needs_icarus
from tests.sim.dlhdl import convolutions, handshakes, layers, singles
from tests.sim.dlhdl.play import Case, complaints

CASES = {**convolutions.CASES, **layers.CASES, **singles.CASES, **handshakes.CASES}


@needs_icarus
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_case_is_as_worked_out(case: Callable[[], Case], tmp_path: Path) -> None:
    assert complaints(case(), tmp_path) == []
