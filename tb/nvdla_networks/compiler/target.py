"""What a network is compiled for: a configuration, and the type of all elements."""

from __future__ import annotations

from dataclasses import dataclass

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
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
