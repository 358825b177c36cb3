"""The unit that the findings of a failed run point at: from their data, and from where in a surface bytes are wrong.

A hang points at units that run, and at what they wait for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nvdla_tb.explain.cause_units import parts_of_fit
from nvdla_tb.explain.text import Explanation
from nvdla_tb.explain.units import (
    CSB,
    FLOW,
    MEMORY_INTERFACE,
    READ_SIDE,
    WRITE_SIDE,
    WRITERS,
    Part,
    Suspect,
    Unit,
    common,
    part,
    parts,
    parts_of,
    passed,
    shared,
    units_named,
    writer_of,
)
from nvdla_tb.judge.csb_rules import CsbRule
from nvdla_tb.judge.detail import (
    BadAccess,
    CsbViolation,
    DriverFault,
    EarlyAccess,
    EarlyInterrupt,
    Hang,
    MissingInterrupt,
    NoAnswer,
    PollExpired,
    PortViolation,
    Restless,
    UnexpectedInterrupt,
    UnfairTurns,
    Unmatched,
    WrongCounter,
    WrongLine,
    WrongOutstanding,
    WrongRegister,
)
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.verdict import Verdict

_READERS = {
    1: ("SDP", "SDP_RDMA (input)"),
    2: ("PDP", "PDP_RDMA"),
    3: ("CDP", "CDP_RDMA"),
    5: ("SDP", "SDP_RDMA (operands of X1)"),
    6: ("SDP", "SDP_RDMA (operands of X2)"),
    7: ("SDP", "SDP_RDMA (operands of Y)"),
    8: ("CONV", "CDMA (data)"),
    9: ("CONV", "CDMA (weights)"),
}
"""By id on the memory port, the engine whose request it is, and the unit that reads.

Source: measured on the public nv_small RTL; 7, which nv_small lacks, as the public hardware documents number clients.
"""

_COMPUTING = {
    "CONV": (Unit.CMAC, Unit.CACC, Unit.SDP_RDMA, Unit.SDP),
    "CONV-PDP": (Unit.CMAC, Unit.CACC, Unit.SDP_RDMA, Unit.SDP, Unit.PDP),
}
_WEIGHTS = "CDMA (weights)"
_BECAUSE = {
    "misplaced": "its bytes are right, at wrong addresses",
    "overwritten": "its bytes were right, and were overwritten",
    "altered": "the bytes that the test altered are the cause",
}
"""Causes of which more is known than that the unit's work looks so."""

_MANY, _FEW, _DENSE, _SCATTERED, _RARE = 0.8, 0.5, 0.5, 0.15, 0.03
"""Shares of pixels, of channels, of the elements where wrong ones of both meet, and of all elements."""


def suspects(verdict: Verdict, explanations: Sequence[Explanation] = (), cleared: Sequence[Unit] = ()) -> list[Suspect]:
    """Return the units that a failed run points at, the most telling evidence first; empty when nothing does.

    Where different findings point at different units, those that all have in common come before all.

    Args:
        verdict: What was found.
        explanations: Of its layers.
        cleared: Units whose data are known to be right.
    """
    if any(finding.layer is not None and finding.layer.frame is not None for finding in verdict.findings):
        # The second system has other units.
        return []
    ports = list(_of_ports(verdict))
    control = list(_of_control(verdict))
    wrong = [finding for finding in verdict.wrong_bytes if finding.layer is not None]
    # Bytes that are missing alone are those that a layer owes which never ended.
    written = [finding for finding in wrong if finding.check is not Check.MISSING] if control else wrong
    pointed = None if ports or not written else _of_bytes(written, explanations)
    found = [*ports, *_of_reads_without_end(verdict), *([] if pointed is None else [pointed]), *control]
    if not found and wrong:
        # All units that a wrong layer passes, where nothing says more.
        engine = next(finding.layer.engine for finding in wrong if finding.layer is not None)
        found = [Suspect(parts_of(engine), f"layers of {engine} are wrong")]
    for unit in cleared:
        found = [suspect.without(unit) for suspect in found]
    found = list(dict.fromkeys(found))
    shared_by_all = common([suspect.named for suspect in found], f"each of {len(found)} kinds of findings points at it")
    if shared_by_all is None or shared_by_all.named == found[0].named:
        return found
    # It is an alternative of nearly all units, which says nothing unless its ports do.
    if shared_by_all.named == (Unit.MEMORY,) and not ports:
        return found
    return [shared_by_all, *found]


