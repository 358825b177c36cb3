"""Code coverage of the RTL as Verilator counts it: merged over tasks, per module."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nvdla_models.limits import TRACE_BYTES
from nvdla_models.reading import read_text
from nvdla_tb.run import folders
from nvdla_tb.run.compile.runners import HARNESS_DIR
from nvdla_tb.run.compile.spec import COVERAGE_FILE
from nvdla_tb.run.compile.wrapper import WRAPPER_TOP
from nvdla_tb.run.regress.code_exclusions import KINDS, CodeCoverageError, Exclusion, Exclusions, Point
from nvdla_tb.writing import writing

FOLDER = "code_coverage"
"""Folder of a run with the points of each model, and one file of counts per thread that played."""

MERGED_FILE = "coverage.dat"
"""The counts of all workers, in Verilator's format."""

_HEADER = "# SystemC::Coverage-3"
_ENTRY = re.compile(r"C '(?P<point>.*)' (?P<count>\d{1,18})")
_COUNT = re.compile(rb"' (\d+)\n")

_HARNESS = frozenset(path.name for path in HARNESS_DIR.iterdir())
"""Sources of the harness, wherever they lay when the model was compiled."""

Counts = Mapping[str, int]
"""How often points were hit; a point is what Verilator writes between quotes."""


@dataclass(frozen=True)
class ModuleCoverage:
    """One module, whatever its parameters, all its instances together: points that were hit, and all, by kind."""

    module: str
    hit: Mapping[str, int]
    total: Mapping[str, int]


@dataclass(frozen=True)
class CodeCoverage:
    """What was reached of a device's code.

    Attributes:
        modules: By name; points that need not be reached are not among theirs.
        excluded: How many points need not be reached, by reason.
        surprises: Points that a file excludes and that were reached all the same.
        unused: Reasons that fit no point.
    """

    modules: Sequence[ModuleCoverage]
    excluded: Mapping[str, int]
    surprises: Sequence[str]
    unused: Sequence[str]


def read_counts(path: Path) -> dict[str, int]:
    """Read a file of Verilator's.

    Raises:
        CodeCoverageError: naming the file and the line.
    """
    counts: Counter[str] = Counter()
    header, *lines = read_text(path, TRACE_BYTES, CodeCoverageError).split("\n")
    if header != _HEADER:
        raise CodeCoverageError(f"{path} must be a coverage file that begins with {_HEADER}")
    for number, line in enumerate(lines, 2):
        match = _ENTRY.fullmatch(line)
        if match is None and (line or number <= len(lines)):
            raise CodeCoverageError(f"{path}:{number}: a point must be C '...' COUNT")
        if match is not None:
            counts[match["point"]] += int(match["count"])
    return dict(counts)


def keep(work_dir: Path, run_folder: Path) -> None:
    """Add what a simulator has counted to this thread's file of a run, and remove it from the simulator's folder.

    A model writes its points in the same order every time, so only numbers are added; RTL has so many points that
    to look each up would take longer than the simulation.
    """
    fresh = work_dir / COVERAGE_FILE
    if not fresh.is_file():
        return
    text = fresh.read_bytes()
    found = _COUNT.findall(text)
    if not text.startswith(_HEADER.encode()) or len(found) != text.count(b"\n") - 1:
        read_counts(fresh)
    counts = np.array(found, dtype=np.bytes_).astype(np.int64)
    points = _COUNT.sub(b"'\n", text)
    folder = folders.place(run_folder, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    names = folder / f"{hashlib.sha256(points).hexdigest()[:16]}.points"
    if not names.is_file():
        _replace(names, points)
    kept = names.with_suffix(f".{os.uname().nodename}-{threading.get_native_id()}.counts")
    if kept.is_file():
        counts += np.fromfile(kept, dtype=np.int64)
    _replace(kept, counts.tobytes())
    fresh.unlink()


def of_run(run_folder: Path) -> dict[str, int]:
    """Return the counts of all workers of a run; nothing when its model did not count."""
    merged: Counter[str] = Counter()
    for names in sorted((run_folder / FOLDER).glob("*.points")):
        files = names.parent.glob(f"{names.stem}.*.counts")
        counted = np.sum([np.fromfile(path, dtype=np.int64) for path in files], axis=0)
        points = names.read_text(encoding="utf-8").splitlines()[1:]
        bare = [point.removeprefix("C '").removesuffix("'") for point in points]
        merged.update(dict(zip(bare, counted.tolist(), strict=True)))
    return dict(merged)


def write_counts(counts: Counts, path: Path) -> None:
    """Write a file as Verilator does, for its own tools."""
    with writing(path), path.open("w", encoding="utf-8") as file:
        file.write(f"{_HEADER}\n")
        file.writelines(f"C '{point}' {count}\n" for point, count in counts.items())


def _replace(path: Path, content: bytes) -> None:
    part = path.with_name(f"{path.name}.{threading.get_native_id()}")
    with writing(path):
        part.write_bytes(content)
        part.replace(path)


def coverage_of(counts: Counts, given: tuple[Exclusion, ...] = ()) -> CodeCoverage:
    """Return the coverage of the device; wrapper and harness are left out.

    The exclusions that are given add to what the authors of the RTL leave out.

    Raises:
        CodeCoverageError: for a point that says not where it is.
    """
    exclusions, excluded, surprises = Exclusions(given), Counter[str](), []
    hit: dict[str, Counter[str]] = {}
    total: dict[str, Counter[str]] = {}
    for text, count in counts.items():
        point = Point.of(text)
        if point.module == WRAPPER_TOP or Path(point.file).name in _HARNESS or point.kind not in KINDS:
            continue
        exclusion = exclusions.excluding(point)
        if exclusion is not None and (exclusion.either_way or not count):
            excluded[exclusion.reason] += 1
            continue
        if exclusion is not None:
            surprises.append(f"{point.file}:{point.line}: {point.kind} {point.name}: {exclusion.reason}")
        total.setdefault(point.module, Counter())[point.kind] += 1
        hit.setdefault(point.module, Counter())[point.kind] += count > 0
    modules = [ModuleCoverage(module, hit[module], total[module]) for module in sorted(total)]
    unused = list(dict.fromkeys(exclusion.reason for exclusion in exclusions.unused))
    return CodeCoverage(modules, excluded, surprises, unused)
