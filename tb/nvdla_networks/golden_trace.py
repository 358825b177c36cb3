"""Golden results of a network's scenario, for traces: all that its layers leave in memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from nvdla_models.config import HwConfig
from nvdla_networks.scenario import Memories, memories_after
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.nvdla.memory import Range
from nvdla_tb.nvdla.program.ops import CheckCrc, CheckFile, CheckNothing, SyncNotify, SyncWait
from nvdla_tb.stimulus.model import Played
from nvdla_tb.stimulus.scenario import Scenario


def with_golden(scenario: Scenario, played: Played) -> Scenario:
    """Return a scenario that ends with golden results for all that its layers leave in memory, as the model says.

    Elements that a tolerance judges stand in files, all others in CRCs. A scenario that the model refuses has none.
    """
    if played.verdict.refused is not None:
        return scenario
    ends = [op for op in scenario.ops if isinstance(op, CheckNothing)]
    ops = [op for op in scenario.ops if op not in ends]
    # Golden results are due once all has ended.
    waits = [SyncWait(_LAST, end.sync_id) for end in ends]
    memories = memories_after(scenario.ops, played.expectations, HwConfig.load(scenario.config))
    checks = [_golden(area, memories, number) for number, area in enumerate(_areas(played.expectations))]
    return replace(scenario, ops=(*ops, *waits, SyncNotify(_LAST, _END), *checks))


_LAST, _END = "GLB", "end"
"""The unit whose sequence waits for all layers, and the event that it raises then."""


@dataclass
class _Area:
    """Bytes from the first to the last that layers write, and whether a tolerance judges some of them."""

    where: Range
    tolerated: bool


def _areas(expectations: Iterable[Expectation]) -> list[_Area]:
    """Return the areas that layers write, in the order of their addresses; those that touch are one."""
    areas: list[_Area] = []
    spans = [(e.ram, e.address, len(e.data), e.meter() is not None) for e in expectations]
    for ram, address, nbytes, tolerated in sorted(spans, key=lambda span: (span[0].value, *span[1:3])):
        last = areas[-1].where if areas else None
        if last is not None and last.ram is ram and address <= last.address + last.nbytes:
            end = max(last.address + last.nbytes, address + nbytes)
            areas[-1].where = Range(ram, last.address, end - last.address)
            areas[-1].tolerated |= tolerated
        else:
            areas.append(_Area(Range(ram, address, nbytes), tolerated))
    return areas


def _golden(area: _Area, memories: Memories, number: int) -> CheckCrc | CheckFile:
    ram, address, nbytes = area.where.ram, area.where.address, area.where.nbytes
    data = memories[ram].read(address, nbytes)
    if area.tolerated:
        return CheckFile(_END, ram, address, nbytes, ((0, data),), f"golden{number}.dat")
    return CheckCrc(_END, ram, address, nbytes, zlib.crc32(data))
