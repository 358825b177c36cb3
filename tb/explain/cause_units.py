"""The units whose faults look like a cause."""

from __future__ import annotations

from enum import Enum, auto

from models.arithmetic import Site
from tb.explain.cause import Fit
from tb.explain.units import MEMORY_INTERFACE, Part, Unit, part, parts, parts_of, writer_of


class _Role(Enum):
    """A part that is no unit, or depends on the layer's engine."""

    SOURCE = auto()
    SOURCE_OR_TAKER = auto()
    WRITER = auto()
    OTHER_WRITER = auto()
    MEMORY = auto()


_SOURCES = {"CONV": "CDMA (data)", "SDP": "SDP_RDMA", "PDP": "PDP_RDMA", "CDP": "CDP_RDMA"}
_VALUES = ("byte-order", "narrow", "bit-order", "negated", "sign-bit", "element-size", "lanes")
_DATA, _WEIGHTS = "CDMA (data)", "CDMA (weights)"
_OF_CAUSES: tuple[tuple[tuple[str, ...], tuple[str | _Role, ...]], ...] = (
    (("conv-mask", "conv-group-size", "conv-kernel-base", "conv-kernel-extension"), (_WEIGHTS, "CSC")),
    (("conv-kernel",), (_WEIGHTS, "CSC", "CMAC", "CACC")),
    (("conv-input-converter", "conv-mean", "conv-pixel", "conv-x-offset", "conv-image"), (_DATA,)),
    (("conv-truncate", "conv-accumulator"), ("CACC",)),
    (("conv-lane", "conv-sign", "conv-nan"), ("CSC", "CMAC", "CACC")),
    (("conv-padding", "conv-pad-value", "conv-window"), (_DATA, "CSC")),
    (("conv-winograd",), ("CDMA", "CSC", "CMAC", "CACC")),
    (("conv-",), ("CSC",)),
    (("stale-buffer",), (_WEIGHTS, "CBUF", "CSC")),
    (("stage-", "y-", "converter-", "prelu"), ("SDP",)),
    (tuple(f"operand-{kind}" for kind in _VALUES), ("SDP_RDMA", "SDP")),
    (("operand-",), ("SDP_RDMA",)),
    (("pool-window", "pool-split", "pool-padding"), ("PDP_RDMA", "PDP")),
    (("pool-",), ("PDP",)),
    (("overwritten",), (_Role.WRITER, _Role.OTHER_WRITER, _Role.MEMORY)),
    (
        ("strobe", "misplaced", "dst-base", "dst-order", "dst-stuck", "dst-lanes", "bus-lanes"),
        (_Role.WRITER, _Role.MEMORY),
    ),
    (("dst-",), (_Role.WRITER,)),
    (("write-order", "lost-"), (_Role.WRITER, _Role.MEMORY)),
    (tuple(f"src-{kind}" for kind in _VALUES), (_Role.SOURCE_OR_TAKER,)),
    (("src-", "read-order"), (_Role.SOURCE,)),
)
"""By the beginning of a cause's name, the units whose faults look so; PDP_RDMA where the layer passes it."""

_OF_SITES = {
    Site.CDMA: (Unit.CDMA,),
    Site.WINOGRAD: (Unit.CSC, Unit.CMAC),
    Site.CACC: (Unit.CACC,),
    Site.PDP_WIDTH: (Unit.PDP,),
    Site.PDP_HEIGHT: (Unit.PDP,),
    Site.CDP_INPUT: (Unit.CDP,),
    Site.CDP_OUTPUT: (Unit.CDP,),
}
"""Sites of arithmetic outside SDP; tables are in SDP or CDP."""


def parts_of_fit(fit: Fit, engine: str) -> tuple[Part, ...]:
    """Return the parts of the hardware whose faults look like a cause, the first of a pair.

    Args:
        fit: The cause.
        engine: That of the layer, as it is called in messages.
    """
    site = fit.variants[0].run.rules.site
    if site is not None:
        tables = (Unit.CDP,) if engine == "CDP" else (Unit.SDP,)
        return (Part(site.value, _OF_SITES.get(site, tables)),)
    return _of_name(fit.causes[0].name, engine)


def units_of_fit(fit: Fit, engine: str) -> frozenset[Unit]:
    """Return the units whose faults look like a cause; either half of a pair may be the one that is seen first."""
    found = [*parts_of_fit(fit, engine), *(part for cause in fit.causes[1:] for part in _of_name(cause.name, engine))]
    return frozenset(unit for part in found for unit in part.units)


def _of_name(name: str, engine: str) -> tuple[Part, ...]:
    for beginnings, places in _OF_CAUSES:
        if name.startswith(beginnings):
            return tuple(found for place in places for found in _parts(place, engine))
    return parts_of(engine)


def _parts(place: str | _Role, engine: str) -> tuple[Part, ...]:
    """Return the parts that an entry of ``_OF_CAUSES`` names for layers of an engine."""
    first = engine.split("-")[0]
    match place:
        case _Role.SOURCE:
            return parts([_SOURCES.get(first, engine)])
        case _Role.SOURCE_OR_TAKER:
            return parts([_SOURCES[first]] if first == "CONV" else dict.fromkeys((_SOURCES.get(first, engine), first)))
        case _Role.WRITER:
            return (part(writer_of(engine), "{}, its writes"),)
        case _Role.OTHER_WRITER:
            return (Part("the unit that wrote there then", ()),)
        case _Role.MEMORY:
            return (MEMORY_INTERFACE,)
        case "PDP_RDMA" if first != "PDP":
            return ()
        case str():
            return parts([place])
