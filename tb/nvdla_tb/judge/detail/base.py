"""What every detail of a finding is."""

from __future__ import annotations

import msgspec


class Detail(msgspec.Struct, frozen=True, tag=True):
    """The subject of a finding; each kind of detail is a subclass."""
