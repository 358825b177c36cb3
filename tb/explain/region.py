"""Regions of the convolution core: where the first bad hand-over says that a fault lies, and where a cause may lie."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

from models.arithmetic import Site
from tb.explain.cause import Fit
from tb.explain.text import Explanation


class Region(Enum):
    """A part of the way from memory to memory, between hand-overs."""

    OPERANDS = auto()
    PRODUCTS = auto()
    SUMS = auto()
    AFTER = auto()


_CORE = frozenset({Region.OPERANDS, Region.PRODUCTS, Region.SUMS})
_OF_CAUSES = (
    (("conv-truncate", "conv-accumulator"), frozenset({Region.SUMS})),
    (("conv-kernel-base", "conv-kernel-extension"), frozenset({Region.OPERANDS})),
    (("conv-kernel", "conv-lane", "conv-sign", "conv-nan", "conv-winograd"), _CORE),
    (("conv-", "src-", "read-order", "stale-buffer"), frozenset({Region.OPERANDS})),
    (("stage-", "y-", "converter-", "prelu", "operand-", "pool-"), frozenset({Region.AFTER})),
    (("dst-", "bus-lanes", "strobe", "misplaced", "overwritten", "write-order", "lost-"), frozenset({Region.AFTER})),
)
"""By the beginning of a cause's name, where it may lie; any other may lie anywhere."""

_OF_SITES = {Site.CDMA: Region.OPERANDS, Site.WINOGRAD: Region.OPERANDS, Site.CACC: Region.SUMS}
"""Sites of arithmetic in the core; all others lie after it."""


def narrowed(explanation: Explanation, region: Region) -> Explanation:
    """Return the explanation of a convolution without the causes that lie elsewhere; symptoms stay."""
    diagnosis = explanation.diagnosis
    kept = tuple(fit for fit in diagnosis.fits if fit.symptom or region in regions(fit))
    return replace(explanation, diagnosis=replace(diagnosis, fits=kept))


def regions(fit: Fit) -> frozenset[Region]:
    """Return where a cause may lie; each half of a pair may be the one that is seen first."""
    site = fit.variants[0].run.rules.site
    if site is not None:
        return frozenset({_OF_SITES.get(site, Region.AFTER)})
    return frozenset().union(*(_of_name(cause.name) for cause in fit.causes))


def _of_name(name: str) -> frozenset[Region]:
    return next((regions for beginnings, regions in _OF_CAUSES if name.startswith(beginnings)), frozenset(Region))
