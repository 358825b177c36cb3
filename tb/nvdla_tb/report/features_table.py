"""The test plan with its results: a line per feature, missing parts, and the same for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nvdla_tb.coverage.status import Hits, Totals, item_status, totals
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.markup import Cell, Section
from nvdla_tb.report.summary import aligned, has_failed
from nvdla_tb.run.regress.features import Feature, FeaturePlan
from nvdla_tb.run.regress.store import Latest

RANDOM = "random"
"""The name of all random scenarios in a store."""

_NOT_PREDICTED = frozenset((Ending.REFUSED, Ending.GOLDEN))
_LEGEND = (
    "Random: units whose random layers exercise the feature. Lacks: a HOLE is a feature without a test, a test that "
    "passed, a coverage point or a bin that was hit."
)
_COLUMNS = ("feature", "level", "tests", "result", "random", "coverage", "")


@dataclass(frozen=True)
class FeatureStatus:
    """A feature and how far it is.

    Attributes:
        feature: the feature.
        passed: tests whose last runs all passed.
        failed: names of tests of which one failed.
        refused: names of tests of which one was refused, and none failed.
        unplayed: names of tests that were never played, or not with every seed.
        coverage: of its points and crosses.
        holes: missing parts, in words.
    """

    feature: Feature
    passed: int
    failed: tuple[str, ...]
    refused: tuple[str, ...]
    unplayed: tuple[str, ...]
    coverage: Totals
    holes: tuple[str, ...]


def random_endings(latest: Latest) -> Counter[Ending]:
    """Return how random scenarios ended, whatever they were drawn from."""
    return sum((Counter(counts) for (test, _), counts in latest.items() if test == RANDOM), Counter())


def feature_status(plan: FeaturePlan, features: Sequence[Feature], latest: Latest, hits: Hits) -> list[FeatureStatus]:
    """Return how far features are."""
    found = []
    for feature in features:
        # A scenario of the same name in a plan of the user's own is another test.
        ended = {test.name: latest.get((test.name, test.source), {}) for test in feature.tests}
        names = list(ended)
        failed = tuple(name for name in names if any(has_failed(ending) for ending in ended[name]))
        others = [name for name in names if name not in failed]
        refused = tuple(name for name in others if _NOT_PREDICTED.intersection(ended[name]))
        # One of which some seeds were not played has not passed.
        left = [name for name in others if name not in refused]
        unplayed = tuple(name for name in left if not ended[name] or Ending.NOT_PLAYED in ended[name])
        passed = len(names) - len(failed) - len(refused) - len(unplayed)
        coverage = totals(item_status(plan.model, hits, feature.items))
        holes = (
            (not names, "no test"),
            (bool(names) and not passed, "nothing passed"),
            (not feature.items, "no coverage"),
            (bool(feature.items and coverage.reachable) and not coverage.hit, "nothing covered"),
        )
        lacks = tuple(hole for is_lacking, hole in holes if is_lacking)
        found.append(FeatureStatus(feature, passed, failed, refused, unplayed, coverage, lacks))
    return found


def lines(statuses: Sequence[FeatureStatus]) -> Iterator[str]:
    """Yield the plan as aligned columns, then what failed, was not played, or lacks something."""
    rows = [_COLUMNS, *(_row(status) for status in statuses)]
    yield from aligned(rows, left=len(_COLUMNS)).splitlines()
    for status in statuses:
        name = status.feature.name
        if status.failed:
            yield f"failed: {name}: {', '.join(status.failed)}"
        if status.refused:
            yield f"refused: {name}: {', '.join(status.refused)}"
        if status.unplayed and status.passed + len(status.failed) + len(status.refused):
            yield f"not played: {name}: {', '.join(status.unplayed)}"


def section(statuses: Sequence[FeatureStatus]) -> Section:
    """Return the plan as a part of a page."""
    rows = []
    for status in statuses:
        name, level, tests, result, random, coverage, holes = _row(status)
        kind = "bad" if status.failed else "other" if status.unplayed or status.refused or not status.passed else "good"
        percent = status.coverage.percent
        rows.append(
            (
                Cell(name, about=status.feature.about),
                level,
                tests,
                Cell(result, kind),
                random,
                Cell(coverage, bar=[("good", percent), ("other", 100 - percent)]),
                Cell(holes, "bad"),
            )
        )
    columns = ("feature", "level:s", "tests:n", "result", "random", "coverage", "lacks")
    return Section("Test plan", columns, rows, more=_LEGEND)


def folded(statuses: Sequence[FeatureStatus]) -> Section:
    """Return the plan as lines that are folded, for the page of a run that plays none of its tests."""
    found = []
    for status in statuses:
        name, _, _, result, _, coverage, holes = _row(status)
        found.append("; ".join(part for part in (f"{name}: {result}", f"coverage {coverage}", holes) if part))
    return Section("Test plan, whose tests a random run does not play", lines=found)


def _row(status: FeatureStatus) -> tuple[str, ...]:
    feature, coverage = status.feature, status.coverage
    counts = {
        "passed": status.passed,
        "failed": len(status.failed),
        "refused": len(status.refused),
        "not played": len(status.unplayed),
    }
    return (
        feature.name,
        feature.level,
        str(len(feature.tests)),
        ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "-",
        ",".join(feature.random) or "-",
        f"{coverage.percent:.1f} % of {coverage.reachable}" if coverage.reachable else "-",
        f"HOLE: {', '.join(status.holes)}" if status.holes else "",
    )
