"""What a network is compiled for: a configuration, and the type of all elements."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_networks.compiler.graph import Clip, Interval
from nvdla_networks.errors import NetworkError


@dataclass(frozen=True)
class Target:
    """A configuration and the precision that it computes in.

    Raises:
        NetworkError: for a precision that the configuration does not have.
    """

    config: HwConfig
    precision: Precision

    def __post_init__(self) -> None:
        for kind in ("feature", "weight"):
            types = getattr(self.config, f"{kind}_data_types")
            if self.precision not in types:
                known = ", ".join(known.name for known in types)
                raise NetworkError(f"precision must be {known} for {self.config.name}, not {self.precision.name}")

    @property
    def lanes(self) -> int:
        """Channels of an atom."""
        return self.config.atom_elements(self.precision)

    @property
    def most(self) -> int:
        """The largest integer of a value; the smallest is left out, so that both signs reach as far."""
        return self.precision.limits[1]

    @property
    def is_float(self) -> bool:
        """Whether elements are real numbers, without scales."""
        return self.precision is Precision.FP16

    @property
    def no_tables(self) -> str | None:
        """Why SDP computes no function by tables; None where it does."""
        if not self.config.sdp_lut_enable:
            return f"SDP of {self.config.name} has no lookup tables"
        return "lookup tables of FP16 are not made" if self.is_float else None

    def scale_of(self, interval: Interval) -> float:
        """Return the scale by which the integers just hold real numbers between two bounds, one on either side of 0."""
        least, most = interval
        return max(most / self.most, -least / (self.most + 1))

    def bounds_of(self, clip: Clip, scale: float | None, zero: int = 0) -> tuple[float | None, float | None]:
        """Return the least and the most that a bound must be computed for.

        Args:
            clip: The bounds.
            scale: That of the result: what rounds to its outermost integers or lies beyond is saturated anyway.
                None where the scale is not known yet, or for FP16.
            zero: The integer of the result that stands for 0.

        Returns:
            None where there is no bound, where it is 0 from below, a ReLU, and where saturation is enough.
        """
        reach = (-math.inf, math.inf)
        if scale is not None and not self.is_float:
            reach = ((-self.most - 0.5 - zero) * scale, (self.most - 0.5 - zero) * scale)
        least = None if clip.least == 0 or clip.least <= reach[0] else clip.least
        return least, None if clip.most >= reach[1] else clip.most