def _of_ports(verdict: Verdict) -> Iterator[Suspect]:
    """Yield what the ports say, whatever was written."""
    details = [finding.detail for finding in verdict.failures]
    for detail in details:
        match detail:
            case Unmatched() as halves:
                yield _unmatched(halves, [f.layer.engine for f in verdict.findings if f.layer is not None])
            case WrongOutstanding(reading=reading):
                yield Suspect((_side(reading),), "it does not let out as many requests as it was told")
            case UnfairTurns(reading=reading):
                arbiter = Part(f"arbiter of the {_side(reading).words}", (Unit.MEMORY,))
                weights = Part("the weights that reach it", (Unit.MEMORY,))
                yield Suspect((arbiter, weights), "turns are not as long as the weights")
            case PortViolation():
                yield Suspect((MEMORY_INTERFACE,), "it breaks a rule of its port")
            case CsbViolation(rule=rule) if rule in (CsbRule.LINE_IN_RESET, CsbRule.LINE_OFF_CLOCK):
                yield Suspect(parts(["GLB"]), "the interrupt line changes when it must not")
            case NoAnswer() | CsbViolation():
                yield Suspect(CSB, "an access is not answered as it must be")
    registers = [detail for detail in details if isinstance(detail, WrongRegister)]
    units = sorted({detail.register.split(".")[0] for detail in registers})
    if len(units) == 1:
        names = {detail.register for detail in registers}
        many = f"{len(names)} of its registers read" if len(names) > 1 else "one of its registers reads"
        way = Part("the way to it in the CSB master", (Unit.CSB,))
        yield Suspect((part(units[0], "register file of {}"), way), f"{many} another value than was written")
    elif units:
        files = Part(CSB[1].words, units_named(*units))
        yield Suspect((CSB[0], files), f"registers of {', '.join(units)} read other values than were written")


def _of_reads_without_end(verdict: Verdict) -> Iterator[Suspect]:
    """Yield the first unit that reads on behind its data, of a run in which memory is accessed without an end."""
    details = [finding.detail for finding in verdict.failures]
    if any(isinstance(detail, Hang) and detail.in_vain for detail in details):
        reads = (each for each in details if isinstance(each, BadAccess) and each.reading and each.outside)
        first = next((read for read in reads if read.axi_id in _READERS and not read.named), None)
        if first is not None:
            _, unit = _READERS[first.axi_id]
            yield Suspect((part(unit),), f"it keeps reading beyond its data ({first.place}) and does not stop")


def _side(reading: bool) -> Part:
    return READ_SIDE if reading else WRITE_SIDE


def _of_control(verdict: Verdict) -> Iterator[Suspect]:
    """Yield what interrupts, states and addresses say."""
    bytes_are_right = not verdict.wrong_bytes
    engines = {finding.layer.engine.split("-")[0] for finding in verdict.findings if finding.layer is not None}
    driven = any(isinstance(finding.detail, DriverFault) for finding in verdict.failures)
    for finding in verdict.failures:
        match finding.detail:
            case Hang() as hang if driven and _rests(hang):
                yield Suspect((Part("the driver", ()),), "every unit is idle, and nothing is outstanding")
            case Hang() as hang:
                yield _of_hang(hang, [f.layer for f in verdict.wrong_bytes if f.check is Check.MISSING])
            case MissingInterrupt(name=name) if bytes_are_right:
                because = "all bytes are right, the interrupt alone is missing"
                yield Suspect(tuple(_done_event(_unit(name))), because)
            case UnexpectedInterrupt(name=name):
                event = part(_unit(name), "done event of {}")
                yield Suspect((event, part("GLB")), "an interrupt that no layer raises")
            case EarlyInterrupt() as early:
                answers = Part("the answers to writes in the memory interface", (Unit.MEMORY,))
                yield Suspect((part(_unit(early.name)), answers), "done before its last write was answered")
            case WrongLine():
                yield Suspect(parts(["GLB"]), "the interrupt line is not what its registers say")
            case WrongCounter(register=register) if bytes_are_right:
                statistics = part(register.split(".")[0], "statistics of {}")
                yield Suspect((statistics,), "all bytes are right, a counter is not")
            case PollExpired(register=register):
                polled = part(register.split(".")[0])
                yield Suspect((polled, Part("what it waits for", ())), "the state that is polled never comes")
            case EarlyAccess() | Restless():
                restless = Part("a unit that does not stop", ())
                yield Suspect((MEMORY_INTERFACE, restless), "memory is accessed without a layer")
            case BadAccess(named=True):
                yield Suspect((Part("the program", ()),), "its registers name memory outside every allocation")
            case BadAccess(reading=True, axi_id=number) if number in _READERS:
                engine, unit = _READERS[number]
                if engine in engines or not engines:
                    if finding.detail.outside:
                        yield Suspect((part(unit), READ_SIDE), "it reads where nothing of the layer lies")
                    else:
                        program = Part("the program", ())
                        yield Suspect((part(unit), READ_SIDE, program), "it reads what nobody has written")


def _unit(interrupt: str) -> str:
    """Return the unit that an interrupt is called after."""
    return interrupt.rpartition("_")[0]


