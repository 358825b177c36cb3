"""An explanation in words: where, when and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tb.explain.cause import Fit
from tb.explain.evidence import Evidence
from tb.explain.rank import Diagnosis, diagnose
from tb.explain.traits import traits_of
from tb.explain.where import When, statistics, where
from tb.stimulus.exchange import Traits

_LISTED = 5


@dataclass(frozen=True, eq=False)
class Explanation:
    """Where, when and why the bytes of a surface are wrong."""

    evidence: Evidence
    diagnosis: Diagnosis

    @property
    def where(self) -> list[str]:
        """The pattern of the wrong elements, a fact a line."""
        return where(self.evidence)

    @cached_property
    def when(self) -> When | None:
        """The writes that carried wrong bytes, None when no write carried one."""
        return When.of(self.evidence)

    @property
    def causes(self) -> tuple[Fit, ...]:
        """Probable causes, best first; a symptom alone when no cause fits; empty when nothing does."""
        first = self.diagnosis.first
        if first is None:
            return ()
        return self.diagnosis.fits if first is self.diagnosis.fits[0] else (first,)

    @property
    def equal(self) -> tuple[Fit, ...]:
        """The first cause, and those that predict the very same bytes."""
        return tuple(fit for fit in self.causes if fit.prediction == self.causes[0].prediction)

    @property
    def headline(self) -> str:
        """The probable cause in one line, or that none fits."""
        return str(self.causes[0]) if self.causes else "no known cause fits"

    @cached_property
    def traits(self) -> Traits | None:
        """What the arithmetic meets in the wrong elements, where no cause is probable and they can be told."""
        return None if self.diagnosis.probable is not None else traits_of(self.evidence)

    @cached_property
    def place_lines(self) -> list[str]:
        """Where and when its bytes are wrong, as text."""
        wrong = int(np.count_nonzero(self.evidence.wrong))
        if wrong == 0:
            return [f"{self.evidence.name}: nothing is wrong"]
        lines = [f"{self.evidence.name}: {wrong} wrong bytes", *_block("where", self.where)]
        return lines if self.when is None else [*lines, *_block("when", self.when.lines())]

    @cached_property
    def why_lines(self) -> list[str]:
        """Why they are, as text; none when nothing is wrong."""
        return _block("why", self.reasons()) if self.evidence.wrong.any() else []

    def lines(self) -> list[str]:
        """Return the explanation as text."""
        return [*self.place_lines, *self.why_lines]

    def reasons(self) -> list[str]:
        """Return the ranked causes, or what stands out when none fits."""
        diagnosis = self.diagnosis
        lines = []
        if not self.causes:
            lines.append(f"no known cause fits; {diagnosis.tried} were tried")
            lines += [f"closest: {fit}" for fit in diagnosis.fits[:2]]
            lines += statistics(self.evidence)
        else:
            # What fits less than a symptom says nothing that the symptom does not.
            listed = self.equal if self.causes[0].symptom else self.causes[: max(_LISTED, len(self.equal))]
            lines += [f"{n}. {fit}" for n, fit in enumerate(listed, start=1)]
            if len(self.equal) > 1:
                numbers = [str(n) for n, fit in enumerate(listed, start=1) if fit in self.equal]
                same = f"{', '.join(numbers[:-1])} and {numbers[-1]}"
                lines.append(f"the same bytes follow from {same}: they cannot be told apart; the simplest is first")
        if not diagnosis.reran and self.evidence.started is not None:
            lines.append("the layer could not be computed again: only its result was moved about")
        return lines


def explain(evidence: Evidence) -> Explanation:
    """Return where, when and why the bytes of a surface are wrong."""
    return Explanation(evidence, diagnose(evidence))


def _block(title: str, lines: list[str]) -> list[str]:
    return [f"  {title:6}{line}" if n == 0 else f"        {line}" for n, line in enumerate(lines)]
