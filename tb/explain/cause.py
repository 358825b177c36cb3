"""Causes: small objects, each of which says how memory would look if it were so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from models.errors import InputError
from tb.explain.evidence import Evidence
from tb.explain.run import Run

_MOST_OPEN = 0.1
"""Of the wrong bytes that a dump may leave open."""


class Family(Enum):
    """The part of the hardware, or of its program, that a cause is about."""

    LAYOUT = "layout"
    ARITHMETIC = "arithmetic"
    CONTROL = "control"
    FORMAT = "format"


@dataclass(frozen=True)
class Variant:
    """One way in which a cause may have acted.

    Attributes:
        detail: distinction, as ``32 bytes instead of 40``.
        run: run of such hardware.
        cost_bits: what it takes to say it beyond the cause, when the evidence itself was asked for a value.
    """

    detail: str
    run: Run
    cost_bits: float = 0.0


@dataclass(frozen=True)
class Cause:
    """A cause.

    Attributes:
        name: its name for reports and scores.
        about: the fault, in words.
        family: of what kind it is.
        variants: from the evidence and a run to the runs in which the cause acts too.
        reruns: whether it needs an engine that can compute again; otherwise the known result will do.
        cost_bits: how much evidence it takes to believe it: rarer causes cost more.
        symptom: whether it says what the bytes look like, and not what makes them so.
    """

    name: str
    about: str
    family: Family
    variants: Callable[[Evidence, Run], Iterable[Variant]]
    reruns: bool = False
    cost_bits: float = 8.0
    symptom: bool = False

    def on(self, evidence: Evidence, run: Run) -> Iterator[Variant]:
        """Yield the variants that differ from the run; none of a run that the cause cannot change."""
        try:
            for variant in self.variants(evidence, run):
                if variant.run != run:
                    yield variant
        except InputError:
            return


def attempt(detail: str, make: Callable[[], Run]) -> Iterator[Variant]:
    """Yield the variant that ``make`` builds, or nothing when no engine can run so."""
    try:
        yield Variant(detail, make())
    except InputError:
        return


@dataclass(frozen=True)
class Fit:
    """How well a cause fits the evidence.

    Attributes:
        causes: one, or a pair.
        variants: how each acted.
        explained: wrong bytes that the prediction gets right.
        contradicted: bytes that are right and that the prediction gets wrong.
        wrong: wrong bytes that there are.
        cost_bits: what it takes to describe the evidence with this cause; less is better.
        prediction: digest of the bytes that it predicts.
        open: wrong bytes of a dump that it leaves as they were, which nobody knows.
    """

    causes: tuple[Cause, ...]
    variants: tuple[Variant, ...]
    explained: int
    contradicted: int
    wrong: int
    cost_bits: float
    prediction: bytes
    open: int = 0

    @property
    def name(self) -> str:
        """The causes' keys, joined by ``+``."""
        return "+".join(cause.name for cause in self.causes)

    @property
    def symptom(self) -> bool:
        """Whether it says no more than what the bytes look like."""
        return all(cause.symptom for cause in self.causes)

    @property
    def complete(self) -> bool:
        """Whether it predicts every byte, but for a few that a dump leaves open."""
        open_bytes = min(self.open, int(_MOST_OPEN * self.wrong))
        return self.explained + open_bytes >= self.wrong and self.contradicted == 0

    @property
    def share(self) -> float:
        """The part of the wrong bytes that it explains, less what it contradicts."""
        return (self.explained - self.contradicted) / self.wrong

    @property
    def text(self) -> str:
        """The cause in words."""
        parts = []
        for cause, variant in zip(self.causes, self.variants, strict=True):
            parts.append(f"{cause.about}: {variant.detail}" if variant.detail else cause.about)
        return "; and ".join(parts)

    def __str__(self) -> str:
        """Return cause and evidence in one line."""
        kind = "symptom: " if self.symptom else ""
        against = f", contradicts {self.contradicted} right ones" if self.contradicted else ""
        return f"{kind}{self.text} (explains {self.explained} of {self.wrong} wrong bytes{against})"
