"""The error that all refusals of plans share."""

from __future__ import annotations

from nvdla_models.errors import InputError


class PlanError(InputError):
    """A plan that cannot be understood; the message names the place, the key and what is allowed."""
