"""The parts of the hardware that a hang points at: from the units that run, and what they wait for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tb.explain.units import (
    CSB,
    FLOW,
    MEMORY_INTERFACE,
    READ_SIDE,
    WRITE_SIDE,
    WRITERS,
    Part,
    Suspect,
    Unit,
    part,
    parts,
    passed,
    units_named,
    writer_of,
)
from tb.judge.detail import Hang, Unmatched
from tb.judge.layer_id import LayerId


def of_hang(hang: Hang, missing: Sequence[LayerId | None]) -> Suspect:
    """Return what a hang points at.

    Args:
        hang: What was outstanding.
        missing: Layers that owe bytes.
    """
    if hang.unanswered is not None or hang.csb is not None:
        return Suspect(CSB, "an access has no answer")
    for halves in hang.unmatched:
        return unmatched(halves, [layer.engine for layer in hang.running])
    states = {state.unit: state.states for state in hang.units}
    running = [unit for unit in FLOW if "RUNNING" in states.get(unit, ())]
    if not running:
        return _idle(hang, missing)
    first, *after = running
    taking = _taking(after)
    if hang.requests:
        because = f"{first} waits, and {len(hang.requests)} requests are open"
        return Suspect((Part("memory", ()), MEMORY_INTERFACE, part(first), *taking), because)
    through = set().union(*(passed(layer.engine) for layer in hang.running))
    # Nothing in a layer comes before its readers, which may well be done.
    after_it = [unit for unit in FLOW[FLOW.index(first) :] if unit in through and not unit.endswith("_RDMA")]
    resting = [unit for unit in after_it if unit not in running]
    if resting:
        waits = "waits for its other group" if resting[0] in states else "is done"
        return Suspect(parts((resting[0], first)), f"{resting[0]} {waits}, and {first} before it is not done")
    before = [unit for unit in FLOW[: FLOW.index(first)] if unit in through and unit not in states]
    done = f"; {', '.join(before)} before it {'are' if len(before) > 1 else 'is'} done" if before else ""
    if first.endswith("_RDMA") or first == "CDMA":
        because = f"{first} still reads, and no request is open{done}"
        return Suspect((part(first), *taking, READ_SIDE), because)
    feeding = Part("what feeds it", units_named(*before[-1:]))
    rest = (*(taking if after else ()), *([WRITE_SIDE] if running[-1] in WRITERS else []))
    return Suspect((part(first), feeding, *rest), f"the first unit that is not done{done}")


def _idle(hang: Hang, missing: Sequence[LayerId | None]) -> Suspect:
    """Return what a hang points at in which no unit runs."""
    waited = list(dict.fromkeys(name.rpartition("_")[0] for name in hang.waiting_for))
    if not waited or hang.units:
        names = [state.unit for state in hang.units] or ["unknown"]
        return Suspect(parts(names), "the program waits, and no unit is running")
    lost = [layer for layer in hang.running if layer in missing]
    if lost:
        writer = writer_of(lost[0].engine)
        because = "every unit is idle, and not all bytes were written"
        return Suspect((part(writer, "{}, its writes"), WRITE_SIDE), because)
    return Suspect(tuple(done_event(*waited)), "every unit is idle, and the interrupt never came")


def _taking(after: Sequence[str]) -> tuple[Part, ...]:
    """Return the units that may not take what the first one hands on."""
    if not after:
        return (Part("what takes its data", ()),)
    if len(after) == 1:
        return (part(after[0], "{} that takes its data"),)
    return (Part("a unit after it that takes no more data", units_named(*after)),)


def unmatched(halves: Unmatched, engines: Sequence[str]) -> Suspect:
    """Return what halves of writes point at.

    Args:
        halves: How many there are.
        engines: Of the layers that write, as they are called in messages.
    """
    counts = ((halves.addresses, "addresses without data"), (halves.beats, "data without address"))
    writers = units_named(*dict.fromkeys(map(writer_of, engines)))
    because = f"it sent {' and '.join(f'{n} {what}' for n, what in counts if n)}"
    return Suspect((WRITE_SIDE, Part("the unit that writes", writers)), because)


def done_event(*units: str) -> Iterator[Part]:
    """Yield the parts that a missing done event of units points at; those that write wait for answers."""
    yield Part(f"done event of {', '.join(units)}", units_named(*units))
    if any(unit in WRITERS for unit in units):
        yield Part("the answers to its writes", (Unit.MEMORY,))
    yield part("GLB")
