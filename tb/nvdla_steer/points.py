"""The points of the RTL that a model counts, and how much of each a scenario reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.plain_data import decoded
from nvdla_tb.run import folders
from nvdla_tb.run.answers import RESULT_FILE
from nvdla_tb.run.compile.runners import HARNESS_DIR
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.compile.wrapper import WRAPPER_TOP
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.jobs import run_entry
from nvdla_tb.run.regress.code_coverage import read_counts
from nvdla_tb.run.regress.code_exclusions import KINDS, Point
from nvdla_tb.run.space import write_whole
from nvdla_tb.stimulus.exchange import FIRST_POINT, POINTS_FILE, Request

Levels = NDArray[np.uint8]
"""For each point a bit: how often it was reached, 0 for a point that was not."""

_TOGGLE = KINDS.index("toggle") + 1
_UNKNOWN = 255
_MOST_BITS = 8
_NAMING_SECONDS = 600.0


@dataclass(frozen=True)
class Points:
    """The points of a model, in its order.

    ::

        points = points_of(built, "nv_small", work_dir)
        levels = points.levels(np.fromfile(path, dtype=np.uint32))

    Attributes:
        kinds: Of each point, 1 + its index in ``KINDS``, and 0 for what is not the device's: harness and wrapper.
    """

    kinds: NDArray[np.uint8]

    def levels(self, counts: NDArray[np.uint32]) -> Levels:
        """Return how much of each point was reached, shape (points,).

        Of lines and branches the power of two of their count is a bit, up to 128 and more: how often a controller takes
        a branch says in which states it was. Of a toggle only that it occurred, as data toggle by chance.
        """
        if counts.shape != self.kinds.shape:
            raise LaunchError(f"the model must count {len(self.kinds)} points, not {len(counts)}")
        length = np.minimum(np.frexp(counts.astype(np.float64))[1], _MOST_BITS)
        level = np.where(self.kinds == _TOGGLE, np.minimum(length, 1), length)
        return np.where((level > 0) & (self.kinds > 0), 1 << (np.maximum(level, 1) - 1), 0).astype(np.uint8)

    def told(self, reached: NDArray[np.bool_]) -> str:
        """Return in words how many points of each kind were reached."""
        all_of, found = Counter(self.kinds.tolist()), Counter(self.kinds[reached].tolist())
        named = [(f"{kind} points", n) for n, kind in enumerate(KINDS, 1) if all_of[n]]
        return ", ".join(f"{found[n]} of {all_of[n]} {name}" for name, n in named)


def points_of(built: Built, config: str, folder: Path) -> Points:
    """Return the points of a model, which is asked for them once, as that takes most of a minute for a whole chip.

    Args:
        built: A native model that counts.
        config: Name or file of its configuration.
        folder: Folder of what is known of models.

    Raises:
        LaunchError: when it does not answer.
    """
    kept = folder / f"{folders.folder_name(built.directory.name)}.kinds"
    if kept.is_file():
        return Points(np.frombuffer(kept.read_bytes(), dtype=np.uint8))
    points = _asked(built, config, folders.emptied(folder, "names"))
    folders.remove(folder, "names")
    write_whole(kept, points.kinds.tobytes())
    return points


def _asked(built: Built, config: str, work_dir: Path) -> Points:
    path = (work_dir / RESULT_FILE).resolve()
    request = Request(config, result=str(path))
    run = run_entry(built, "points", request, work_dir, timeout_seconds=_NAMING_SECONDS)
    if not run.passed:
        raise LaunchError(f"{run.message}; log: {run.log_path}")
    names = path.with_name(POINTS_FILE)
    return named_points(read_counts(names), decoded(path.read_bytes(), int))


def named_points(numbered: Mapping[str, int], count: int) -> Points:
    """Return the points that a model has numbered; one that shares its name is of the kind of the one before it."""
    kinds = np.full(count, _UNKNOWN, dtype=np.uint8)
    harness = {source.name for source in HARNESS_DIR.iterdir()}
    for text, number in numbered.items():
        if number - FIRST_POINT >= count:
            continue
        point = Point.of(text)
        is_own = point.module != WRAPPER_TOP and Path(point.file).name not in harness
        kinds[number - FIRST_POINT] = 1 + KINDS.index(point.kind) if is_own and point.kind in KINDS else 0
    known = np.maximum.accumulate(np.where(kinds == _UNKNOWN, 0, np.arange(count)))
    kinds = kinds[known]
    return Points(np.where(kinds == _UNKNOWN, 0, kinds).astype(np.uint8))
