"""Causes: small objects, each of which says how memory would look if it were so.

``nvdla_tb.explain.rank`` chooses among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from nvdla_models.errors import InputError
from nvdla_tb.explain.engines import Make, Run
from nvdla_tb.explain.evidence import Evidence

_MOST_OPEN = 0.1
"""Of the wrong bytes that a dump may leave open."""


class Way(NamedTuple):
    """A way in which a cause may act, of which nobody knows yet whether any engine can run so.

    Attributes:
        detail: distinction, as ``32 bytes instead of 40``.
        make: makes the run of such hardware, or raises an InputError.
        cost_bits: what it takes to say it beyond the cause, when the evidence itself was asked for a value.
    """

    detail: str
    make: Make
    cost_bits: float = 0.0


@dataclass(frozen=True)
class Cause:
    """A cause.

    Attributes:
        name: its name for reports and scores.
        about: the fault, in words.
        ways: from the evidence and a run to what the cause may make of it.
        reruns: whether it needs an engine that can compute again; otherwise the known result will do.
        cost_bits: how much evidence it takes to believe it: rarer causes cost more.
        symptom: whether it says what the bytes look like, and not what makes them so.
        declared: whether it is there for certain when it can be tried, so that one wrong byte is enough to believe it.
    """

    name: str
    about: str
    ways: Callable[[Evidence, Run], Iterable[Way]]
    reruns: bool = False
    cost_bits: float = 8.0
    symptom: bool = False
    declared: bool = False

    def on(self, evidence: Evidence, run: Run) -> Iterator[Variant]:
        """Yield the variants that differ from the run; none of a run that the cause cannot change."""
        for detail, make, cost_bits in self.ways(evidence, run):
            try:
                made = make()
            except InputError:
                continue
            if made != run:
                yield Variant(self, detail, made, self.cost_bits + cost_bits)


class Variant(NamedTuple):
    """A way in which a cause may have acted, with its run, and what it takes to say both."""

    cause: Cause
    detail: str
    run: Run
    cost_bits: float

    @property
    def text(self) -> str:
        """The cause in words."""
        return f"{self.cause.about}: {self.detail}" if self.detail else self.cause.about


Kinds = Iterator[tuple[str, str, Make]]
"""Ways of several causes: the kind, which names the cause, before each."""


def of_kinds(
    prefix: str, kinds: Mapping[str, str], ways: Callable[[Run], Kinds], *, reruns: bool = True
) -> Iterator[Cause]:
    """Yield a cause for each kind of ways.

    Args:
        prefix: beginning of their names, before the kind.
        kinds: the faults in words, by kind.
        ways: from a run to the ways of all kinds.
        reruns: as that of the causes.
    """

    def chosen(kind: str, evidence: Evidence, run: Run) -> Iterator[Way]:
        return (Way(detail, make) for found, detail, make in ways(run) if found == kind)

    for kind, about in kinds.items():
        yield Cause(f"{prefix}-{kind}", about, partial(chosen, kind), reruns)


@dataclass(frozen=True)
class Fit:
    """How well a cause fits the evidence.

    Attributes:
        variants: of one cause, or of a pair; the run of the last is that of all.
        explained: wrong bytes that the prediction gets right.
        contradicted: bytes that are right and that the prediction gets wrong.
        wrong: wrong bytes that there are.
        cost_bits: what it takes to describe the evidence with this cause; less is better.
        prediction: digest of the bytes that it predicts.
        open: wrong bytes of a dump that it leaves as they were, which nobody knows.
    """

    variants: tuple[Variant, ...]
    explained: int
    contradicted: int
    wrong: int
    cost_bits: float
    prediction: bytes
    open: int = 0

    @property
    def causes(self) -> tuple[Cause, ...]:
        """One, or a pair."""
        return tuple(variant.cause for variant in self.variants)

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
        return "; and ".join(variant.text for variant in self.variants)

    def __str__(self) -> str:
        """Return cause and evidence in one line."""
        kind = "symptom: " if self.symptom else ""
        against = f", contradicts {self.contradicted} right ones" if self.contradicted else ""
        return f"{kind}{self.text} (explains {self.explained} of {self.wrong} wrong bytes{against})"
