"""An explanation in words: where, when and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb.explain.evidence import Evidence
from tb.explain.rank import Diagnosis, diagnose
from tb.explain.where import When, Where, statistics

_LISTED = 5


@dataclass(frozen=True, eq=False)
class Explanation:
    """Where, when and why the bytes of a surface are wrong."""

    evidence: Evidence
    where: Where
    when: When | None
    diagnosis: Diagnosis

    @classmethod
    def of(cls, evidence: Evidence) -> Explanation:
        """Explain a surface."""
        return cls(evidence, Where.of(evidence), When.of(evidence), diagnose(evidence))

    @property
    def headline(self) -> str:
        """The probable cause in one line, or that none fits."""
        probable = self.diagnosis.probable
        return "no known cause fits" if probable is None else str(probable)

    def lines(self) -> list[str]:
        """Return the explanation as text."""
        wrong = int(np.count_nonzero(self.evidence.wrong))
        if wrong == 0:
            return [f"{self.evidence.name}: nothing is wrong"]
        lines = [f"{self.evidence.name}: {wrong} wrong bytes", *_block("where", self.where.lines())]
        if self.when is not None:
            lines += _block("when", self.when.lines())
        return lines + _block("why", self.reasons())

    def reasons(self) -> list[str]:
        """Return the ranked causes, or what stands out when none fits."""
        diagnosis = self.diagnosis
        lines = []
        if diagnosis.probable is None:
            lines.append(f"no known cause fits; {diagnosis.tried} were tried")
            lines += [f"closest: {fit}" for fit in diagnosis.fits[:2]]
            lines += statistics(self.evidence)
        else:
            lines += [f"{n}. {fit}" for n, fit in enumerate(diagnosis.fits[:_LISTED], start=1)]
            if len(diagnosis.fits) > 1 and diagnosis.fits[1].share == diagnosis.fits[0].share:
                lines.append("causes of the same share cannot be told apart by these bytes; the simplest is first")
        if not diagnosis.reran and self.evidence.started is not None:
            lines.append("the layer could not be computed again: only its result was moved about")
        return lines


def _block(title: str, lines: list[str]) -> list[str]:
    return [f"  {title:6}{line}" if n == 0 else f"        {line}" for n, line in enumerate(lines)]
