"""Performance of layers out of the facts of a run: text, plain data, and comparison with an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from nvdla_models.errors import InputError
from nvdla_models.reading import read_json
from nvdla_tb.judge.layer_facts import LayerFacts, Moved
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.performance import Performance
from nvdla_tb.plain_data import converted
from nvdla_tb.report.summary import aligned
from nvdla_tb.stimulus.result import Result, identity

_COLUMNS = ("layer", "cycles", "bound", "cycles of it", "ratio", "MAC %", "read", "written", "stalls")
_STALL = "STALL"


@dataclass(frozen=True)
class LayerPerformance:
    """One layer that has run.

    Attributes:
        name: Its name in tables.
        measured: Work and cycles.
        moved: Bytes read and written by RAM, as measured; empty when that was not asked for.
        stalls: Cycles that units have waited, by ``UNIT.REGISTER``; empty without statistics.
    """

    name: str
    measured: Performance
    moved: Mapping[Ram, Moved]
    stalls: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, for files."""
        work = self.measured.work
        return {
            "layer": self.name,
            "cycles": self.measured.cycles,
            "bounds": dict(work.bounds),
            "holds": self.measured.holds,
            "ratio": round(self.measured.ratio, 4),
            "macs": work.macs,
            "mac_peak": work.mac_peak,
            "mac_utilisation": self.measured.mac_utilisation,
            "read_bytes": {ram.value: nbytes for ram, nbytes in work.read_bytes.items()},
            "written_bytes": {ram.value: nbytes for ram, nbytes in work.written_bytes.items()},
            "moved": {ram.value: msgspec.structs.asdict(moved) for ram, moved in self.moved.items()},
            "stalls": dict(self.stalls),
        }


def performance_of(facts: LayerFacts, name: str | None = None) -> LayerPerformance | None:
    """Return the performance of a layer, by another name than the bench's if given; None when its end was not seen."""
    if facts.ended is None:
        return None
    measured = Performance(facts.work, max(facts.ended - facts.begun, 1))
    # A unit that was enabled while the layer before ran may have waited then, for longer than the layer itself took.
    stalls = {r: value for r, value in facts.counters.items() if _STALL in r and value <= measured.cycles}
    return LayerPerformance(name or facts.name, measured, facts.moved or {}, stalls)


def layers_of(facts: Iterable[LayerFacts]) -> list[LayerPerformance]:
    """Return the performance of all layers whose end was seen."""
    found = (performance_of(layer) for layer in facts)
    return [layer for layer in found if layer is not None]


def table(layers: Iterable[LayerPerformance]) -> str:
    """Return one aligned line per layer under a heading."""
    return aligned([_COLUMNS, *(_row(layer) for layer in layers)], left=1)


def _row(layer: LayerPerformance) -> tuple[str, ...]:
    measured = layer.measured
    work, utilisation = measured.work, measured.mac_utilisation
    read = sum(moved.read for moved in layer.moved.values()) or sum(work.read_bytes.values())
    written = sum(moved.written for moved in layer.moved.values()) or sum(work.written_bytes.values())
    # The register that has waited longest, and how long; nothing where none was read.
    register, longest = max(layer.stalls.items(), key=lambda item: item[1], default=("", 0))
    stall = "-" if not layer.stalls else f"{longest} {register}" if longest else "0"
    return (
        layer.name,
        str(measured.cycles),
        measured.holds,
        str(work.bound[1]),
        f"{measured.ratio:.2f}",
        "-" if utilisation is None else f"{100 * utilisation:.1f}",
        str(read),
        str(written),
        stall,
    )


def slower(now: Mapping[str, int], before: Mapping[str, int], percent: float, foreign: str) -> list[str]:
    """Return a line for each layer and scenario that takes more cycles than before, by more than so many percent.

    When both runs have nothing in common, the only line says what is ``foreign``.
    """
    if not now.keys() & before.keys():
        return [f"--cycles-against: {foreign}"]
    return [
        f"slower: {name}: {now[name]} cycles, {before[name]} before ({100 * (now[name] / before[name] - 1):+.1f} %)"
        for name in now
        if name in before and now[name] > before[name] * (1 + percent / 100)
    ]


class _EarlierLayer(msgspec.Struct):
    """The part of a layer that counts in the ``--json`` file of an earlier run."""

    layer: str
    cycles: Annotated[int, Meta(ge=1)]


class _Earlier(msgspec.Struct):
    """The part of a scenario that counts in that file."""

    scenario: str
    seed: int
    cycles: Annotated[int, Meta(ge=0)] | None = None
    performance: list[_EarlierLayer] = []


def cycles_of(results: Iterable[Result]) -> dict[str, int]:
    """Return the cycles of layers and of whole scenarios, by their names."""
    cycles: dict[str, int] = {}
    for result in results:
        if result.verdict.cycles:
            cycles[result.identity] = result.verdict.cycles
        cycles |= {f"{result.identity} {layer.name}": layer.measured.cycles for layer in layers_of(result.layers)}
    return cycles


def read_cycles(path: Path) -> dict[str, int]:
    """Return the cycles that an earlier run has written with ``--json``.

    Raises:
        InputError: when the file holds no such results.
    """
    cycles: dict[str, int] = {}
    for result in converted(read_json(path), list[_Earlier], str(path)):
        scenario = identity(result.scenario, result.seed)
        if result.cycles:
            cycles[scenario] = result.cycles
        cycles |= {f"{scenario} {layer.layer}": layer.cycles for layer in result.performance}
    if not cycles:
        raise InputError(f"{path} must hold cycles of an earlier run, not none")
    return cycles
