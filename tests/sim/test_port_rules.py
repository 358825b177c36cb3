"""Every rule of the memory ports and of interrupts is shown a device that breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.generate.plan import PlanEntry
from tb.judge.port_rules import READ_DATA, READ_LAST, READ_UNASKED, RULES, WRITE_UNASKED, PortRules
from tb.judge.verdict import Outcome
from tb.launch.build import Built
from tb.launch.simulate import simulate
from tb.regress.jobs import Job, run_job
from tests.sim.conftest import coroutines_of

CONFIG = HwConfig.load("nv_small")
LAYER = {"engine": "SDP", "shape": [16, 5, 8], "x1": {"alu": "sum", "alu_operand": "element"}}
SETTINGS = {"hang_cycles": 3000, "port": {"latency_cycles": 5, "ready_stall": 0.5}}
SCENARIO = PlanEntry("it", "", "nv_small", {"settings": SETTINGS, "layer": [LAYER]}).build(CONFIG, 1)
BROKEN = {
    "axi_arvalid_dropped": RULES[0],
    "axi_read_address_unstable": RULES[1],
    "axi_awvalid_dropped": RULES[2],
    "axi_write_address_unstable": RULES[3],
    "axi_wvalid_dropped": RULES[4],
    "axi_write_data_unstable": RULES[5],
    "axi_wlast": RULES[6],
}


def complaints(built: Built, folder: Path, bug: str | None) -> tuple[Outcome, tuple[str, ...]]:
    job = Job("it", 1, "rerun", lambda: SCENARIO)
    if bug is not None:
        job = replace(job, plusargs=(f"+bug={bug}",))
    result = run_job(job, built, "nv_small", folder, 200, waves=False)
    return result.outcome, result.complaints


def test_the_sound_device_breaks_no_rule(built: Built, tmp_path: Path) -> None:
    assert complaints(built, tmp_path, None) == (Outcome.PASSED, ())


@pytest.mark.parametrize("bug", BROKEN)
def test_a_broken_rule_of_the_memory_port_is_reported(built: Built, tmp_path: Path, bug: str) -> None:
    outcome, said = complaints(built, tmp_path, bug)
    assert outcome is Outcome.FAILED
    wanted = re.compile(rf"protocol: MC: {re.escape(BROKEN[bug])} \(broken at cycle \d+\)")
    assert any(wanted.fullmatch(line) for line in said), said


@pytest.mark.parametrize(
    ("bug", "pattern"),
    [
        (
            "axi_awlen",
            r"(hang: .*\n(.*\n)*  )?MC: \d+ write addresses without all data, \d+ beats without address(\n.*)*",
        ),
        ("sdp_interrupt_at_start", r"missing write: \d+ elements; layer 0 \(SDP, group 0\): .*"),
        ("axi_read_id", r"hang: nothing moved for 3000 cycles(.|\n)*"),
        ("axi_write_id", r"hang: nothing moved for 3000 cycles(.|\n)*"),
    ],
)
def test_beats_without_address_early_interrupts_and_foreign_ids_are_reported(
    built: Built, tmp_path: Path, bug: str, pattern: str
) -> None:
    outcome, said = complaints(built, tmp_path, bug)
    assert outcome is Outcome.FAILED
    assert any(re.fullmatch(pattern, line) for line in said), said


@pytest.mark.parametrize(("bug", "event"), [("interrupt_wrong_group", "SDP_1"), ("interrupt_wrong_unit", "PDP_0")])
def test_an_interrupt_that_no_layer_owes_is_reported(built: Built, tmp_path: Path, bug: str, event: str) -> None:
    outcome, said = complaints(built, tmp_path, bug)
    assert outcome is Outcome.FAILED
    wanted = re.compile(rf"protocol: interrupt {event} must be that of a layer that was started \(cycle \d+\)")
    assert any(wanted.fullmatch(line) for line in said), said


@pytest.mark.parametrize("name", coroutines_of("answers"))
def test_a_slave_that_breaks_a_rule_is_reported(built: Built, tmp_path: Path, name: str) -> None:
    if built.spec.native:
        pytest.skip("coroutine back end only: the compiled slave cannot be tampered with")
    result = simulate(
        built,
        test_module="tests.sim.answers",
        testcase=name,
        env={"NVDLA_CONFIG": "nv_small"},
        work_dir=tmp_path,
        timeout_seconds=120,
    )
    assert result.passed, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"


def broken(play: Callable[[PortRules], None]) -> list[int]:
    """Return the rules that are broken by what ``play`` lets a port's judge see."""
    found: list[int] = []
    play(PortRules(found.append))
    return found


@pytest.mark.parametrize(("channel", "dropped"), [("ar", 0), ("aw", 2), ("w", 4), ("r", 7), ("b", 9)])
def test_what_a_channel_offers_must_stay_until_it_is_taken(channel: str, dropped: int) -> None:
    def drop(rules: PortRules) -> None:
        rules.offer(channel, (1, 2), taken=False)
        rules.offer(channel, None, taken=True)

    def change(rules: PortRules) -> None:
        rules.offer(channel, (1, 2), taken=False)
        rules.offer(channel, (1, 3), taken=True)

    def keep(rules: PortRules) -> None:
        rules.offer(channel, (1, 2), taken=False)
        rules.offer(channel, (1, 2), taken=True)
        rules.offer(channel, (1, 3), taken=True)
        rules.offer(channel, None, taken=False)

    assert (broken(drop), broken(change), broken(keep)) == ([dropped], [dropped + 1], [])


def test_answers_keep_the_order_of_their_id_and_may_overtake_those_of_others() -> None:
    def reads(rules: PortRules) -> None:
        rules.read(1, [10, 11])
        rules.read(2, [20])
        rules.read(1, [None])

    def sound(rules: PortRules) -> None:
        reads(rules)
        rules.read_answer(2, 20, last=True)
        rules.read_answer(1, 10, last=False)
        rules.read_answer(1, 11, last=True)
        rules.read_answer(1, 99, last=True)

    def out_of_order(rules: PortRules) -> None:
        reads(rules)
        rules.read_answer(1, 11, last=False)

    def too_short(rules: PortRules) -> None:
        reads(rules)
        rules.read_answer(1, 10, last=True)

    def twice(rules: PortRules) -> None:
        reads(rules)
        rules.read_answer(2, 20, last=True)
        rules.read_answer(2, 20, last=True)

    assert [broken(play) for play in (sound, out_of_order, too_short, twice)] == [
        [],
        [READ_DATA],
        [READ_LAST],
        [READ_UNASKED],
    ]


def test_a_write_is_answered_once_and_with_its_id() -> None:
    def sound(rules: PortRules) -> None:
        rules.write(1)
        rules.write(1)
        rules.write_answer(1)
        rules.write_answer(1)

    def twice(rules: PortRules) -> None:
        sound(rules)
        rules.write_answer(1)

    def other(rules: PortRules) -> None:
        rules.write(1)
        rules.write_answer(2)

    assert [broken(play) for play in (sound, twice, other)] == [[], [WRITE_UNASKED], [WRITE_UNASKED]]


def test_a_rule_is_reported_once_and_a_reset_forgets_what_is_owed() -> None:
    def often(rules: PortRules) -> None:
        for _ in range(3):
            rules.write_answer(1)

    def reset(rules: PortRules) -> None:
        rules.offer("ar", (1,), taken=False)
        rules.read(1, [5])
        rules.flush()
        rules.offer("ar", None, taken=False)
        rules.read_answer(1, 5, last=True)

    assert (broken(often), broken(reset)) == ([WRITE_UNASKED], [READ_UNASKED])
