"""What a run has proven and what it has not, and the command that is the gate."""

from __future__ import annotations

from collections.abc import Sequence

from tb.places import COMMAND

GATE = "L1"
"""The level that a change of RTL must pass."""

_BEYOND = {"L2", "L3"}


def command(dut: str) -> str:
    """Return the gate.

    Args:
        dut: options that select the device.
    """
    return f"{COMMAND} regress plan --level {GATE} {dut}"


def after_plan(plan: str, scenarios: int, only: Sequence[str] | None, *, passed: bool, dut: str) -> str:
    """Return what was proven by the scenarios of a plan, each with one seed.

    Args:
        plan: its name.
        scenarios: how many were played.
        only: the patterns that chose them, None for all.
        passed: whether nothing failed.
        dut: options that select the device.
    """
    which = f"the {scenarios} scenarios of {plan}" if only is None else f"{scenarios} chosen scenarios of {plan}"
    lines = [
        f"proven: every byte that {which} write is right, with one seed",
        "not proven: other sizes, modes, overlaps and orders, in which random layers find bugs that it misses",
    ]
    return "\n".join([*(lines if passed else ()), f"the gate is: {command(dut)}"])


def after_regression(title: str, *, passed: bool) -> str:
    """Return what was proven by a regression.

    Args:
        title: of its run: a level, or what was played.
        passed: whether everything was played and nothing failed.
    """
    if title == GATE or title in _BEYOND:
        what = "the gate" if title == GATE else "the gate and more"
        return f"level {title}, {what}: {'passed' if passed else 'not passed'}; its holes are what it does not reach"
    return f"not the gate, which is level {GATE} or more: {COMMAND} regress plan --level {GATE}"
