"""The layers of a program, and whether it can be judged, found out without playing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.errors import InputError
from nvdla_tb.judge.tracker import LayerTracker, StartedLayer
from nvdla_tb.nvdla.program.ops import InterruptNotify, LineWait, Poll, Program, RegRead, RegWrite
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.registers import INTR_STATUS, RegisterError
from nvdla_tb.stimulus.player import InstantPlayer
from nvdla_tb.stimulus.scenario import Scenario


def refusal(ops: Program, config: HwConfig, *, golden: bool = False) -> str | None:
    """Say why a program cannot be judged on a configuration.

    Operations count in the order in which they are played, and a layer ends with the notification of its interrupt.

    Args:
        ops: the program.
        config: the configuration.
        golden: whether golden results judge it where it is not predicted; then only what the configuration lacks is a
            reason.

    Returns:
        The reason with register, field and rule, or None when every layer is predicted. A register
        that the configuration lacks is such a reason.
    """
    try:
        for _ in started_layers(ops, config):
            pass
    except Refused as error:
        return None if golden and not error.lacking else str(error)
    except RegisterError as error:
        return str(error)
    return None


def with_takers(reason: str, config: HwConfig, make: Callable[[HwConfig], Scenario]) -> str:
    """Return why a configuration refuses a stimulus, with the built-in ones that take it.

    Args:
        reason: the reason.
        config: the configuration.
        make: returns the scenario of the stimulus for a configuration; it may raise ``InputError``.
    """
    names = takers(config, make)
    return f"{reason}; taken by {', '.join(names)}" if names else reason


def takers(config: HwConfig, make: Callable[[HwConfig], Scenario]) -> list[str]:
    """Return the built-in configurations besides one that take a stimulus.

    Args:
        config: the configuration.
        make: returns the scenario of the stimulus for a configuration; it may raise ``InputError``.
    """
    names = []
    for name in builtin_names():
        if name != config.name:
            other = HwConfig.load(name)
            with suppress(InputError):
                if refusal(make(other).ops, other) is None:
                    names.append(name)
    return names


def started_layers(ops: Program, config: HwConfig) -> Iterator[StartedLayer]:
    """Yield the layers that a program starts, in the order in which they are played; see ``refusal``.

    They end where the program waits for what never comes.

    Raises:
        Refused: for a layer that is illegal or not modelled.
        RegisterError: for a register that the configuration lacks.
    """
    player, tracker = InstantPlayer(ops), LayerTracker(config)
    for step in player.steps():
        match step:
            case RegWrite():
                for started in tracker.write(tracker.state.registers.parse(step.register), step.value):
                    player.fire(tracker.interrupts_of(started))
                    yield started
            case RegRead() | Poll():
                tracker.state.registers.parse(step.register)
                if step.register == INTR_STATUS:
                    tracker.finish_all()
            case InterruptNotify():
                tracker.finish(step.unit, step.group)
            case LineWait():
                tracker.finish_all()
