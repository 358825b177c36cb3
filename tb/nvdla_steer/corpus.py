"""The corpus: scenarios that reach something first, or in far fewer cycles, as a plan, and what each reaches."""

from __future__ import annotations

import hashlib
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_steer.points import Levels
from nvdla_tb.run import folders
from nvdla_tb.run.space import write_whole
from nvdla_tb.stimulus.generate.draw.numbers import Description
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.generate.plan_file import with_layers
from nvdla_tb.stimulus.generate.plan_text import plan_text, scenario_text

PLAN, LEAST_PLAN = "corpus.toml", "least.toml"
_POINTS = "points"

_RARE = 32
"""Scenarios that have reached a point, up to which an entry is chosen for it."""

_MOST_RARE = 4000
_CHEAPER = 3
"""An entry takes the place of others at a rare point that it reaches in so many times fewer cycles."""

_OF_ITS_OWN = 2000
"""Cycles that any scenario costs besides its own: to be built, judged and started."""

_SAVED_SECONDS = 20.0


class Described(NamedTuple):
    """A scenario: its name, what it is for, and the keys of a plan."""

    name: str
    about: str
    data: Description

    @classmethod
    def of(cls, about: str, data: Description) -> Described:
        """Return a description under a name that follows from it, as its data in memory follow from its name."""
        return cls(f"s{hashlib.sha256(scenario_text('', '', data).encode()).hexdigest()[:12]}", about, data)


@dataclass
class Entry:
    """A scenario of the corpus.

    Attributes:
        described: its description.
        cycles: that it takes.
        reached: a bit for each point, packed.
        rare: numbers of the points that few scenarios had reached when it came.
        chosen: how often it was mutated.
    """

    described: Described
    cycles: int
    reached: NDArray[np.uint8] = field(repr=False)
    rare: NDArray[np.int64] = field(repr=False)
    chosen: int = 0


class Gain(NamedTuple):
    """What a scenario has added: points, and whether it is kept."""

    points: int
    kept: bool


