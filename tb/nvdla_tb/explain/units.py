"""Units of the hardware, those that data of a layer pass, and those that evidence points at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from nvdla_tb.nvdla.engines import ENGINES


class Unit(Enum):
    """A unit as evidence names it: halves and channels of one are the same; its register file belongs to it."""

    CSB = "CSB"
    GLB = "GLB"
    MEMORY = "memory interface"
    BDMA = "BDMA"
    RUBIK = "RUBIK"
    CDMA = "CDMA"
    CBUF = "CBUF"
    CSC = "CSC"
    CMAC = "CMAC"
    CACC = "CACC"
    SDP_RDMA = "SDP_RDMA"
    SDP = "SDP"
    PDP_RDMA = "PDP_RDMA"
    PDP = "PDP"
    CDP_RDMA = "CDP_RDMA"
    CDP = "CDP"


@dataclass(frozen=True)
class Part:
    """A part of the hardware where a fault may lie.

    Attributes:
        words: What it is called.
        units: The units that the words name.
    """

    words: str
    units: tuple[Unit, ...]


@dataclass(frozen=True)
class Suspect:
    """Parts of the hardware, and the evidence that points at them.

    Attributes:
        parts: In any of them the fault may lie.
        because: The evidence.
        is_likely: Whether the evidence makes them no more than likely.
    """

    parts: tuple[Part, ...]
    because: str
    is_likely: bool = False

    @property
    def named(self) -> tuple[Unit, ...]:
        """The units, each once."""
        return tuple(dict.fromkeys(unit for part in self.parts for unit in part.units))

    @property
    def words(self) -> str:
        """The parts: ``A, B or C``."""
        return f"{'rather ' if self.is_likely else ''}{either([part.words for part in self.parts])}"

    def without(self, unit: Unit) -> Suspect:
        """Return the suspect without the parts that are of a unit alone, whose data are right.

        Nothing goes when nothing else would be left, or when registers are suspected: data say nothing about them.
        """
        if Unit.CSB in self.named:
            return self
        kept = tuple(part for part in self.parts if set(part.units) != {unit})
        return replace(self, parts=kept) if kept else self

    def __str__(self) -> str:
        """Return parts and evidence in one line."""
        return f"{self.words}: {self.because}"


CSB = (
    Part("CSB master", (Unit.CSB,)),
    Part("the register file of the unit that is accessed", ()),
)
MEMORY_INTERFACE = Part(Unit.MEMORY.value, (Unit.MEMORY,))
READ_SIDE = Part("read side of the memory interface", (Unit.MEMORY,))
WRITE_SIDE = Part("write side of the memory interface", (Unit.MEMORY,))

_CORE = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")
FLOW = ("BDMA", "RUBIK", *_CORE, "SDP_RDMA", "SDP", "PDP_RDMA", "PDP", "CDP_RDMA", "CDP")
"""Units with registers, in the order in which data pass them."""

WRITERS = ("BDMA", "RUBIK", "SDP", "PDP", "CDP")

_REGISTERS_OF = {
    "RBK": Unit.RUBIK,
    "MCIF": Unit.MEMORY,
    "CVIF": Unit.MEMORY,
    "CFGROM": Unit.CSB,
    "CMAC_A": Unit.CMAC,
    "CMAC_B": Unit.CMAC,
    "CDMA_DAT": Unit.CDMA,
    "CDMA_WT": Unit.CDMA,
}
"""Names of registers and of interrupts, where they are not those of units."""

_CONV = (Unit.CDMA, Unit.CBUF, Unit.CSC, Unit.CMAC, Unit.CACC, Unit.SDP)
_PASSED = {
    "CONV": _CONV,
    "SDP": (Unit.SDP_RDMA, Unit.SDP),
    "PDP": (Unit.PDP_RDMA, Unit.PDP),
    "CDP": (Unit.CDP_RDMA, Unit.CDP),
    "SDP-PDP": (Unit.SDP_RDMA, Unit.SDP, Unit.PDP),
    "CONV-PDP": (*_CONV, Unit.PDP),
}
"""By the name of a layer's engine in messages, the units at which wrong bytes point, where nothing says more."""

