"""Copies of BDMA in registers, and the slots where they wait for the launch of their group.

BDMA has no register groups and no OP_ENABLE: CFG_OP puts a copy of the CFG registers into a slot, and
CFG_LAUNCH0 or 1 makes all that wait there a group, which runs as one hardware layer.
"""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.layout import BDMA_UNIT_BYTES, LinesLayout
from nvdla_tb.nvdla.layers import BdmaLayer, LinesSurface
from nvdla_tb.nvdla.program.common import RAM, check_ram, flatten_surface
from nvdla_tb.nvdla.program.table import MINUS_ONE, Flat, Multiple, Refused, Table, blame_attributes, row

SLOTS = 20
LAUNCHES = ("CFG_LAUNCH0", "CFG_LAUNCH1")
"""The register that launches each group."""

_UNITS_OF_32 = Multiple(BDMA_UNIT_BYTES)

TABLE: Table = (
    row("src.ram", "BDMA.CFG_CMD.src_ram_type", codec=RAM),
    row("dst.ram", "BDMA.CFG_CMD.dst_ram_type", codec=RAM),
    row("src.address", "BDMA.CFG_SRC_ADDR_LOW.v32", "BDMA.CFG_SRC_ADDR_HIGH.v8", codec=_UNITS_OF_32),
    row("dst.address", "BDMA.CFG_DST_ADDR_LOW.v32", "BDMA.CFG_DST_ADDR_HIGH.v8", codec=_UNITS_OF_32),
    row("line_units", "BDMA.CFG_LINE.size", codec=MINUS_ONE),
    row("lines", "BDMA.CFG_LINE_REPEAT.number", codec=MINUS_ONE),
    row("surfaces", "BDMA.CFG_SURF_REPEAT.number", codec=MINUS_ONE),
    row("src.line_stride_bytes", "BDMA.CFG_SRC_LINE.stride", codec=_UNITS_OF_32),
    row("dst.line_stride_bytes", "BDMA.CFG_DST_LINE.stride", codec=_UNITS_OF_32),
    row("src.surface_stride_bytes", "BDMA.CFG_SRC_SURF.stride", codec=_UNITS_OF_32),
    row("dst.surface_stride_bytes", "BDMA.CFG_DST_SURF.stride", codec=_UNITS_OF_32),
)


def flatten(layer: BdmaLayer) -> Flat:
    """Return a layer's attributes by the names of ``TABLE``."""
    surfaces, lines, line = layer.src.layout.shape
    flat: Flat = {"surfaces": surfaces, "lines": lines, "line_units": line // BDMA_UNIT_BYTES}
    for end, surface in (("src", layer.src), ("dst", layer.dst)):
        flat |= flatten_surface(end, surface)
    return flat


def build(config: HwConfig, flat: Flat) -> BdmaLayer:
    """Return the copy that decoded attributes describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    shape = (flat["surfaces"], flat["lines"], flat["line_units"] * BDMA_UNIT_BYTES)
    ends = []
    for end in ("src", "dst"):
        check_ram(config, TABLE, flat, end)
        strides = flat[f"{end}.line_stride_bytes"], flat[f"{end}.surface_stride_bytes"]
        with blame_attributes(TABLE, "" if shape[0] > 1 << 13 or shape[1] > 1 << 13 else end):
            layout = LinesLayout(config, shape, *strides)
        with blame_attributes(TABLE, end):
            ends.append(LinesSurface(layout, flat[f"{end}.address"], flat[f"{end}.ram"]))
    return BdmaLayer(*ends)


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
        """Put a copy into a slot, while so many groups are busy: they were launched and have not ended.

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
