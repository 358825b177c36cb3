"""Why the bytes of a test are wrong, as data: by layer where, when and why, and the units that all of it points at.

Terminal, pages, JUnit and JSON render this one structure.
"""

from __future__ import annotations

import msgspec

from nvdla_tb.nvdla.memory import Ram


class Traits(msgspec.Struct, frozen=True):
    """The traits that all wrong elements of a layer have.

    Attributes:
        wrong: how many wrong elements were looked at.
        right: by trait, how many right elements have it, and of how many.
        tried: how many traits were looked at.
    """

    wrong: int
    right: dict[str, tuple[int, int]]
    tried: int


class ExplainedLayer(msgspec.Struct, frozen=True):
    """Where, when and why the bytes of one layer are wrong, a fact a line.

    Attributes:
        name: the layer.
        wrong_bytes: how many of its bytes are wrong; with none there is nothing else to say.
        where: the pattern of the wrong elements.
        when: when they were written; empty when no write carried one.
        why: the ranked causes, or what stands out when none fits.
        headline: the best cause in words, or that none fits.
        causes: names of the probable causes, the best first.
        equal: those that predict the same bytes as the best.
        symptom: whether the best says no more than what the bytes look like.
        traits: the traits of its wrong elements, where they can be told and no cause is probable.
        handovers: what was seen of hand-overs inside, when they were watched.
    """

    name: str
    wrong_bytes: int
    where: list[str] = []
    when: list[str] = []
    why: list[str] = []
    headline: str = "no known cause fits"
    causes: list[str] = []
    equal: list[str] = []
    symptom: bool = False
    traits: Traits | None = None
    handovers: list[str] = []

    @property
    def title(self) -> str:
        """The layer, and how many of its bytes are wrong."""
        return f"{self.name}: {self.wrong_bytes} wrong bytes" if self.wrong_bytes else f"{self.name}: nothing is wrong"

    @property
    def place_lines(self) -> list[str]:
        """Title, where and when as indented text."""
        return [self.title, *_block("where", self.where), *_block("when", self.when)]

    @property
    def why_lines(self) -> list[str]:
        """Why, as indented text."""
        return _block("why", self.why)

    @property
    def lines(self) -> list[str]:
        """All but the hand-overs as indented text."""
        return [*self.place_lines, *self.why_lines]

    @property
    def handover_lines(self) -> list[str]:
        """The hand-overs as indented text."""
        return [f"{self.name}: stages", *(f"  {line}" for line in self.handovers)] if self.handovers else []


class Pointed(msgspec.Struct, frozen=True):
    """Units that the findings point at.

    Attributes:
        text: the units and the reason, in words.
        units: the units that these name, values of ``nvdla_tb.explain.units.Unit``.
    """

    text: str
    units: list[str] = []


class WavesView(msgspec.Struct, frozen=True):
    """What a viewer of waves should show of the first layer with wrong bytes.

    Attributes:
        ram: port of the first wrong write.
        data_bits: data bits of the port.
        address_bits: address bits of the port.
        first: picoseconds of the first wrong write.
        last: picoseconds of the last wrong write.
        handovers: the last right and the first wrong hand-over inside, where they were watched: by name, the signals
            as wave files name them.
    """

    ram: Ram
    data_bits: int
    address_bits: int
    first: int
    last: int
    handovers: dict[str, list[str]] = {}


class Explained(msgspec.Struct, frozen=True):
    """Why bytes are wrong.

    ::

        layer = ExplainedLayer("layer 0 (SDP, group 0)", 8, why=["1. output: wrong surface stride"])
        Explained([layer], units=[Pointed("SDP, its writes: the probable cause lies in its work", ["SDP"])])

    Attributes:
        layers: the first layers that left wrong bytes.
        units: what the findings point at, the most telling evidence first.
        interface: what was seen of the memory interface, when it was watched.
        leads: where no cause is known, what failing layers have and passing ones have not; of the first of its kind.
        blamed: units whose faults look like the best cause of the first layer or an equal one.
        cleared: units of which all that was watched is right.
        located: whether hand-overs were compared from the first to the one that is wrong.
        view: what waves should show; None where no write carried a wrong byte.
    """

    layers: list[ExplainedLayer] = []
    units: list[Pointed] = []
    interface: list[str] = []
    leads: list[str] = []
    blamed: list[str] = []
    cleared: list[str] = []
    located: bool = False
    view: WavesView | None = None

    @property
    def first(self) -> ExplainedLayer | None:
        """The first layer, from whose cause the others mostly follow; None without any."""
        return self.layers[0] if self.layers else None

    @property
    def was_watched(self) -> bool:
        """Whether anything is said of hand-overs inside."""
        return bool(self.interface) or any(layer.handovers for layer in self.layers)

    @property
    def layer_lines(self) -> list[str]:
        """Where, when and why of all layers."""
        return [line for layer in self.layers for line in layer.lines]

    @property
    def watched_lines(self) -> list[str]:
        """What was seen of the memory interface and of hand-overs."""
        return [*self.interface, *(line for layer in self.layers for line in layer.handover_lines)]

    @property
    def lead_lines(self) -> list[str]:
        """The leads."""
        return [f"lead: {lead}" for lead in self.leads]


def _block(title: str, lines: list[str]) -> list[str]:
    return [f"  {title:6}{line}" if n == 0 else f"        {line}" for n, line in enumerate(lines)]
