"""How the registers of a layer came to their values: all written, some left as they were, some written over."""

from __future__ import annotations

from collections.abc import Mapping

from nvdla_tb.nvdla.registers import Register

_Place = tuple[str, int]


class Written:
    """Follows the writes of registers, by unit and group.

    ::

        written = Written()
        written.write(register, group, 7)
        written.begin({"SDP": 0})                # "all"
    """

    def __init__(self) -> None:
        """Start with registers that nobody has written."""
        self._now: dict[_Place, dict[str, set[int]]] = {}
        self._ever: dict[_Place, set[str]] = {}

    def write(self, register: Register, group: int, value: int) -> None:
        """Follow a write of any register.

        Args:
            register: The register.
            group: That its unit's producer pointer selects.
            value: The word.
        """
        if register.is_grouped and register.name != "D_OP_ENABLE":
            values = self._now.setdefault((register.unit, group), {}).setdefault(register.name, set())
            values.add(value)

    def begin(self, groups: Mapping[str, int]) -> str:
        """Return how the registers of a layer that begins were written, by its group of each unit.

        Returns:
            ``twice`` where some were written with more than one value, ``changed`` where some were left as a layer
            before had them, else ``all``.
        """
        found = "all"
        for place in groups.items():
            now = self._now.pop(place, {})
            ever = self._ever.setdefault(place, set())
            if any(len(values) > 1 for values in now.values()):
                found = "twice"
            elif ever - now.keys() and found == "all":
                found = "changed"
            ever.update(now)
        return found
