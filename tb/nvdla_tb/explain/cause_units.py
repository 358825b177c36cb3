"""The units, and regions of the convolution core, whose faults look like a cause."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum, auto

from nvdla_models.arithmetic import Site
from nvdla_tb.explain.cause import Fit
from nvdla_tb.explain.text import Explanation
from nvdla_tb.explain.units import MEMORY_INTERFACE, Part, Unit, part, parts, parts_of, writer_of

_SOURCES = {"CONV": "CDMA (data)", "SDP": "SDP_RDMA", "PDP": "PDP_RDMA", "CDP": "CDP_RDMA"}
_VALUES = ("byte-order", "narrow", "bit-order", "negated", "sign-bit", "element-size", "lanes")
_DATA, _WEIGHTS = "CDMA (data)", "CDMA (weights)"


_OTHER_WRITER = Part("the unit that wrote there then", ())
_NONE = Part("none", ())


class _Of(Enum):
    """Parts that depend on the layer's engine: what reads its input, or takes that, and what writes its output."""

    READER = auto()
    READER_OR_TAKER = auto()
    WRITER = auto()


_Place = str | Part | _Of
"""The name of a unit, a part, or one that depends on the layer's engine."""

_OF_CAUSES: tuple[tuple[tuple[str, ...], tuple[_Place, ...]], ...] = (
    (("conv-mask", "conv-group-size", "conv-kernel-base", "conv-kernel-extension"), (_WEIGHTS, "CSC")),
    (("conv-kernel",), (_WEIGHTS, "CSC", "CMAC", "CACC")),
    (("conv-input-converter", "conv-mean", "conv-pixel", "conv-x-offset", "conv-image"), (_DATA,)),
    (("conv-truncate", "conv-accumulator"), ("CACC",)),
    (("conv-lane", "conv-sign", "conv-nan"), ("CSC", "CMAC", "CACC")),
    (("conv-padding", "conv-pad-value", "conv-window"), (_DATA, "CSC")),
    (("conv-winograd",), ("CDMA", "CSC", "CMAC", "CACC")),
    (("conv-",), ("CSC",)),
    (("altered",), (_NONE,)),
    (("stale-buffer",), (_WEIGHTS, "CBUF", "CSC")),
    (("stage-", "y-", "converter-", "prelu"), ("SDP",)),
    (tuple(f"operand-{kind}" for kind in _VALUES), ("SDP_RDMA", "SDP")),
    (("operand-",), ("SDP_RDMA",)),
    (("pool-window", "pool-split", "pool-padding"), ("PDP_RDMA", "PDP")),
    (("pool-",), ("PDP",)),
    (("overwritten",), (_Of.WRITER, _OTHER_WRITER, MEMORY_INTERFACE)),
    (
        ("strobe", "misplaced", "dst-base", "dst-order", "dst-stuck", "dst-lanes", "bus-lanes"),
        (_Of.WRITER, MEMORY_INTERFACE),
    ),
    (("dst-",), (_Of.WRITER,)),
    (("write-order", "lost-"), (_Of.WRITER, MEMORY_INTERFACE)),
    (tuple(f"src-{kind}" for kind in _VALUES), (_Of.READER_OR_TAKER,)),
    (("src-", "read-order"), (_Of.READER,)),
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


def _parts(place: _Place, engine: str) -> tuple[Part, ...]:
    """Return the parts that an entry of ``_OF_CAUSES`` names for layers of an engine."""
    first = engine.split("-")[0]
    reader = _SOURCES.get(first, engine)
    match place:
        case Part():
            return (place,)
        case _Of.WRITER:
            return (part(writer_of(engine), "{}, its writes"),)
        case _Of.READER_OR_TAKER if first != "CONV":
            return parts(dict.fromkeys((reader, first)))
        case _Of.READER | _Of.READER_OR_TAKER:
            return parts([reader])
    return () if place == "PDP_RDMA" and first != "PDP" else parts([place])


class Region(Enum):
    """A part of the way from memory to memory: causes in one are told apart from those in others."""

    OPERANDS = auto()
    PRODUCTS = auto()
    SUMS = auto()
    READ = auto()
    AFTER = auto()


_OF_UNITS = {
    Unit.CDMA: Region.OPERANDS,
    Unit.CBUF: Region.OPERANDS,
    Unit.CSC: Region.OPERANDS,
    Unit.CMAC: Region.PRODUCTS,
    Unit.CACC: Region.SUMS,
    Unit.SDP_RDMA: Region.READ,
    Unit.PDP_RDMA: Region.READ,
    Unit.CDP_RDMA: Region.READ,
}
"""Units of the core, and those that read for SDP, PDP and CDP; all others lie after them."""


def narrowed(explanation: Explanation, units: Iterable[Unit]) -> Explanation:
    """Return the explanation of a layer without the causes that lie elsewhere than some units; symptoms stay."""
    where = {_OF_UNITS.get(unit, Region.AFTER) for unit in units}
    started, diagnosis = explanation.evidence.started, explanation.diagnosis
    assert started is not None
    # What lies in no unit lies nowhere else.
    places = {fit: regions(fit, started.engine) for fit in diagnosis.fits}
    kept = tuple(fit for fit, there in places.items() if fit.symptom or not there or where & there)
    return replace(explanation, diagnosis=replace(diagnosis, fits=kept))


def regions(fit: Fit, engine: str) -> frozenset[Region]:
    """Return where a cause may lie in a layer of an engine."""
    return frozenset(_OF_UNITS.get(unit, Region.AFTER) for unit in units_of_fit(fit, engine))
