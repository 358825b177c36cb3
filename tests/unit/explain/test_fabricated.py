"""Memory as real faults leave it, made without the explainer: literal loops, other layers, altered operands."""

from __future__ import annotations

import pytest

from nvdla_tb.explain import diagnose
from tests.unit.explain import cases
from tests.unit.explain.conv_faults import convolutions
from tests.unit.explain.engine_faults import other_engines
from tests.unit.explain.joint_faults import joint, movements
from tests.unit.explain.layout_faults import walks
from tests.unit.explain.sdp_faults import sdp
from tests.unit.explain.value_faults import control, numbers

pytestmark = pytest.mark.slow

FAULTS = {
    fault.title: fault
    for faults in (walks, sdp, other_engines, convolutions, joint, movements, numbers, control)
    for fault in faults()
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_made_without_the_explainer_is_named_first(name: str) -> None:
    fault = FAULTS[name]
    evidence = cases.evidence_of(fault.layer, fault.memory, lambda _: fault.left, twice=fault.twice)
    assert evidence.rerun is not None
    diagnosis = diagnose(evidence)
    assert diagnosis.first is not None, diagnosis.fits
    assert diagnosis.first.name in (fault.name, *fault.or_else)
    assert diagnosis.first.share == 1.0