class Corpus:
    """Scenarios that reach most of a model, in a folder that lasts.

    ::

        corpus = Corpus(Path("sim_build/steer"), "nv_small", built.directory.name, len(points.kinds))
        corpus.add(described, points.levels(counts), cycles=1200)
        parent = corpus.choose(np.random.default_rng(1))
        corpus.save()

    ``corpus.toml`` in the folder is a plan of them, ``least.toml`` one of those that reach the same points in the
    fewest cycles; ``points`` holds what each reaches on each model. Entries that were never played on this model, such
    as those that a user has written, are ``unmeasured``.
    """

    def __init__(self, folder: Path, config: str, model: str, points: int) -> None:
        """Read the corpus of a folder, which is made when it is missing.

        Raises:
            InputError: for a plan that cannot be read, or of another configuration.
        """
        self.folder, self.config = folders.made(folder), config
        self._points = folders.made(folder, _POINTS, folders.folder_name(model))
        self._seen = np.zeros(points, dtype=np.uint8)
        self._hits = np.zeros(points, dtype=np.int64)
        self._least = np.full(points, np.iinfo(np.int64).max)
        self.entries: dict[str, Entry] = {}
        self.unmeasured: list[Described] = []
        self._saved, self._is_new = time.monotonic(), False
        for described in self._read():
            known = self._measured(described)
            if known is None:
                self.unmeasured.append(described)
            else:
                self._enter(described, *known)

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Of each point whether any scenario has reached it."""
        return self._seen > 0

    def add(self, described: Described, levels: Levels, cycles: int) -> Gain:
        """Take what a scenario that passed has reached, and keep it if it is of use, or was in the plan before."""
        fresh = int(np.count_nonzero((levels > 0) & (self._seen == 0)))
        further = bool((levels & ~self._seen).any())
        cheaper = bool(((self._least > _CHEAPER * cycles) & (self._hits <= _RARE) & (levels > 0)).any())
        was_there = described in self.unmeasured
        if not (further or cheaper or was_there):
            self._hits += levels > 0
            return Gain(0, kept=False)
        content = BytesIO()
        np.savez_compressed(content, levels=levels, cycles=np.int64(cycles))
        write_whole(self._path(described), content.getvalue())
        self._enter(described, levels, cycles)
        if was_there:
            self.unmeasured.remove(described)
        self._is_new = True
        if time.monotonic() - self._saved > _SAVED_SECONDS:
            self.save()
        return Gain(fresh, kept=True)

    def _enter(self, described: Described, levels: Levels, cycles: int) -> None:
        is_reached = levels > 0
        self._seen |= levels
        self._hits += is_reached
        self._least[is_reached] = np.minimum(self._least[is_reached], cycles)
        rare = np.flatnonzero(is_reached & (self._hits <= _RARE))
        rare = rare[np.argsort(self._hits[rare], kind="stable")[:_MOST_RARE]]
        self.entries[described.name] = Entry(described, cycles, np.packbits(is_reached), rare)

    def choose(self, rng: np.random.Generator) -> Entry:
        """Choose an entry to mutate: the likelier, the rarer its points, the fewer its cycles and its children."""
        entries = list(self.entries.values())
        worth = [
            (1e-3 + float((1 / self._hits[entry.rare]).sum())) / (entry.cycles + _OF_ITS_OWN) / (1 + entry.chosen)
            for entry in entries
        ]
        entry = entries[int(rng.choice(len(entries), p=np.array(worth) / sum(worth)))]
        entry.chosen += 1
        return entry

    def least(self) -> list[Entry]:
        """Return entries that reach all that the corpus reaches in about the fewest cycles, the most useful first."""
        missing = np.packbits(self.reached)
        # What an entry adds only shrinks: one that stays ahead of the next one's earlier worth is the best.
        waiting = [(np.inf, entry) for entry in self.entries.values()]
        found = []
        while waiting and missing.any():
            _, entry = waiting.pop(0)
            adds = int(np.bitwise_count(entry.reached & missing).sum()) / (entry.cycles + _OF_ITS_OWN)
            if waiting and adds < waiting[0][0]:
                if adds:
                    at = next((n for n, (other, _) in enumerate(waiting) if other < adds), len(waiting))
                    waiting.insert(at, (adds, entry))
                continue
            if adds:
                found.append(entry)
                missing &= ~entry.reached
        return found

    def save(self) -> None:
        """Write both plans, if there is anything new; each is replaced as a whole."""
        if self._is_new:
            every = [*(entry.described for entry in self.entries.values()), *self.unmeasured]
            self._write(PLAN, "the corpus of nvdla-tb steer", every)
            least = [entry.described for entry in self.least()]
            self._write(LEAST_PLAN, "those of corpus.toml that reach the same points in the fewest cycles", least)
        self._saved, self._is_new = time.monotonic(), False

    def _write(self, name: str, about: str, scenarios: Iterable[Described]) -> None:
        write_whole(self.folder / name, plan_text(self.config, scenarios, about))

    def _read(self) -> list[Described]:
        path = self.folder / PLAN
        if not path.is_file():
            return []
        found = load_plan(path)
        for entry in found:
            if entry.config != self.config:
                raise InputError(f"{path} must be of the configuration {self.config}, not {entry.config}")
        return [Described(entry.name, entry.about, with_layers(entry.name, entry.data)) for entry in found]

    def _path(self, described: Described) -> Path:
        text = scenario_text(described.name, "", described.data)
        return self._points / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"

    def _measured(self, described: Described) -> tuple[Levels, int] | None:
        """Return what an entry has reached on this model, and in how many cycles; None when nobody knows."""
        try:
            with np.load(self._path(described)) as file:
                levels, cycles = file["levels"], int(file["cycles"])
        except (FileNotFoundError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        return (levels, cycles) if levels.shape == self._seen.shape and levels.dtype == np.uint8 else None
