"""The words for findings. Text is made here alone, from data, and nothing parses it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nvdla_tb.counting import counted
from nvdla_tb.judge import detail as details
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.verdict import Altered, Ending, Margin, Verdict
from nvdla_tb.judge.wrapped_rules import MEMORY_RULES, REGISTER_RULES

_PLACES = 3
"""Altered places that a note lists."""


def complaint(finding: Finding) -> str:
    """Return a finding in words, as one line or more."""
    where = f" (cycle {finding.cycle})"
    match finding.detail:
        case details.Mismatch() as detail:
            return _mismatch(finding, detail)
        case details.CrcMismatch() as crc:
            note = f", {counted(crc.holes, 'byte')} never written" if crc.holes else ""
            place = f"{crc.address:#x} + {crc.nbytes:#x}"
            return f"CRC-32 of {place} must be {crc.expected:#010x}, not {crc.got:#010x}{note}"
        case details.GoldenMismatch() as golden:
            value = f"must hold {golden.expected:#04x}, not {golden.got:#04x}"
            return f"{golden.file_name}: address {golden.address:#x} {value}"
        case details.UnpredictedGolden() as stray:
            differs = f"{stray.nbytes} bytes that no layer writes differ from memory"
            return f"{stray.file_name}: {differs}, first at {stray.address:#x}"
        case details.ShortGolden() as short:
            lacks = f"{short.nbytes} bytes of its check that layers write are not in the file"
            return f"{short.file_name}: {lacks}, first at {short.address:#x}"
        case details.BadAccess() as access:
            return _access(finding, access)
        case details.MoreBadAccesses(count=count):
            return counted(count, "more memory fault")
        case details.UnmappedAccess() as unmapped:
            text = f"register: {_unmapped(unmapped)} hits no register"
            return text if finding.cycle is None else text + where
        case details.MoreUnmappedAccesses(count=count):
            return f"register: {count} more accesses hit no register"
        case details.Nothing() as nothing:
            return _nothing(nothing)
        case details.NothingRead():
            assert finding.layer is not None
            return f"{finding.layer.name} takes operands from memory, and nothing was read before its end{where}"
        case details.PortViolation(ram=ram, rule=rule):
            return f"protocol: {ram.value}: {MEMORY_RULES[rule]} (broken at cycle {finding.cycle})"
        case details.UnknownPin(ram=ram, pin=pin, value=value):
            place, when = ("CSB", "when it must be known") if ram is None else (ram.value, "while valid")
            return f"{place}: {pin} is {value} {when}, at cycle {finding.cycle}"
        case details.CsbViolation(rule=rule):
            kind, text = REGISTER_RULES[rule]
            return f"protocol: {kind}: {text} (broken at cycle {finding.cycle})"
        case details.HandshakeViolation(must=must, frame=frame, seen=seen):
            return f"handshake: {must}: {seen}, frame {frame}{where}"
        case details.WrongLine() as line:
            level = "high" if line.must else "low"
            registers = f"S_INTR_STATUS holds {line.status:#x}, S_INTR_MASK {line.mask:#x}"
            return f"interrupt: dla_intr must be {level} soon after cycle {line.since}: {registers}{where}"
        case details.WrongOutstanding() as many:
            what = "beats of reads" if many.reading else "writes"
            must = "at most {} {} may" if many.got > many.limit else "{} {} must at some time"
            return f"{many.ram.value}: {must.format(many.limit, what)} be outstanding, not {many.got}{where}"
        case details.UnfairTurns() as unfair:
            what = "read" if unfair.reading else "write"
            turns = f"{unfair.turns} turns, {unfair.got} in most of those that differ"
            must = f"{what} id {unfair.axi_id} must have {unfair.weight} requests a turn"
            return f"{unfair.ram.value}: {must}; {turns}{where}"
        case details.Unmatched() as unmatched:
            return _unmatched(unmatched)
        case details.EarlyAccess():
            at = f"before cycle {finding.cycle}"
            return f"protocol: memory must not be accessed before the first layer ({at})"
        case details.Restless():
            return f"memory must rest when all layers are done, but it is still accessed{where}"
        case details.UnexpectedInterrupt(name=name):
            return f"protocol: interrupt {name} must be that of a layer that was started{where}"
        case details.EarlyInterrupt() as early:
            assert finding.layer is not None
            last = f"that to the write of {early.address:#x} of {early.ram.value} with id {early.axi_id}"
            out = f"{last} (cycle {early.written}) was still out"
            return f"{finding.check.value}: {finding.layer.name}: {out} when {early.name} was raised{where}"
        case details.MissingInterrupt(name=name):
            return f"interrupt {name} of a layer that was started must be raised by its end"
        case details.WrongRegister() as wrong:
            field = "" if wrong.field is None else f", in {wrong.field}"
            return f"{wrong.register} must read {wrong.expected:#x}, not {wrong.got:#x}{field}{where}"
        case details.WrongCounter() as counter:
            assert finding.layer is not None
            bound = f"at least {counter.expected}" if counter.at_least else str(counter.expected)
            bound += "" if counter.most is None else f" and at most {counter.most}"
            text = f"{counter.register} must read {bound} after {finding.layer.name}, not {counter.got}"
            return text if finding.cycle is None else text + where
        case details.PollExpired() as poll:
            waited = f"for {poll.comparison} {poll.expected:#x}"
            return f"poll of {poll.register} {waited} still reads {poll.got:#x} after {poll.deadline_cycles} cycles"
        case details.PollNeverHolds() as poll:
            waited = f"for {poll.comparison} {poll.expected:#x}"
            return f"poll of {poll.register} {waited} never ends: it reads {poll.got:#x} and does not change"
        case details.LineNeverRises():
            return "wait for dla_intr never ends: no interrupt is set, and no layer that was started owes one"
        case details.Hang() as hang:
            return "\n".join(_hang(finding, hang))
        case details.StandStill() as still:
            return "\n".join(_stand_still(finding, still))
        case details.NoAnswer() as lost:
            return _no_answer(lost)
        case details.DriverFault() as fault:
            return "\n".join(_driver(fault))
        case details.Raised() as raised:
            return "\n".join(_raised(raised))
        case details.Note(message=message):
            return message


def complaints(verdict: Verdict) -> list[str]:
    """Return why a scenario fails, an item for each finding; empty when it passes or is refused."""
    lines = [complaint(finding) for finding in verdict.failures]
    if lines and verdict.refused is not None:
        lines.append(f"{'not predicted, because' if verdict.unpredicted else 'then refused:'} {verdict.refused}")
    if lines and verdict.altered:
        lines.append(_altered(verdict.altered))
    return lines


def first_line(verdict: Verdict) -> str:
    """Return how a scenario failed and its first complaint in one line, for an exception of its test with the place."""
    first, detail = complaints(verdict)[0].split("\n", 1)[0], verdict.failures[0].detail
    at = detail.calls[-1] if isinstance(detail, details.Raised) and detail.calls else None
    return f"{verdict.ending.value}: {first}" + ("" if at is None else f" ({at.path}:{at.line})")


def why_not_passed(verdict: Verdict) -> list[str]:
    """Return the complaints, or why it was refused."""
    found = complaints(verdict)
    if found or verdict.refused is None:
        return found
    if verdict.ending is Ending.GOLDEN:
        return [f"golden equal; not predicted, because {verdict.refused}"]
    return [verdict.refused]


def margin_line(margin: Margin) -> str:
    """Return a margin as one line."""
    part = "more than any part" if margin.worst is None else f"{100 * margin.worst:.1f} %"
    where = f"c={margin.at.c} h={margin.at.h} w={margin.at.w}"
    elements = counted(margin.elements, "element")
    return f"{margin.layer}: {elements} by {margin.module} ({margin.rule}), worst {part} at {where}"


def margin_part(worst: float | None) -> str:
    """Return the largest part of a published threshold that was used; "-" where none applied."""
    return "-" if worst is None else f"{worst:.3f}"


def signature_line(signature: Iterable[str]) -> str:
    """Return a signature as one line."""
    return ", ".join(signature)


def _mismatch(finding: Finding, wrong: details.Mismatch) -> str:
    where = f"address {wrong.address:#x} of {wrong.ram.value}"
    if wrong.element is not None:
        where = f"c={wrong.element.c} h={wrong.element.h} w={wrong.element.w} ({where})"
    parts = [f"first at {where}"]
    if wrong.rule is not None:
        parts.append(wrong.rule)
    elif wrong.expected is not None and finding.check is not Check.LATE:
        parts.append(f"expected {wrong.expected:#04x}")
    if wrong.rule is None and wrong.got is not None and finding.check is not Check.LATE:
        parts.append(f"got {wrong.got:#04x}")
    if finding.cycle is not None:
        parts.append(f"at cycle {finding.cycle} with id {wrong.axi_id}")
    if finding.check is Check.LATE:
        parts.append("after the layer's interrupt")
    wrong_ones = counted(wrong.elements, "byte" if finding.check is Check.STRAY else "element")
    layer = "" if finding.layer is None else f"{finding.layer.name}: "
    return f"{finding.check.value}: {wrong_ones}; {layer}{', '.join(parts)}"


def _altered(altered: Sequence[Altered]) -> str:
    places = [f"{one.nbytes} at {one.address:#x} of {one.ram.value}" for one in altered[:_PLACES]]
    more = [f"{len(altered) - _PLACES} more places"] if len(altered) > _PLACES else []
    return f"note: the test altered bytes that the DUT reads and the model does not: {', '.join(places + more)}"


def _access(finding: Finding, access: details.BadAccess) -> str:
    what = "read" if access.reading else "write"
    if access.outside:
        problem = f"outside every allocation at {access.byte:#x} ({access.place})"
        problem += ", as registers of its layer say" if access.named else ""
    else:
        problem = f"byte {access.byte:#x} was never written ({access.place})"
    nbytes = counted(access.nbytes, "byte")
    sent = f"{what} of {nbytes} at {access.address:#x} with id {access.axi_id} at cycle {finding.cycle}"
    return f"{access.ram.value}: {sent}: {problem}"


def _unmapped(access: details.UnmappedAccess) -> str:
    return f"write of {access.value:#x} to {access.address:#x}" if access.is_write else f"read of {access.address:#x}"


def _nothing(nothing: details.Nothing) -> str:
    text = "nothing was compared: no layer wrote a byte that was expected"
    if not nothing.unmapped:
        return text
    more = nothing.unmapped - len(nothing.first)
    hits = [_unmapped(access) for access in nothing.first] + ([f"{more} more"] if more else [])
    return f"{text}; accesses hit no register: {', '.join(hits)}"


def _unmatched(unmatched: details.Unmatched) -> str:
    addresses = counted(unmatched.addresses, "write address", "write addresses")
    return f"{unmatched.ram.value}: {addresses} without all data, {counted(unmatched.beats, 'beat')} without address"


def _request(request: details.Outstanding) -> str:
    what = "read" if request.reading else "write response"
    return f"{request.ram.value}: {what} of {request.address:#x} with id {request.axi_id}"


def _no_answer(lost: details.NoAnswer) -> str:
    verb = "answer" if lost.accepted else "accept"
    return f"CSB did not {verb} the {lost.access} within {lost.deadline_cycles} cycles"


_OF_DRIVERS = {
    details.DriverFaultKind.IDLES: "makes accesses, and neither a layer starts nor memory moves",
    details.DriverFaultKind.WAITS: "waits for an interrupt that does not come",
    details.DriverFaultKind.SILENT: "has asked nothing of the bench for {} seconds",
    details.DriverFaultKind.ABSENT: "has not connected in {} seconds",
    details.DriverFaultKind.RETURNED: "returned {}, not 0",
    details.DriverFaultKind.CALL: "cannot go on: {}",
    details.DriverFaultKind.PROCESS: "was running: {}",
}


def _driver(fault: details.DriverFault) -> list[str]:
    lines = [f"driver {fault.driver} {_OF_DRIVERS[fault.kind].format(fault.message)}"]
    lines += ["  its last accesses:" if fault.accesses else "  it made no access"]
    return lines + [f"    {access}" for access in fault.accesses]


def _raised(raised: details.Raised) -> list[str]:
    """Return the exception, the lines of the user that led to it, the innermost first, and where it was raised."""
    lines = f"{raised.kind}: {raised.message}".rstrip(": ").splitlines()
    for call in reversed(raised.calls):
        lines += [f"  {call.path}:{call.line} in {call.function}", f"    {call.text}"]
    inside = raised.inside
    return lines if inside is None else [*lines, f"  raised at {inside.path}:{inside.line} in {inside.function}"]


def _hang(finding: Finding, hang: details.Hang) -> list[str]:
    moved = f"{hang.in_vain} requests and beats of memory in vain" if hang.in_vain else "nothing moved"
    lines = [f"hang: {moved} for {hang.quiet_cycles} cycles, at cycle {finding.cycle}"]
    lines += [f"  waiting for interrupt {event}" for event in hang.waiting_for]
    lines += ["  waiting for dla_intr to be high"] if hang.awaits_line else []
    if hang.interrupt_status is not None:
        lines.append(f"  dla_intr is high, and GLB.S_INTR_STATUS reads {hang.interrupt_status:#x}")
    lines += [] if hang.csb is None else [f"  CSB: {hang.csb}"]
    lines += [f"  running: {layer.name}" for layer in hang.running]
    lines += [f"  {_request(request)}" for request in hang.requests]
    lines += [f"  {_unmatched(unmatched)}" for unmatched in hang.unmatched]
    lines += [f"  {unit.unit}.S_STATUS: group 0 {unit.states[0]}, group 1 {unit.states[1]}" for unit in hang.units]
    lines += [] if hang.unanswered is None else [f"  {_no_answer(hang.unanswered)}"]
    return lines if hang.units or hang.unanswered else [*lines, "  every unit's S_STATUS is IDLE"]


def _stand_still(finding: Finding, still: details.StandStill) -> list[str]:
    at = f"{still.time_ps / 1000:.3f} ns"
    if finding.cycle is not None:
        last = finding.cycle + still.cycles - 1
        at = f"cycle {finding.cycle} ({at})" if still.cycles == 1 else f"cycle {finding.cycle} to {last} (from {at} on)"
    worked = "signals did not settle" if still.said else f"the simulator computed for {still.processor_seconds:.0f} s"
    return [
        f"hang: simulation time stood still at {at}: {worked}",
        *([f"  {still.said}"] if still.said else []),
        "  the RTL loops in zero time: look for a combinational loop, a loop or a task without delay, that begins then",
    ]
