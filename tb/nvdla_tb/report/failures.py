"""Failures on a terminal: a paragraph for each cause, bounded in length; all of it goes to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nvdla_tb.counting import counted
from nvdla_tb.explain.page import FILE_NAME as PAGE_FILE
from nvdla_tb.explain.units import Suspect, Unit, common, shared
from nvdla_tb.explain.waves import GTKWAVE_SUFFIX
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints, why_not_passed
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.report.summary import Group, groups, passes_alone
from nvdla_tb.run.simulate import LOG_NAME
from nvdla_tb.run.space import write_whole
from nvdla_tb.stimulus.explained import Explained, Pointed
from nvdla_tb.stimulus.result import Result

FILE_NAME = "failures.txt"
"""Name of the file with all of it, in the folder of a run."""

MOST_LINES = 36
"""Lines that ``told`` takes at most, whatever fails."""

_ALONE, _FIRST, _NEXT = 22, 8, 3
"""Lines of reasons: of the only group, and at least of the first of several and of those that follow."""

_COMFORTABLE = 26
"""Lines that are filled with reasons, when there is more to say."""

MOST_UNITS = 2
"""Units that are named of a failure on the terminal."""

_NOTHING = Explained()
"""What is known of a failure that nobody has explained."""

_IN_FULL, _BY_NAME, _REASONS, _NAMES = 2, 3, 2, 4
"""Groups with reasons, groups with their heading alone, reasons of refusals, tests that are named."""


def whole(results: Sequence[Result]) -> str:
    """Return why each test that was played and did not pass did not, with the command that repeats it."""
    found = [result for result in results if result.ending not in (Ending.PASSED, Ending.NOT_PLAYED)]
    missing = sum(result.ending is Ending.NOT_PLAYED for result in results)
    return "\n\n".join([*([f"not played: {counted(missing, 'test')}"] if missing else []), *map(_block, found)])


def write(results: Sequence[Result], folder: Path) -> None:
    """Write ``whole`` to a folder, or remove what an earlier run has left of it when all passed."""
    text = whole(results)
    path = folder / FILE_NAME
    if text:
        write_whole(path, f"{text}\n".encode(errors="surrogateescape"))
    else:
        path.unlink(missing_ok=True)


def told(results: Sequence[Result]) -> str:
    """Return the same in at most ``MOST_LINES`` lines: failures by cause and check, refusals by reason."""
    found = groups(results)
    for more in range(_ALONE, -1, -1):
        text = _told(results, found, more)
        if len(text.splitlines()) <= _COMFORTABLE:
            break
    return text


def headings(results: Sequence[Result]) -> str:
    """Return a line for each cause that is known by now, and one for all more than so many."""
    found = groups(results)
    return "\n".join(_by_name(found, _IN_FULL + _BY_NAME))


def _by_name(found: Sequence[Group], most: int) -> list[str]:
    rest = found[most:]
    tests = counted(sum(len(group.members) for group in rest), "more test")
    more = f"failed: {tests} of {counted(len(rest), 'more kind')}"
    return [*map(_heading, found[:most]), *([more] if rest else [])]


def _told(results: Sequence[Result], found: Sequence[Group], more: int) -> str:
    """Return the text in which groups have that many lines more than they have at least."""
    least = [_ALONE] if len(found) == 1 else [_FIRST, *[_NEXT] * len(found)]
    rooms = [min(room + more, _ALONE) for room in least[: len(found)]]
    several = _several(found)
    blocks = [] if several is None else [f"unit: {several}"]
    blocks += [_paragraph(group, room, len(found) == 1) for group, room in zip(found[:_IN_FULL], rooms, strict=False)]
    blocks += _by_name(found[_IN_FULL:], _BY_NAME)
    return "\n".join((*blocks, *_refused(results)))


def _several(found: Sequence[Group]) -> Suspect | None:
    """Return the units at which all groups point, or what layers of several engines share where no unit is known."""
    named = [{Unit(unit) for pointed in _pointed(group.members[0]) for unit in pointed.units} for group in found]
    at_all = common([tuple(units) for units in named], f"each of {len(found)} kinds of failures points at it")
    if at_all is not None:
        return at_all
    firsts = [(group, group.members[0].explained) for group in found]
    known = sum(len(group.members) for group, why in firsts if not group.lacks_cause or (why and why.located))
    if 2 * known >= sum(len(group.members) for group in found):
        return None
    played = [group.members[0] for group in found if group.members[0].explained is not None]
    # Bytes that come too late are right: their unit does not compute wrong ones.
    wrong = [
        finding for result in played for finding in result.verdict.wrong_bytes[:1] if finding.check is not Check.LATE
    ]
    suspect = shared([finding.layer.engine for finding in wrong if finding.layer is not None])
    cleared = {unit for result in played if result.explained is not None for unit in result.explained.cleared}
    return None if suspect is None or cleared.issuperset(unit.value for unit in suspect.named) else suspect


def _heading(group: Group) -> str:
    """Return the failing tests and the reason in one line."""
    first, *others = group.members
    if not others:
        return f"failed: {first.identity}: {group.title}"
    return f"failed: {len(group.members)} tests: {group.title} ({_listed(group.members)})"


def _paragraph(group: Group, room: int, alone: bool) -> str:
    first, *others = group.members
    # Where several groups share the screen, the cause may not fit below.
    named = group.cause is not None and not alone
    lines = [_heading(group) if named else f"failed: {first.identity}"]
    if others:
        checks = group.checks if group.cause is not None or len(group.signatures) > 1 else []
        room = max(room - len(checks[:2]), _NEXT)
        lines = [_heading(group), *(f"  {line}" for line in checks[:2]), f"  first: {first.identity}"]
    units = _units(first)
    lines += [f"  {line}" for line in units]
    room = max(room - len(units), _NEXT)
    found = _lines(complaints(first.verdict))
    known = first.explained or _NOTHING
    layers = known.layers[:1]
    why = [f"  {line}" for line in known.lead_lines] + [line for layer in layers for line in layer.why_lines]
    rest = [line for layer in layers for line in layer.place_lines]
    later = [*(line for layer in known.layers[1:] for line in layer.lines), *known.watched_lines]
    # The cause is what one looks for: complaints get what it leaves, at least a line.
    most = max(room - len(why) - len(rest), min(room, max(1, room // 4)))
    said = _clipped(found, most)
    # Where and when give way to why.
    said += _clipped(rest, min(len(rest), max(room - len(said) - len(why), 0)))
    said += _clipped(why, max(room - len(said), 0))
    said += _clipped(later, min(len(later), max(room - len(said), 0)))
    return "\n".join((*lines, *(f"  {line}" for line in (*said, *_leads(first)))))


def _units(result: Result) -> list[str]:
    """Return the units that the findings of a test point at; none of a test that no device played."""
    return [f"unit: {pointed.text}" for pointed in _pointed(result)]


def _pointed(result: Result) -> list[Pointed]:
    return (result.explained or _NOTHING).units[:MOST_UNITS]


def known_lines(result: Result) -> list[str]:
    """Return all that is known of why a test did not pass, a line each: units, findings, layers, hand-overs, leads."""
    known = result.explained or _NOTHING
    layers = [*known.layer_lines, *known.watched_lines, *known.lead_lines]
    reasons = [line for reason in why_not_passed(result.verdict) for line in reason.split("\n")]
    return [*_units(result), *reasons, *layers]


def _block(result: Result) -> str:
    """Return all that is known of a test that did not pass, and where more is to be found."""
    lines = known_lines(result)
    if not result.ending.is_failure:
        return "\n".join([f"{result.ending.value}: {result.identity}", *(f"  {line}" for line in lines)])
    return "\n".join([f"failed: {result.identity}", *(f"  {line}" for line in (*lines, *_leads(result)))])


def _leads(result: Result) -> list[str]:
    """Return where more is to be found: files that exist, and the command that repeats the test."""
    files: list[tuple[str, Path]] = []
    if result.folder is not None:
        folder = Path(result.folder)
        # A save file opens the waves, too.
        waves = sorted(folder.glob("waves.*"), key=lambda path: (path.suffix != GTKWAVE_SUFFIX, path.name))
        files = [("page", folder / PAGE_FILE), ("log", folder / LOG_NAME), *(("waves", path) for path in waves[:1])]
    found = [f"{name}: {path}" for name, path in files if path.is_file() and path.stat().st_size]
    return [*found, *([] if result.after is None else [passes_alone(result.after)]), f"rerun: {result.rerun}"]


def _refused(results: Sequence[Result]) -> list[str]:
    """Return what was not predicted by its reason: refusals, and what only golden results have judged."""
    reasons: dict[tuple[Ending, str], list[Result]] = {}
    for result in results:
        if result.ending in (Ending.REFUSED, Ending.GOLDEN):
            reason = "\n".join(why_not_passed(result.verdict))
            reasons.setdefault((result.ending, reason), []).append(result)
    lines = []
    for (ending, reason), members in list(reasons.items())[:_REASONS]:
        many = f"{len(members)} tests: {_listed(members)}" if len(members) > 1 else members[0].identity
        lines += [f"{ending.value}: {many}", *(f"  {line}" for line in _clipped(reason.splitlines(), 2))]
    rest = list(reasons.values())[_REASONS:]
    if rest:
        lines.append(
            f"not predicted: {counted(sum(map(len, rest)), 'more test')} for {counted(len(rest), 'more reason')}"
        )
    return lines


def _listed(results: Sequence[Result]) -> str:
    names = ", ".join(result.identity for result in results[:_NAMES])
    return f"{names} and {len(results) - _NAMES} more" if len(results) > _NAMES else names


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for text in texts for line in text.splitlines()]


def _clipped(lines: Sequence[str], most: int) -> list[str]:
    """Return at most so many lines, the last of which says how many there are besides."""
    if len(lines) <= most:
        return list(lines)
    return [] if most < 1 else [*lines[: most - 1], f"... {counted(len(lines) - most + 1, 'more line')}"]
