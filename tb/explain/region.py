"""Regions of the convolution core: where the first bad hand-over says that a fault lies, and where a cause may lie."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

from tb.explain.cause import Fit
from tb.explain.cause_units import units_of_fit
from tb.explain.text import Explanation
from tb.explain.units import Unit


class Region(Enum):
    """A part of the way from memory to memory, between hand-overs."""

    OPERANDS = auto()
    PRODUCTS = auto()
    SUMS = auto()
    AFTER = auto()


_OF_UNITS = {
    Unit.CDMA: Region.OPERANDS,
    Unit.CBUF: Region.OPERANDS,
    Unit.CSC: Region.OPERANDS,
    Unit.CMAC: Region.PRODUCTS,
    Unit.CACC: Region.SUMS,
}
"""Units of the core; all others lie after it."""


def narrowed(explanation: Explanation, region: Region) -> Explanation:
    """Return the explanation of a convolution without the causes that lie elsewhere; symptoms stay."""
    started, diagnosis = explanation.evidence.started, explanation.diagnosis
    assert started is not None
    kept = tuple(fit for fit in diagnosis.fits if fit.symptom or region in regions(fit, started.engine))
    return replace(explanation, diagnosis=replace(diagnosis, fits=kept))


def regions(fit: Fit, engine: str) -> frozenset[Region]:
    """Return where a cause may lie in a layer of an engine."""
    return frozenset(_OF_UNITS.get(unit, Region.AFTER) for unit in units_of_fit(fit, engine))
