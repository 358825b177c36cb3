"""cocotb tests, started by test_port_rules.py: slaves that break a rule of the memory port."""

from __future__ import annotations

from collections.abc import Callable

import cocotb
from cocotb.handle import SimHandleBase

from models.config import HwConfig
from tb.judge.detail import PortViolation
from tb.judge.port_rules import PortRule
from tb.nvdla.memory import Ram
from tb.sim.bench import Bench
from tb.sim.memory_slave import _Response
from tb.stimulus.settings import BenchSettings, PortSettings
from tests.sim.checkers import pass_through

CONFIG = HwConfig.load("nv_small")
SETTINGS = BenchSettings(hang_cycles=3000, port=PortSettings(latency_cycles=12))
UNKNOWN_ID = 0x55
Push = Callable[[_Response], None]


async def expect_broken(
    dut: SimHandleBase, rule: int, kind: str, break_it: Callable[[Push, _Response, int], None]
) -> None:
    """Play a layer with a slave whose answers are tampered with, and require that the rule is named.

    Args:
        dut: the device.
        rule: index into ``RULES``.
        kind: ``reads`` or ``writes``: the answers that ``break_it`` queues.
        break_it: is called with what queues an answer, the answer, and its number.
    """
    bench = await Bench.start(dut, CONFIG, SETTINGS)
    queue = getattr(bench.slaves[Ram.MC], f"_{kind}")
    push, seen = queue.append, [0]

    def tampered(response: _Response) -> None:
        break_it(push, response, seen[0])
        seen[0] += 1

    queue.append = tampered
    await bench.run(pass_through(bench, (16, 4, 5)))
    verdict = bench.finish()
    assert verdict.ending.is_failure
    (finding,) = (found for found in verdict.findings if found.detail == PortViolation(Ram.MC, rule))
    assert finding.cycle is not None


def again(response: _Response) -> _Response:
    return _Response(response.axi_id, response.due, response.address, response.beats)


@cocotb.test()
async def a_read_that_is_answered_twice(dut: SimHandleBase) -> None:
    def twice(push: Push, response: _Response, number: int) -> None:
        push(response)
        if number == 19:
            push(again(response))

    # The last but one, as data that come too soon would be taken for those of the next read.
    await expect_broken(dut, PortRule.READ_UNASKED, "reads", lambda push, response, n: twice(push, response, n))


@cocotb.test()
async def a_read_that_is_answered_with_another_id(dut: SimHandleBase) -> None:
    def other(push: Push, response: _Response, number: int) -> None:
        response.axi_id = UNKNOWN_ID if number == 3 else response.axi_id
        push(response)

    await expect_broken(dut, PortRule.READ_UNASKED, "reads", other)


@cocotb.test()
async def answers_of_an_id_that_overtake_each_other(dut: SimHandleBase) -> None:
    held: list[_Response] = []

    def swapped(push: Push, response: _Response, number: int) -> None:
        if number == 4:
            held.append(response)
            return
        push(response)
        if number == 5:
            assert response.axi_id == held[0].axi_id
            push(held[0])

    await expect_broken(dut, PortRule.READ_DATA, "reads", swapped)


@cocotb.test()
async def read_data_that_memory_does_not_hold(dut: SimHandleBase) -> None:
    def flipped(push: Push, response: _Response, number: int) -> None:
        if number == 7:
            response.beats = [bytes([beat[0] ^ 1, *beat[1:]]) for beat in response.beats]
        push(response)

    await expect_broken(dut, PortRule.READ_DATA, "reads", flipped)


@cocotb.test()
async def an_answer_with_too_many_beats(dut: SimHandleBase) -> None:
    def longer(push: Push, response: _Response, number: int) -> None:
        if number == 7:
            response.beats = response.beats * 2
        push(response)

    await expect_broken(dut, PortRule.READ_LAST, "reads", longer)


@cocotb.test()
async def a_write_that_is_answered_twice(dut: SimHandleBase) -> None:
    def twice(push: Push, response: _Response, number: int) -> None:
        push(response)
        push(again(response))

    await expect_broken(dut, PortRule.WRITE_UNASKED, "writes", twice)


@cocotb.test()
async def a_write_that_is_answered_with_another_id(dut: SimHandleBase) -> None:
    def other(push: Push, response: _Response, number: int) -> None:
        if number == 1:
            push(_Response(UNKNOWN_ID, response.due, response.address, response.beats))
        push(response)

    await expect_broken(dut, PortRule.WRITE_UNASKED, "writes", other)


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