_CONNECTED = {
    Unit.CDMA: (Unit.CBUF, Unit.CSC),
    Unit.CBUF: (Unit.CSC,),
    Unit.CSC: (Unit.CMAC,),
    Unit.CMAC: (Unit.CACC,),
    Unit.CACC: (Unit.SDP, Unit.CSC),
    Unit.SDP_RDMA: (Unit.SDP,),
    Unit.SDP: (Unit.PDP,),
    Unit.PDP_RDMA: (Unit.PDP,),
    Unit.CDP_RDMA: (Unit.CDP,),
}
"""Units that a unit has signals to: data, credits, or what frees the convolution buffer."""


def units_named(*names: str) -> tuple[Unit, ...]:
    """Return the units of names, each once.

    Args:
        names: Names of units, of register blocks or of what done events are called after, or parts such as
            ``CDMA (data)``; those that no unit has are left out.
    """
    plain = [name.partition(" (")[0] for name in names]
    known = {unit.value: unit for unit in Unit} | _REGISTERS_OF
    return tuple(dict.fromkeys(known[name] for name in plain if name in known))


_REACH_MEMORY = frozenset(units_named(*FLOW)) - {Unit.CSC, Unit.CMAC, Unit.CACC}


def either(words: Sequence[str]) -> str:
    """Return alternatives in words: ``A, B or C``."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def part(name: str, words: str = "{}") -> Part:
    """Return the part that the name of a unit stands for, as ``units_named`` takes it; ``{}`` in words is the name."""
    return Part(words.format(name), units_named(name))


def parts(names: Iterable[str]) -> tuple[Part, ...]:
    """Return the parts that names of units stand for."""
    return tuple(part(name) for name in names)


def parts_of(engine: str) -> tuple[Part, ...]:
    """Return the parts at which wrong bytes of a layer point, where nothing says more.

    Args:
        engine: That of the layer, as it is called in messages.
    """
    units = _PASSED.get(engine, units_named(engine))
    return tuple(Part(unit.value, (unit,)) for unit in units) or (Part(engine, ()),)


def writer_of(engine: str) -> str:
    """Return the unit that writes the results of layers of an engine."""
    return "PDP" if engine.endswith("PDP") else "SDP" if engine == "CONV" else engine


def are_neighbours(one: Unit, other: Unit) -> bool:
    """Return whether two units are one or connected: all but CBUF, which has no registers, are to CSB and GLB."""
    pair = {one, other}
    if one is other:
        return True
    if pair & {Unit.CSB, Unit.GLB}:
        return Unit.CBUF not in pair
    if Unit.MEMORY in pair:
        return bool(pair & _REACH_MEMORY)
    return other in _CONNECTED.get(one, ()) or one in _CONNECTED.get(other, ())


def passed(name: str) -> set[str]:
    """Return the units with registers that layers pass, by their name in messages."""
    return {unit for engine in ENGINES for chain in engine.chains if chain.name == name for unit in chain.units}


def shared(engines: Sequence[str]) -> Suspect | None:
    """Return what layers of several engines share that are wrong; None for layers of one engine alone.

    Args:
        engines: By the names that layers have in messages.
    """
    names = list(dict.fromkeys(engines))
    found = [passed(name) for name in names]
    if len(names) < 2 or not all(found):
        return None
    common = [unit for unit in FLOW if all(unit in units for units in found)]
    because = f"layers of {', '.join(names)} are wrong"
    if common:
        if "CSC" in common:
            common.insert(common.index("CSC"), "CBUF")
        return Suspect(parts(common), f"{because}, and pass it")
    return Suspect((Part("what all units share, as the memory interface", (Unit.MEMORY,)),), because, is_likely=True)


def common(named: Iterable[Sequence[Unit]], because: str) -> Suspect | None:
    """Return the units that several pieces of evidence have in common; None without any, or where all name the same.

    Args:
        named: The units that each piece names.
        because: What is said of them.
    """
    sets = [set(units) for units in named]
    if not sets or all(units == sets[0] for units in sets):
        return None
    both = set.intersection(*sets)
    return Suspect(tuple(Part(unit.value, (unit,)) for unit in Unit if unit in both), because) if both else None


def following(unit: str, engine: str, because: str) -> Suspect:
    """Return the units that data of a layer pass after one.

    Args:
        unit: The unit; CMAC_A and CMAC_B pass on what both have computed.
        engine: That of the layer, as it is called in messages.
        because: The evidence that points at them.
    """
    own = passed(engine)
    later = [name for name in FLOW[FLOW.index(unit) + 1 :] if name in own] if unit in FLOW else []
    return Suspect(parts(later) if later else (MEMORY_INTERFACE,), because)
