"""Causes of a convolution that lie elsewhere than its first bad hand-over are not stated; symptoms stay."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from nvdla_models.arithmetic import Site
from nvdla_tb.explain.cause import Fit
from nvdla_tb.explain.cause_units import Region, regions


def fit(*names: str, site: Site | None = None) -> Fit:
    """Return what is asked of a fit: the names of its causes, and where its arithmetic differs."""
    run = SimpleNamespace(rules=SimpleNamespace(site=site))
    causes = [SimpleNamespace(name=name) for name in names]
    return cast(Fit, SimpleNamespace(causes=causes, variants=[SimpleNamespace(run=run)]))


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (fit("conv-truncate"), {Region.SUMS}),
        (fit("conv-padding"), {Region.OPERANDS}),
        (fit("conv-kernel-base"), {Region.OPERANDS}),
        (fit("conv-kernel-order"), {Region.OPERANDS, Region.PRODUCTS, Region.SUMS}),
        (fit("bus-lanes"), {Region.AFTER}),
        (fit("conv-padding", "dst-line-stride"), {Region.OPERANDS, Region.AFTER}),
        (fit("rounding", site=Site.CACC), {Region.SUMS}),
        (fit("saturation", site=Site.PDP_WIDTH), {Region.AFTER}),
        (fit("constant"), set(Region) - {Region.READ}),
    ],
)
def test_a_cause_lies_where_its_unit_works(one: Fit, found: set[Region]) -> None:
    assert regions(one, "CONV") == found


def test_what_is_read_wrong_is_told_from_what_is_computed_wrong() -> None:
    assert regions(fit("src-line-stride"), "PDP") == {Region.READ}
    assert regions(fit("pool-method"), "PDP") == {Region.AFTER}
    assert regions(fit("src-byte-order"), "CDP") == {Region.READ, Region.AFTER}
