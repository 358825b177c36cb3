"""What to play next: a mutated entry of the corpus, or a scenario as ``regress random`` draws it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import count

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_steer.corpus import Corpus, Described
from nvdla_steer.mutate import mutated
from nvdla_tb.nvdla.performance import work_of
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.stimulus.generate.draw.numbers import Description
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.generate.random import ENGINES, random_entry
from nvdla_tb.stimulus.refusal import started_layers
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings

SEED = 1
"""Seed of the data of all entries: that of ``nvdla-tb run`` unless it is told another."""

_FRESH, _MUTATED = "fresh", "mutated"
_LEAST_BITS, _MOST_BITS = 12.0, 17.0
"""Powers of two of the cycles that a scenario may take by estimate: as often between two of them as between others."""

_LEAST_SHARE, _MOST_SHARE = 0.1, 0.8
_MEMORY = 0.98
"""How much of the yield of both kinds is remembered from one scenario to the next."""

_FROM_OUTSIDE = 0.3
"""How often the other parent is freshly drawn."""

_USUAL_LATENCY, _UNDER_WAY, _WAITS = 50, 48, 14
_OPERATION_CYCLES = 6
"""Cycles of a register access, about."""


@dataclass(frozen=True)
class Candidate:
    """A scenario to play, and where it comes from."""

    described: Described
    kind: str


class Candidates:
    """An endless source of scenarios that the rules of plans and of the judge allow.

    ::

        candidates = Candidates(HwConfig.load("nv_small"), corpus, seed=0)
        candidate = candidates.next()
        candidates.note(candidate.kind, gain.points, cycles)

    Those that are refused are thrown away; ``thrown`` counts them.
    """

    def __init__(self, config: HwConfig, corpus: Corpus, seed: int, *, uniform: bool = False) -> None:
        """Take the configuration, the corpus, the seed of all choices, and whether nothing is to be steered."""
        self._config, self._corpus, self._seed, self._uniform = config, corpus, seed, uniform
        self._numbers, self._proposed = count(), set(corpus.entries)
        self._waiting = list(corpus.unmeasured)
        self._gains = {_FRESH: 1.0, _MUTATED: 1.0}
        self._cycles = {_FRESH: 1.0, _MUTATED: 1.0}
        self.thrown: Counter[str] = Counter()

    def next(self) -> Candidate:
        """Return what to play next: first of all entries of the corpus that were never played."""
        if self._waiting:
            return Candidate(self._waiting.pop(), "corpus")
        while True:
            number = next(self._numbers)
            if self._uniform:
                return Candidate(Described.of(f"drawn from {number}", self._drawn(self._seed + number)), _FRESH)
            candidate = self._proposal(np.random.default_rng([self._seed, number]))
            if candidate is not None:
                self._proposed.add(candidate.described.name)
                return candidate

    def note(self, kind: str, points: int, cycles: int) -> None:
        """Take how many points a scenario has added, in how many cycles: the better kind comes more often."""
        if kind in self._gains:
            self._gains[kind] = _MEMORY * self._gains[kind] + points
            self._cycles[kind] = _MEMORY * self._cycles[kind] + cycles

    def _proposal(self, rng: np.random.Generator) -> Candidate | None:
        most = 2 ** rng.uniform(_LEAST_BITS, _MOST_BITS)
        if not self._corpus.entries or rng.random() < self._share():
            data, kind, about = self._fresh(rng), _FRESH, "drawn"
        else:
            parent = self._corpus.choose(rng).described
            other = self._fresh(rng) if rng.random() < _FROM_OUTSIDE else self._corpus.choose(rng).described.data
            data, kind, about = mutated(rng, parent.data, other), _MUTATED, f"from {parent.name}"
        described = Described.of(about, data)
        if described.name in self._proposed:
            return None
        try:
            cycles = estimate(self._config, described)
        except InputError:
            self.thrown[kind] += 1
            return None
        except Exception:
            # A fault of the bench: playing it says so.
            return Candidate(described, kind)
        return Candidate(described, kind) if cycles <= most else None

    def _share(self) -> float:
        """Return how often a scenario is freshly drawn: as often as that yields points, by cycle."""
        rates = {kind: self._gains[kind] / self._cycles[kind] for kind in self._gains}
        share = rates[_FRESH] / max(sum(rates.values()), 1e-12)
        return min(max(share, _LEAST_SHARE), _MOST_SHARE)

    def _fresh(self, rng: np.random.Generator) -> Description:
        return self._drawn(int(rng.integers(1 << 31)))

    def _drawn(self, seed: int) -> Description:
        return random_entry(self._config, seed, ENGINES).data


def estimate(config: HwConfig, described: Described) -> float:
    """Return about how many cycles a scenario takes.

    Raises:
        InputError: when the rules refuse it, or the judge would.
    """
    scenario = PlanEntry(*described[:2], config.name, described.data).build(config, SEED)
    works = [work_of(started.layer, started.fetch) for started in started_layers(scenario.ops, config)]
    nbytes = sum(sum(work.read_bytes.values()) + sum(work.written_bytes.values()) for work in works)
    least = sum(work.bound[1] for work in works)
    return least + _delays(scenario, nbytes / config.memory_atomic_bytes, len(works))


def _delays(scenario: Scenario, accesses: float, layers: int) -> float:
    """Return the cycles that the settings of the bench add, about."""
    settings: BenchSettings = scenario.settings
    port = settings.port
    latency = max(
        _USUAL_LATENCY if port.latency_cycles is None else port.latency_cycles, port.write_latency_cycles or 0
    )
    latency += port.jitter_cycles
    limits = [op.value for op in scenario.ops if isinstance(op, RegWrite) and op.register == "MCIF.CFG_OUTSTANDING_CNT"]
    under_way = min([_UNDER_WAY, *(1 + min(limit & 0xFF, limit >> 8 & 0xFF) for limit in limits)])
    waits = accesses / (1 - port.ready_stall) + accesses / (1 - port.valid_stall)
    waits += latency * (_WAITS * layers + accesses / under_way)
    if port.pause_period_cycles:
        waits *= port.pause_period_cycles / (port.pause_period_cycles - port.pause_cycles)
    accessed = len(scenario.ops) * _OPERATION_CYCLES * max(settings.csb_period, 1.0) / (1 - settings.csb_stall)
    return (waits + accessed) * (1 if settings.reset_cycle is None else 2)
