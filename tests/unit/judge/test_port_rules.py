"""The rules of a memory port, each broken by what its judge sees."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nvdla_tb.judge.port_rules import READ_CLIENTS, WRITE_CLIENTS, PortRule, PortRules


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
        [PortRule.READ_DATA],
        [PortRule.READ_LAST],
        [PortRule.READ_UNASKED],
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

    assert [broken(play) for play in (sound, twice, other)] == [[], [PortRule.WRITE_UNASKED], [PortRule.WRITE_UNASKED]]


def test_ids_are_judged_where_they_are_those_of_clients() -> None:
    def found(*, judges_ids: bool) -> list[int]:
        seen: list[int] = []
        rules = PortRules(seen.append, judges_ids=judges_ids)
        for axi_id in (0, READ_CLIENTS - 1, READ_CLIENTS, 0xF8):
            rules.read(axi_id, [5])
        for axi_id in (0, WRITE_CLIENTS - 1, WRITE_CLIENTS):
            rules.write(axi_id)
        return seen

    assert found(judges_ids=True) == [PortRule.READ_CLIENT, PortRule.WRITE_CLIENT]
    assert found(judges_ids=False) == []


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

    assert (broken(often), broken(reset)) == ([PortRule.WRITE_UNASKED], [PortRule.READ_UNASKED])
