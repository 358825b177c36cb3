"""Refusals of reading and playing networks."""

from __future__ import annotations

from nvdla_models.errors import InputError


class NetworkError(InputError):
    """A network, image or result that cannot be read or played; the message names the part, the rule and the value."""