def _of_bytes(wrong: Sequence[Finding], explanations: Sequence[Explanation]) -> Suspect | None:
    """Return what wrong bytes say: by the cause or the pattern of the first layer, or by the engines that are wrong."""
    first = explanations[0] if explanations else None
    started = None if first is None else first.evidence.started
    layers = [finding.layer for finding in wrong if finding.layer is not None]
    explained = next((layer.engine for layer in layers if started is not None and layer.index == started.index), None)
    if first is not None and explained is not None and first.causes:
        best = first.causes[0]
        because = _BECAUSE.get(best.name, None if best.symptom else "the probable cause lies in its work")
        if because is not None:
            return Suspect(parts_of_fit(best, explained), because)
    engines = list(dict.fromkeys(layer.engine for layer in layers))
    # A later layer may be wrong because an earlier one is.
    inherits = any(explanation.evidence.inherits for explanation in explanations)
    several = None if inherits else shared(engines)
    if several is not None:
        return several
    if wrong[0].check is Check.LATE:
        event = Part("its done event", ())
        return Suspect((*parts_of(engines[0]), event, part("GLB")), "done before its data")
    return None if first is None or explained is None else _of_pattern(first, explained)


def _of_pattern(explanation: Explanation, engine: str) -> Suspect | None:
    """Return what it says which elements of a convolution are wrong, where some of its units are most unlikely.

    Pixels that are wrong in all channels say nothing: control of any unit, a buffer and an address leave them so.
    """
    evidence = explanation.evidence
    wrong = evidence.bad_elements[: evidence.channels]
    channels, pixels = wrong.any(axis=(1, 2)), wrong.any(axis=0)
    if (
        engine not in _COMPUTING
        or not wrong.any()
        or evidence.missing_elements.any()
        or min(channels.size, pixels.size) < 4
    ):
        return None
    count = int(np.count_nonzero(wrong))
    density = count / (int(channels.sum()) * int(pixels.sum()))
    some_channels, some_pixels = float(channels.mean()), float(pixels.mean())
    if some_pixels >= _MANY and some_channels <= _FEW and density >= _DENSE:
        because = f"{int(channels.sum())} of {channels.size} channels are wrong, at most pixels"
        return Suspect((part(_WEIGHTS), *parts_of(engine)[1:]), because, is_likely=True)
    if count >= 2 and density <= _SCATTERED and count <= _RARE * wrong.size:
        first, *others = (unit.value for unit in _COMPUTING[engine])
        arithmetic = part(first, "arithmetic of {}")
        return Suspect((arithmetic, *parts(others)), f"{count} scattered elements are wrong", is_likely=True)
    return None


def _rests(hang: Hang) -> bool:
    """Return whether the device has nothing to do."""
    owed = (hang.units, hang.running, hang.requests, hang.unmatched, hang.csb, hang.unanswered, hang.interrupt_status)
    return not any(owed)


def _of_hang(hang: Hang, missing: Sequence[LayerId | None]) -> Suspect:
    """Return what a hang points at, in which some layers owe bytes."""
    if hang.unanswered is not None or hang.csb is not None:
        return Suspect(CSB, "an access has no answer")
    if hang.interrupt_status == 0:
        return Suspect(parts(["GLB"]), "the interrupt line is high, and S_INTR_STATUS holds no interrupt")
    for halves in hang.unmatched:
        return _unmatched(halves, [layer.engine for layer in hang.running])
    states = {state.unit: state.states for state in hang.units}
    ended = [each for each in hang.running if each not in missing and states and not passed(each.engine) & set(states)]
    if ended:
        because = f"{ended[0].name} has written all its bytes, its units are idle, and its interrupt never came"
        return Suspect(tuple(_done_event(writer_of(ended[0].engine))), because)
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
    done = f"; {', '.join(before)} before it {'are' if len(before) > 1 else 'is'} idle" if before else ""
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
    if not hang.running:
        because = f"it waits for an interrupt of {' and '.join(waited)}, and no layer that was started owes one"
        return Suspect((Part("the program", ()),), because)
    lost = [layer for layer in hang.running if layer in missing]
    if lost:
        writer = writer_of(lost[0].engine)
        because = "every unit is idle, and not all bytes were written"
        return Suspect((part(writer, "{}, its writes"), WRITE_SIDE), because)
    return Suspect(tuple(_done_event(*waited)), "every unit is idle, and the interrupt never came")


def _taking(after: Sequence[str]) -> tuple[Part, ...]:
    """Return the units that may not take what the first one hands on."""
    if not after:
        return (Part("what takes its data", ()),)
    if len(after) == 1:
        return (part(after[0], "{} that takes its data"),)
    return (Part("a unit after it that takes no more data", units_named(*after)),)


def _unmatched(halves: Unmatched, engines: Sequence[str]) -> Suspect:
    """Return what halves of writes point at, which layers of some engines have written."""
    counts = ((halves.addresses, "addresses without data"), (halves.beats, "data without address"))
    writers = units_named(*dict.fromkeys(map(writer_of, engines)))
    because = f"it sent {' and '.join(f'{n} {what}' for n, what in counts if n)}"
    return Suspect((WRITE_SIDE, Part("the unit that writes", writers)), because)


def _done_event(*units: str) -> Iterator[Part]:
    """Yield the parts that a missing done event of units points at; those that write wait for answers."""
    yield Part(f"done event of {', '.join(units)}", units_named(*units))
    if any(unit in WRITERS for unit in units):
        yield Part("the answers to its writes", (Unit.MEMORY,))
    yield part("GLB")
