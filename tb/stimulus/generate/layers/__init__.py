"""Layers from descriptions: shapes and modes as the plan says, data and free parameters from the seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from models.errors import InputError
from tb.nvdla.layers import Layer
from tb.stimulus.generate.describe import PlanError, Table
from tb.stimulus.generate.layers.cdp import build_cdp
from tb.stimulus.generate.layers.conv import build_conv
from tb.stimulus.generate.layers.moving import build_bdma, build_rubik
from tb.stimulus.generate.layers.pdp import build_pdp, build_pooled, split_width
from tb.stimulus.generate.layers.sdp import build_sdp
from tb.stimulus.generate.layers.workshop import Workshop

__all__ = ["Workshop", "build_layer", "split_width"]

_Builder = Callable[[Workshop, str, Table, Sequence[Layer]], Layer]
_BUILDERS: dict[str, _Builder] = {
    "SDP": build_sdp,
    "PDP": build_pdp,
    "CDP": build_cdp,
    "CONV": build_conv,
    "RUBIK": build_rubik,
    "BDMA": build_bdma,
}


def build_layer(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> Layer:
    """Return the layer that a description asks for, with its data in memory.

    Args:
        shop: Configuration, memory and randomness.
        name: Prefix of the allocations' names.
        table: The description; see the plan files.
        earlier: The layers before; ``chain = true`` reads the last one's destination.

    Raises:
        PlanError: for a description that cannot be understood or that no hardware can run.
    """
    engine = table.one_of("engine", tuple(_BUILDERS), "SDP")
    try:
        layer = _BUILDERS[engine](shop, name, table, earlier)
        pool = table.table("pool")
        if pool is not None:
            layer = build_pooled(shop, f"{name}_pool", pool, layer)
    except PlanError:
        raise
    except InputError as error:
        raise PlanError(f"{table.where}: {error}") from error
    table.done()
    return layer
