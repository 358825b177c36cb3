"""The result of judging one scenario: counts and findings."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import inf

import msgspec

from nvdla_models.layout import Element
from nvdla_tb.judge.detail import Mismatch, MoreUnmappedAccesses, Note, Nothing, UnmappedAccess
from nvdla_tb.judge.finding import BYTES, Check, Finding
from nvdla_tb.nvdla.memory import Ram


class Ending(Enum):
    """How a test ended."""

    PASSED = "passed"
    GOLDEN = "golden equal"
    REFUSED = "refused"
    MISMATCH = "mismatch"
    EMPTY = "nothing compared"
    CHECK = "failed check"
    TEST_ERROR = "test error"
    PROTOCOL = "protocol error"
    HANG = "hang"
    CRASH = "crash"
    TIMEOUT = "timeout"
    BENCH_ERROR = "bench error"
    BUILD_ERROR = "build error"
    LOST = "lost worker"
    NOT_PLAYED = "not played"

    @property
    def is_failure(self) -> bool:
        """Whether the test has failed."""
        return self not in (Ending.PASSED, Ending.GOLDEN, Ending.REFUSED)


_ENDINGS = (
    (Ending.NOT_PLAYED, (Check.NOT_PLAYED,)),
    (Ending.LOST, (Check.LOST,)),
    (Ending.BUILD_ERROR, (Check.BUILD,)),
    (Ending.CRASH, (Check.CRASH,)),
    (Ending.TIMEOUT, (Check.TIMEOUT,)),
    (Ending.BENCH_ERROR, (Check.BENCH, Check.INPUT)),
    # What the device did wrong outweighs what its test says or raises because of it.
    (Ending.HANG, (Check.HANG,)),
    (Ending.MISMATCH, (*BYTES, Check.GOLDEN)),
    (Ending.TEST_ERROR, (Check.RAISED,)),
    (Ending.CHECK, (Check.TEST,)),
    (Ending.EMPTY, (Check.EMPTY,)),
)
"""The ending that findings make, the first that applies; all others are errors of protocol."""


class Margin(msgspec.Struct, frozen=True):
    """How close one layer came to its tolerance.

    Attributes:
        layer: name of the layer.
        module: whose rule it is, as the table of thresholds calls it.
        rule: the rule as text.
        elements: how many were compared.
        worst: largest part of an allowance that was used; above 1 is a failure, None is more than any part.
        at: the element that used it.
    """

    layer: str
    module: str
    rule: str
    elements: int
    worst: float | None
    at: Element


class Altered(msgspec.Struct, frozen=True):
    """Bytes that a test changed for the DUT alone."""

    ram: Ram
    address: int
    nbytes: int


class Verdict(msgspec.Struct):
    """Counts and findings of one scenario; grows while it runs.

    ::

        if bench.verdict.ending is Ending.MISMATCH:
            first = bench.verdict.findings[0]

    Attributes:
        judged_bytes: bytes that were compared with an expectation.
        written_bytes: bytes that the DUT wrote.
        repeated_bytes: bytes that it wrote once more with the same value.
        layers: layers that were judged.
        cycles: clock cycles that the scenario took.
        crc_passed: golden results that memory has.
        crc_failed: golden results that it does not have.
        memory_faults: accesses that memory refuses.
        counters: statistics that were judged.
        differing_bytes: golden bytes that the bit-accurate model does not reproduce, tolerated or not.
        margins: one for each layer that a tolerance judged.
        findings: findings, in the order in which they were found.
        refused: reason why the scenario was not judged, or None.
        self_checking: whether a test in Python checks by itself, so that it need not compare bytes.
        registers: reads and polls of registers that were compared with an expected value.
        unchecked: reads and polls that were not compared, because nothing predicts their value.
        unpredicted: whether the program was played to its end although a layer was refused; only golden results judge
            it then.
        golden_bytes: bytes of equal golden results that the DUT wrote in such a program.
        unmapped: accesses of addresses without a register.
        first_unmapped: the first few of them.
        expected: checks that a test in Python declares with ``expect_findings``.
        expects_refusal: whether it declares that a layer must be refused.
        altered: bytes that it changed with ``Bench.alter``.
        before_refusal: how many findings there were before a layer was refused.
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
    differing_bytes: int = 0
    margins: list[Margin] = []
    findings: list[Finding] = []
    refused: str | None = None
    self_checking: bool = False
    registers: int = 0
    unchecked: int = 0
    unpredicted: bool = False
    golden_bytes: int = 0
    unmapped: int = 0
    first_unmapped: list[UnmappedAccess] = []
    expected: list[Check] = []
    expects_refusal: bool = False
    altered: list[Altered] = []
    before_refusal: int = 0

    @classmethod
    def not_played(cls) -> Verdict:
        """Return the verdict of a test that a run is to play and has not played."""
        return cls.of(Check.NOT_PLAYED, "the run has not come to it, or was ended before")

    @classmethod
    def of(cls, check: Check, message: str) -> Verdict:
        """Return the verdict of a test that ended with one finding and a message."""
        return cls(findings=[Finding(check, Note(message))])

    def add(self, finding: Finding) -> None:
        """Add a finding; wrong bytes of the same check and layer are summed up, and the first stays."""
        for number, other in enumerate(self.findings):
            if other.check is finding.check and other.layer == finding.layer:
                known, more = other.detail, finding.detail
                if isinstance(known, Mismatch) and isinstance(more, Mismatch):
                    detail = msgspec.structs.replace(
                        known, nbytes=known.nbytes + more.nbytes, elements=known.elements + more.elements
                    )
                    self.findings[number] = msgspec.structs.replace(other, detail=detail)
                    return
        self.findings.append(finding)

    @property
    def wrong_bytes(self) -> list[Finding]:
        """The findings about bytes."""
        return [finding for finding in self.findings if finding.check in BYTES]

    @property
    def failures(self) -> list[Finding]:
        """Why the scenario fails, wrong bytes first; empty when it passes or is refused."""
        found = self.wrong_bytes + [finding for finding in self.findings if finding.check not in BYTES]
        # Where layers run, it is their bytes that count.
        compared = self.judged_bytes or self.self_checking or (self.registers and not self.layers)
        if not (self.refused or compared) and all(
            isinstance(finding.detail, UnmappedAccess | MoreUnmappedAccesses) for finding in found
        ):
            # It names the accesses that hit nothing.
            found = [Finding(Check.EMPTY, Nothing(self.unmapped, tuple(self.first_unmapped)))]
        return [finding for finding in found if finding.check not in self.expected] + self._lacking(found)

    def _lacking(self, found: Sequence[Finding]) -> list[Finding]:
        """Return a finding for each one that a test expects and that there is not."""
        there = {finding.check for finding in found}
        lacking = [f"finding of the check {check.value}" for check in self.expected if check not in there]
        lacking += ["refusal of a layer"] if self.expects_refusal and self.refused is None else []
        return [Finding(Check.TEST, Note(f"the test expects a {what}, and there was none")) for what in lacking]

    @property
    def ending(self) -> Ending:
        """How the scenario ended: passed only when something was compared and nothing was wrong."""
        checks = {finding.check for finding in self.failures}
        if not checks:
            if self.refused is None or self.expects_refusal:
                return Ending.PASSED
            return Ending.GOLDEN if self.unpredicted and self.golden_bytes else Ending.REFUSED
        return next((ending for ending, those in _ENDINGS if checks.intersection(those)), Ending.PROTOCOL)

    @property
    def needs_explanation(self) -> bool:
        """Whether anything was found that nobody expects."""
        return bool(self.findings) and self.ending.is_failure

    @property
    def signature(self) -> tuple[str, ...]:
        """The signature that failures of one cause share: that of the first finding; empty when nothing failed."""
        failures = self.failures
        return failures[0].signature if failures else ()

    @property
    def kind(self) -> tuple[str, ...]:
        """The signature without the register group; empty when nothing failed."""
        failures = self.failures
        return failures[0].kind if failures else ()

    @property
    def worst_margin(self) -> float | None:
        """The largest part of an allowance that any layer used, or None when none had one; inf counts."""
        return max((inf if margin.worst is None else margin.worst for margin in self.margins), default=None)
