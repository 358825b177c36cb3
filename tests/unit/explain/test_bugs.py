"""A bug of the explainer keeps its traceback: it must not look like a cause that does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_tb.explain import diagnose, evidence
from nvdla_tb.explain.cause import Cause, Way
from nvdla_tb.explain.engines import Run
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.walk import Cube, in_atoms
from tests.unit.explain import cases

MEMORY = cases.memory_for(1)
BROADCAST = r"^operands could not be broadcast together"


def broken(cube: Cube) -> Cube:
    return cube + np.zeros((7, 1, 1), cube.dtype)


def wrong_evidence() -> Evidence:
    """Return the evidence of a layer whose bytes are all one too large."""
    return cases.evidence_of(cases.copy_layer(), MEMORY, lambda patch: replace(patch, data=patch.data + np.uint8(1)))


def ways(found: Evidence, run: Run) -> Iterator[Way]:
    yield Way("broken", partial(replace, run, values=(broken,)))


def test_a_bug_in_a_cause_is_no_cause_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match=BROADCAST):
        diagnose(wrong_evidence(), (Cause("broken", "broken", ways),))


def test_a_bug_in_what_makes_a_run_is_no_variant_that_cannot_be() -> None:
    evidence = wrong_evidence()
    cause = Cause("broken", "broken", lambda _, __: [Way("x", lambda: np.zeros(2) + np.zeros(3))])  # type: ignore[arg-type, return-value]
    with pytest.raises(ValueError, match=BROADCAST):
        list(cause.on(evidence, evidence.run))


def test_a_way_in_which_no_engine_can_run_leaves_the_later_ones() -> None:
    def refused() -> Run:
        raise InputError("no engine can run so")

    evidence = wrong_evidence()
    later = partial(replace, evidence.run, values=(broken,))
    cause = Cause("refused", "refused", lambda _, __: [Way("first", refused), Way("second", later)])
    assert [variant.detail for variant in cause.on(evidence, evidence.run)] == ["second"]


def test_a_bug_in_an_engine_is_no_layer_that_cannot_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "run_of", lambda _: np.zeros(2) + np.zeros(3))
    with pytest.raises(ValueError, match=BROADCAST):
        _ = cases.evidence_of(cases.copy_layer(), MEMORY).rerun


def test_channels_that_are_no_whole_atoms_are_refused() -> None:
    assert in_atoms(np.zeros((16, 2, 3)), 8).shape == (2, 8, 2, 3)
    with pytest.raises(InputError, match=r"^channels must be a multiple of 32, not 24$"):
        in_atoms(np.zeros((24, 2, 3)), 32)
