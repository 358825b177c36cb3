"""Bits of signals that are tied or that nothing outside can see, by module, as exclusions of code coverage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import groupby

from nvdla_score.cone import cone_of, driven_in
from nvdla_score.netlist import Bit, Netlist
from nvdla_tb.run.regress.code_exclusions import SIGNAL

_SCOPE = "$scopeinfo"


class Fate(Enum):
    """What is known of a bit in all instances of its module; the value is the reason that the exclusion gives."""

    ZERO = "synthesis: tied to 0, or undriven"
    ONE = "synthesis: tied to 1, so that it never falls"
    UNSEEN = "synthesis: no output of the design depends on it"


BitName = tuple[str, int | None]
"""A signal, with the blocks around it, and the index of a bit; None when the signal has a single bit."""

Fates = Mapping[str, Mapping[BitName, Fate | None]]
"""By module and bit; None for a bit that must toggle."""


def fates(netlist: Netlist, top: str) -> Fates:
    """Return what is known of the bits of each module of a flattened design.

    It is what holds in all instances of the module, whatever their parameters.
    """
    driven, cone, modules = driven_in(netlist), cone_of(netlist), _modules(netlist, top)
    found: dict[str, dict[BitName, Fate | None]] = {}
    for name, net in netlist.netnames.items():
        if net.hide_name:
            continue
        module, signal = _place(net.attributes.get("hdlname", name).split(" "), modules)
        if re.fullmatch(SIGNAL, signal) is None:
            # Such as a variable of a function, which is no toggle point.
            continue
        known = found.setdefault(module, {})
        for position, bit in enumerate(net.bits):
            index = None
            if len(net.bits) > 1 or net.offset:
                index = net.offset + (len(net.bits) - 1 - position if net.upto else position)
            fate = _fate(bit, driven, cone)
            key = signal, index
            # Tied to both values, or tied here and unseen there: each alone would be true of some instances only.
            known[key] = fate if known.get(key, fate) is fate else None
    return found


def exclusions(found: Fates) -> Iterator[str]:
    """Yield the lines of a file for ``--code-exclusions``."""
    yield "# Bits that need not toggle, as synthesis of the whole design shows."
    if not any(fate for known in found.values() for fate in known.values()):
        yield "exclude = []"
    for module, known in sorted(found.items()):
        for fate in Fate:
            bits = [bit for bit, its in known.items() if its is fate]
            if not bits:
                continue
            yield from ("", "[[exclude]]", f"modules = {json.dumps([module])}", 'kinds = ["toggle"]')
            if fate is Fate.ONE:
                yield 'edges = ["1->0"]'
            if fate is Fate.UNSEEN:
                yield "either_way = true"
            yield f"reason = {json.dumps(fate.value)}"
            yield from ("signals = [", *(f"    {json.dumps(text)}," for text in ranges(bits)), "]")


def ranges(bits: Iterable[BitName]) -> Iterator[str]:
    """Yield bits as ``name``, ``name[3]`` or ``name[7:4]``."""
    ordered = sorted(bits, key=lambda bit: (bit[0], bit[1] or 0))
    for name, group in groupby(ordered, key=lambda bit: bit[0]):
        run: list[int] = []
        for _, index in group:
            if index is None:
                yield name
            elif run and index == run[-1] + 1:
                run.append(index)
            else:
                yield from _range(name, run)
                run = [index]
        yield from _range(name, run)


def _range(name: str, run: Sequence[int]) -> Iterator[str]:
    if run:
        yield f"{name}[{run[-1]}:{run[0]}]" if len(run) > 1 else f"{name}[{run[0]}]"


def _modules(netlist: Netlist, top: str) -> dict[tuple[str, ...], str]:
    """Return the module of each instance, by the names of the instances around it and its own."""
    found: dict[tuple[str, ...], str] = {(): top}
    for name, cell in netlist.cells.items():
        if cell.type == _SCOPE:
            path = tuple(cell.attributes.get("hdlname", name).split(" "))
            found[path] = cell.attributes.get("module_hdlname", cell.attributes.get("module", ""))
    return found


def _place(words: Sequence[str], modules: Mapping[tuple[str, ...], str]) -> tuple[str, str]:
    """Return the module of a signal and its name there, with the blocks around it."""
    for length in range(len(words) - 1, -1, -1):
        module = modules.get(tuple(words[:length]))
        if module is not None:
            return module, ".".join(words[length:])
    raise AssertionError("the top module is an instance of its own")


def _fate(bit: Bit, driven: frozenset[Bit], cone: frozenset[Bit]) -> Fate | None:
    if bit == "1":
        return Fate.ONE
    if bit not in driven:
        return Fate.ZERO
    return None if bit in cone else Fate.UNSEEN
