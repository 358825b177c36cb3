"""The result of judging one scenario, as data and as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from typing import Any

from models.layout import Element
from tb.memory import Ram


class Kind(Enum):
    """What is wrong with a byte."""

    VALUE = "wrong value"
    MISSING = "missing write"
    STRAY = "stray write"
    DOUBLE = "double write with another value"


class Outcome(Enum):
    """How a scenario ended."""

    PASSED = "passed"
    FAILED = "failed"
    REFUSED = "refused"


@dataclass(frozen=True)
class Mismatch:
    """The first byte of a kind that is wrong: where, what, when.

    ``rule`` says what the whole element holds and should hold, when a tolerance judged it.
    """

    kind: Kind
    layer: str | None
    ram: Ram
    element: Element | None
    address: int
    expected: int | None
    got: int | None
    cycle: int | None
    axi_id: int | None
    rule: str | None = None

    def __str__(self) -> str:
        """Return the mismatch as one line."""
        where = f"address {self.address:#x} of {self.ram.value}"
        if self.element is not None:
            where = f"c={self.element.c} h={self.element.h} w={self.element.w} ({where})"
        parts = [f"first at {where}"]
        if self.rule is not None:
            parts.append(self.rule)
        elif self.expected is not None:
            parts.append(f"expected {self.expected:#04x}")
        if self.rule is None and self.got is not None:
            parts.append(f"got {self.got:#04x}")
        if self.cycle is not None:
            parts.append(f"at cycle {self.cycle} with id {self.axi_id}")
        return (f"{self.layer}: " if self.layer else "") + ", ".join(parts)


@dataclass
class Finding:
    """All bytes of one kind of mismatch in one layer."""

    kind: Kind
    nbytes: int
    elements: int
    first: Mismatch

    def __str__(self) -> str:
        """Return the finding as one line."""
        unit = "bytes" if self.kind is Kind.STRAY else "elements"
        return f"{self.kind.value}: {self.elements} {unit}; {self.first}"


@dataclass(frozen=True)
class Margin:
    """How close one layer came to its tolerance.

    Attributes:
        layer: name of the layer.
        module: whose rule it is, as the table of thresholds calls it.
        rule: the rule as text.
        elements: how many were compared.
        worst: largest part of an allowance that was used; above 1 is a failure.
        at: the element that used it.
    """

    layer: str
    module: str
    rule: str
    elements: int
    worst: float
    at: Element

    def __str__(self) -> str:
        """Return the margin as one line."""
        part = f"{100 * self.worst:.1f} %" if isfinite(self.worst) else "more than any part"
        where = f"c={self.at.c} h={self.at.h} w={self.at.w}"
        return f"{self.layer}: {self.elements} elements by {self.module} ({self.rule}), worst {part} at {where}"


@dataclass
class Verdict:
    """Counts, findings and complaints of one scenario; grows while it runs.

    ``problems`` are everything that fails a scenario apart from bytes: hangs, poisoned reads, accesses
    outside allocations, wrong CRCs, unexpected register values. ``refused`` is why it was not judged.
    ``counters`` is how many statistics were judged, ``margins`` has one entry for each layer that a tolerance judged.
    """

    judged_bytes: int = 0
    written_bytes: int = 0
    repeated_bytes: int = 0
    layers: int = 0
    cycles: int = 0
    crc_passed: int = 0
    crc_failed: int = 0
    memory_faults: int = 0
    counters: int = 0
    margins: list[Margin] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    refused: str | None = None

    def add(self, kind: Kind, nbytes: int, elements: int, first: Mismatch) -> None:
        """Add mismatches; those of the same kind and layer are summed up."""
        for finding in self.findings:
            if finding.kind is kind and finding.first.layer == first.layer:
                finding.nbytes += nbytes
                finding.elements += elements
                return
        self.findings.append(Finding(kind, nbytes, elements, first))

    @property
    def outcome(self) -> Outcome:
        """Passed only when something was compared and nothing was wrong; what is wrong outweighs a refusal."""
        if self.complaints():
            return Outcome.FAILED
        return Outcome.PASSED if self.refused is None else Outcome.REFUSED

    @property
    def worst_margin(self) -> float | None:
        """The largest part of an allowance that any layer used, or None when none had one; inf counts."""
        return max((margin.worst for margin in self.margins), default=None)

    def complaints(self) -> list[str]:
        """Return why the scenario fails, a line each; empty when it passes or is refused."""
        lines = [str(finding) for finding in self.findings] + self.problems
        if lines and self.refused is not None:
            lines.append(f"refused behind that: {self.refused}")
        if not lines and self.refused is None and self.judged_bytes == 0:
            lines.append("nothing was compared: no layer wrote a byte that was expected")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, for files."""
        return {
            "outcome": self.outcome.value,
            "complaints": self.complaints(),
            "refused": self.refused,
            "judged_bytes": self.judged_bytes,
            "written_bytes": self.written_bytes,
            "repeated_bytes": self.repeated_bytes,
            "layers": self.layers,
            "cycles": self.cycles,
            "crc_passed": self.crc_passed,
            "crc_failed": self.crc_failed,
            "memory_faults": self.memory_faults,
            "counters": self.counters,
            "margins": [str(margin) for margin in self.margins],
            "worst_margin": self.worst_margin,
        }
