"""cocotb tests, started by test_port_rules.py: slaves that break a rule of the memory port."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cocotb
from cocotb.handle import SimHandleBase

from nvdla_models.config import HwConfig
from nvdla_tb.gate_tests.checkers import pass_through
from nvdla_tb.judge.detail import PortViolation
from nvdla_tb.judge.port_rules import PortRule
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.dbb_memory import _Response
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings

CONFIG = HwConfig.load("nv_small")
SETTINGS = BenchSettings(hang_cycles=3000, port=PortSettings(latency_cycles=12))
UNKNOWN_ID = 0x55
Queued = Callable[[list[_Response]], list[_Response]]


def at(number: int, *queued: Callable[[_Response], _Response]) -> Queued:
    """Return what is queued in place of the answer of a number: others, made of it; the rest stay as they are."""
    return lambda answers: [make(answers[-1]) for make in queued] if len(answers) == number + 1 else answers[-1:]


def same(answer: _Response) -> _Response:
    return replace(answer)


def with_another_id(answer: _Response) -> _Response:
    return replace(answer, axi_id=UNKNOWN_ID)


def with_a_wrong_byte(answer: _Response) -> _Response:
    return replace(answer, beats=[bytes([beat[0] ^ 1, *beat[1:]]) for beat in answer.beats])


def with_twice_the_beats(answer: _Response) -> _Response:
    return replace(answer, beats=answer.beats * 2)


def swapped(answers: list[_Response]) -> list[_Response]:
    """Hold answer 4 until the next one, of the same id, is queued."""
    if len(answers) == 6:
        assert answers[4].axi_id == answers[5].axi_id
        return [answers[5], answers[4]]
    return [] if len(answers) == 5 else answers[-1:]


FAULTS: dict[str, tuple[PortRule, str, Queued]] = {
    # The last but one, as data that come too soon would be taken for those of the next read.
    "a read is answered twice": (PortRule.READ_UNASKED, "reads", at(19, same, same)),
    "a read is answered with another id": (PortRule.READ_UNASKED, "reads", at(3, with_another_id)),
    "answers of an id overtake each other": (PortRule.READ_DATA, "reads", swapped),
    "read data are not those of memory": (PortRule.READ_DATA, "reads", at(7, with_a_wrong_byte)),
    "an answer has too many beats": (PortRule.READ_LAST, "reads", at(7, with_twice_the_beats)),
    "a write is answered twice": (PortRule.WRITE_UNASKED, "writes", lambda answers: [answers[-1], same(answers[-1])]),
    "a write is answered with another id": (PortRule.WRITE_UNASKED, "writes", at(1, with_another_id, same)),
}
"""The rule that is broken, reads or writes, and from all answers so far what is queued in place of the last."""


@cocotb.test()
@cocotb.parametrize(fault=list(FAULTS))
async def a_slave_that_breaks_a_rule(dut: SimHandleBase, fault: str) -> None:
    rule, kind, queued = FAULTS[fault]
    bench = await Bench.start(dut, CONFIG, SETTINGS)
    queue = getattr(bench.slaves[Ram.MC], f"_{kind}")
    push, answers = queue.append, list[_Response]()

    def tampered(answer: _Response) -> None:
        answers.append(answer)
        for each in queued(answers):
            push(each)

    queue.append = tampered
    await bench.run(pass_through(bench, (16, 4, 5)))
    verdict = bench.finish()
    assert verdict.ending.is_failure
    bench.expect_findings(*{finding.check for finding in verdict.findings})
    (finding,) = (found for found in verdict.findings if found.detail == PortViolation(Ram.MC, rule))
    assert finding.cycle is not None


@cocotb.test()
async def a_slave_that_keeps_all_rules_is_not_complained_of(dut: SimHandleBase) -> None:
    port = PortSettings(latency_cycles=9, jitter_cycles=30, ready_stall=0.3, valid_stall=0.3, reorder=True)
    bench = await Bench.start(dut, CONFIG, BenchSettings(port=port), seed=3)
    seen = [0, 0]
    rules = bench.monitors[Ram.MC]._rules
    for number, name in enumerate(("read_answer", "write_answer")):
        judge = getattr(rules, name)

        def counted(*arguments, judge=judge, number=number, **named) -> None:
            seen[number] += 1
            judge(*arguments, **named)

        setattr(rules, name, counted)
    await bench.run(pass_through(bench, (24, 4, 4)), pass_through(bench, (8, 2, 3)))
    bench.check()
    assert seen == [54, 54], "every read and every write must have been judged once"
