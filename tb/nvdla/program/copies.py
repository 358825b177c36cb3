"""Copies that wait in BDMA's slots for the launch of their group.

BDMA has no register groups and no OP_ENABLE: CFG_OP puts a copy of the CFG registers into a slot, and
CFG_LAUNCH0 or 1 makes all that wait there a group, which runs as one hardware layer.
"""

from __future__ import annotations

from tb.nvdla.layers import BdmaLayer
from tb.nvdla.program.table import Refused

SLOTS = 20
LAUNCHES = ("CFG_LAUNCH0", "CFG_LAUNCH1")
"""The register that launches each group."""


class CopyQueue:
    """The slots of BDMA: copies that were enabled and wait for the launch of their group.

    Groups run in the order of their launches.

    Source: programming guide, "BDMA programming" and "Limitation", BDMA; read off the public nv_full RTL,
        which drops a copy without a slot. Nothing of it was measured.
    """

    def __init__(self) -> None:
        """Start with free slots."""
        self._waiting: list[BdmaLayer] = []

    def enable(self, layer: BdmaLayer, busy: int) -> None:
        """Put a copy into a slot.

        Args:
            layer: The copy.
            busy: Number of groups that were launched and have not ended.

        Raises:
            Refused: when that is not allowed.
        """
        if busy == len(LAUNCHES):
            raise Refused("BDMA.CFG_OP.en must stay DISABLE while both groups are busy")
        if len(self._waiting) == SLOTS:
            raise Refused(f"BDMA.CFG_OP.en must stay DISABLE: copies that were not launched take all {SLOTS} slots")
        if self._waiting and self._waiting[0].dst.ram is not layer.dst.ram:
            raise Refused(
                f"BDMA.CFG_CMD.dst_ram_type must be {self._waiting[0].dst.ram.value} as for the group's first copy, "
                f"not {layer.dst.ram.value}"
            )
        self._waiting.append(layer)

    def launch(self, group: int, *, busy: bool) -> tuple[BdmaLayer, ...]:
        """Return the copies that a launch makes a group.

        Raises:
            Refused: when there are none, or the group has not ended.
        """
        field = f"BDMA.{LAUNCHES[group]}.grp{group}_launch"
        if busy:
            raise Refused(f"{field} must stay NO while group {group} is busy")
        if not self._waiting:
            raise Refused(f"{field} must stay NO: no copy waits for it")
        launched, self._waiting = tuple(self._waiting), []
        return launched
