"""The scenarios that bugs are played against: those of the plans, and a few that look at registers and masks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from dlhdl_tb.config import PLAN
from dlhdl_tb.scenario import load_plan as load_dlhdl
from nvdla_models.config import HwConfig
from nvdla_score.catalogue import CatalogueError
from nvdla_tb.nvdla.program.ops import MemInit, MemLoad, Op, Poll, RegRead, RegWrite
from nvdla_tb.nvdla.registers import Register, RegisterMap
from nvdla_tb.paths import PLANS
from nvdla_tb.run.regress.features import FeaturePlan, planned_tests
from nvdla_tb.run.system import AnyScenario
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from nvdla_tb.stimulus.generate.random import ENGINES, random_entry
from nvdla_tb.stimulus.scenario import Scenario

OWN_PLAN = Path(__file__).with_name("scenarios.toml")
DLHDL_PLAN = Path(__file__).with_name("dlhdl.toml")

_ALL_EVENTS = 0x3F03FF
_PATTERNS = (0x5A5A5A5A, 0xA5A5A5A5)
"""Words that are written to the registers of groups 0 and 1."""


@dataclass(frozen=True)
class Source:
    """A scenario by name, and how to make it for a configuration and a seed."""

    name: str
    build: Callable[[Any, int], AnyScenario]


def sources(config: str = "nv_small") -> tuple[Source, ...]:
    """Return all scenarios of a configuration: those of its plans, then the score's own."""
    plans = (PLANS / f"{config}.toml", PLANS / f"{config}_registers.toml")
    files = (*(path for path in plans if path.is_file()), OWN_PLAN)
    entries = [entry for path in files for entry in load_plan(path) if entry.config == config]
    return tuple(Source(entry.name, partial(_DIRECTED.get(entry.name, PlanEntry.build), entry)) for entry in entries)


def dlhdl_sources() -> tuple[Source, ...]:
    """Return all scenarios of the Deep Learning HDL processor: those of its plan, then the score's own."""
    entries = [entry for path in (PLAN, DLHDL_PLAN) for entry in load_dlhdl(path)]
    return tuple(Source(entry.name, entry.build) for entry in entries)


def level_sources(plan: FeaturePlan, level: str) -> tuple[Source, ...]:
    """Return the scenarios of a level of the test plan, those of the levels before it included.

    Raises:
        PlanError: when there is no such level.
    """
    planned = planned_tests(plan.up_to(level))
    tests = [test for test in planned if test.kind == "plan"]  # others are in Python
    plans = {test.source: {entry.name: entry for entry in load_plan(Path(test.source))} for test in tests}
    return tuple(Source(test.name, partial(PlanEntry.build, plans[test.source][test.name])) for test in tests)


def random_source(config: HwConfig) -> Source:
    """Return random scenarios; the seed says which."""
    return Source("random", lambda given, seed: random_entry(config, seed, ENGINES).build(given, seed))


def of_unit(found: Sequence[Source], patterns: Sequence[str]) -> tuple[Source, ...]:
    """Return the scenarios whose names match, pattern by pattern, each once.

    Raises:
        CatalogueError: for a pattern that no scenario matches.
    """
    chosen: dict[str, Source] = {}
    for pattern in patterns:
        matching = [source for source in found if fnmatchcase(source.name, pattern)]
        if not matching:
            raise CatalogueError(
                f"pattern {pattern} must match a scenario; there are {', '.join(s.name for s in found)}"
            )
        for source in matching:
            chosen.setdefault(source.name, source)
    return tuple(chosen.values())


def _with(
    scenario: Scenario, first: Iterable[Op] = (), running: Iterable[Op] = (), last: Iterable[Op] = ()
) -> Scenario:
    """Return a scenario with more operations: when memory is loaded, when the last layer is enabled, and at the end."""
    ops = scenario.ops
    at = next(n for n, op in enumerate(ops) if not isinstance(op, MemInit | MemLoad))
    enabled = max(n for n, op in enumerate(ops) if isinstance(op, RegWrite) and "OP_ENABLE" in op.register)
    return replace(scenario, ops=(*ops[:at], *first, *ops[at : enabled + 1], *running, *ops[enabled + 1 :], *last))


def _registers(entry: PlanEntry, config: HwConfig, seed: int) -> Scenario:
    """Return a scenario that first looks at all registers of both groups, and then at a running layer's.

    Reset values are read, patterns written, read back and taken back; while the layer waits for its memory,
    its group must be RUNNING and ignore writes.
    """
    scenario = entry.build(config, seed)
    offset = next(op for op in scenario.ops if isinstance(op, RegWrite) and op.register == "SDP.D_CVT_OFFSET")
    running = (
        RegRead("SDP.S_STATUS", expected=1),
        RegWrite("SDP.D_CVT_OFFSET", offset.value ^ 0x55),
        RegRead("SDP.D_CVT_OFFSET", expected=offset.value),
    )
    return _with(scenario, _walk(RegisterMap.of(config)), running)


def _walk(registers: RegisterMap) -> Iterator[Op]:
    """Yield the accesses that look at every group register of the units with two groups."""
    units: dict[str, list[Register]] = {}
    for register in registers:
        if register.name.startswith("D_") and register.name != "D_OP_ENABLE" and register.writable:
            units.setdefault(register.unit, []).append(register)
    for unit, found in units.items():
        if "S_POINTER" not in (register.name for register in registers if register.unit == unit):
            continue
        for group, pattern in enumerate(_PATTERNS):
            yield RegWrite(f"{unit}.S_POINTER", group)
            for register in found:
                yield RegRead(register.full_name, expected=register.reset & register.readable)
                yield RegWrite(register.full_name, pattern)
        for group, pattern in enumerate(_PATTERNS):
            yield RegWrite(f"{unit}.S_POINTER", group)
            for register in found:
                kept = register.reset & register.readable & ~register.writable
                yield RegRead(register.full_name, expected=pattern & register.writable & register.readable | kept)
                yield RegWrite(register.full_name, register.reset)
        yield RegWrite(f"{unit}.S_POINTER", 0)


def _masked(entry: PlanEntry, config: HwConfig, seed: int) -> Scenario:
    """Return a scenario whose done event is masked until its status bit was seen."""
    seen = Poll("GLB.S_INTR_STATUS", 1), RegWrite("GLB.S_INTR_MASK", 0)
    return _with(entry.build(config, seed), [RegWrite("GLB.S_INTR_MASK", _ALL_EVENTS)], last=seen)


def _one_at_a_time(entry: PlanEntry, config: HwConfig, seed: int) -> Scenario:
    """Return a scenario in which the memory interface may have a single read and a single write outstanding."""
    return _with(entry.build(config, seed), [RegWrite("MCIF.CFG_OUTSTANDING_CNT", 0)])


_DIRECTED = {"score_registers": _registers, "score_masked_interrupt": _masked, "score_one_at_a_time": _one_at_a_time}
