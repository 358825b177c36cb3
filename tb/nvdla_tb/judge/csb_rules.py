"""The rules of CSB's answers: each belongs to one request, and nothing is said in reset."""

from __future__ import annotations

from collections.abc import Callable

from nvdla_tb.judge.rule import NumberedRule

RESTING_EDGES = 15
"""Edges in reset after which outputs must rest; as in the harness's Verilog."""


class CsbRule(NumberedRule):
    """The rules, in the order in which the compiled harness counts them.

    Source: integration manual, "Configuration space bus": a posted write gets no answer. Measured on the public
        nv_small RTL: none of its outputs is high while it is held in reset. Read off it: GLB hands the line over to
        CSB's clock.
    """

    READ_UNASKED = "nvdla2csb_valid must answer a read that was accepted and not answered"
    WRITE_UNASKED = "nvdla2csb_wr_complete must answer a non-posted write that was accepted and not answered"
    READ_IN_RESET = "nvdla2csb_valid must be low in reset"
    WRITE_IN_RESET = "nvdla2csb_wr_complete must be low in reset"
    LINE_IN_RESET = "dla_intr must be low in reset"
    LINE_OFF_CLOCK = "dla_intr must change with the rising edges of CSB's clock"


class CsbRules:
    """Judges CSB's answers, edge by edge.

    ::

        rules = CsbRules(violate)
        rules.answers(read=valid, write=complete)   # at each edge, before what is accepted at it
        rules.accept(is_write=True, posted=False)
    """

    def __init__(self, violate: Callable[[int], None]) -> None:
        """Take what is called with the rule, when one is broken for the first time."""
        self._violate = violate
        self._broken: set[int] = set()
        self.flush()

    def flush(self) -> None:
        """Forget requests, as a reset of the DUT does."""
        self._reads = self._writes = 0

    @property
    def waits(self) -> bool:
        """Whether an answer is owed."""
        return bool(self._reads or self._writes)

    def accept(self, *, is_write: bool, posted: bool) -> None:
        """Note a request that was accepted."""
        if not is_write:
            self._reads += 1
        elif not posted:
            self._writes += 1

    def answers(self, *, read: bool, write: bool) -> None:
        """Judge the answers of one edge."""
        if read:
            self._take(CsbRule.READ_UNASKED, self._reads)
            self._reads = max(self._reads - 1, 0)
        if write:
            self._take(CsbRule.WRITE_UNASKED, self._writes)
            self._writes = max(self._writes - 1, 0)

    def in_reset(self, *, read: bool, write: bool, line: bool) -> None:
        """Judge what is high in reset."""
        highs = {CsbRule.READ_IN_RESET: read, CsbRule.WRITE_IN_RESET: write, CsbRule.LINE_IN_RESET: line}
        for rule, high in highs.items():
            if high:
                self._find(rule)

    def line(self, *, clock_is_low: bool) -> None:
        """Judge a change of the interrupt line out of reset; a delay in the RTL may last while the clock is high."""
        if clock_is_low:
            self._find(CsbRule.LINE_OFF_CLOCK)

    def _take(self, rule: int, owed: int) -> None:
        if not owed:
            self._find(rule)

    def _find(self, rule: int) -> None:
        if rule not in self._broken:
            self._broken.add(rule)
            self._violate(rule)
