"""The reports of a pytest run, as ``run`` writes them: there before the first item, and never better than the run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nvdla_models.reading import read_json
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.plain_data import converted, decoded
from nvdla_tb.report import page
from nvdla_tb.report import report as pages
from nvdla_tb.report.live import LiveReport
from nvdla_tb.report.summary import endings, failed, problems_of
from nvdla_tb.run import folders
from nvdla_tb.run.space import write_whole
from nvdla_tb.stimulus.result import Dut, Result

ATTRIBUTE = "nvdla_result"
"""Where the report of an item has its result as text, which comes through from workers of pytest-xdist."""

SCENARIO_MARKER, TEST_MARKER = "nvdla_scenario", "nvdla_test"
MARKERS = {SCENARIO_MARKER: "a scenario of a plan", TEST_MARKER: "a cocotb test"}
"""Markers of the items that are played on the device."""

_PLANNED = "nvdla_planned"
"""What pytest-xdist hands to its workers: the file in which one of them names the items that are played."""


class _Planned(msgspec.Struct, frozen=True):
    """What a run is to play, as a worker says it: node ids, and whether the reports are those of this run."""

    items: list[str]
    reported: bool


class SessionReport:
    """Writes the reports of a run, and fails one that would pass although not everything was played.

    Workers of pytest-xdist collect, and the process that starts them writes the reports.
    """

    def __init__(self, config: pytest.Config, root: Path, dut: Dut) -> None:
        """Take the run, the folder of its reports, and what is tested."""
        self._config, self._root, self._dut = config, root, dut
        self._head = page.Head(root.name, shlex.join(["pytest", *map(str, config.invocation_params.args)]))
        self._deselected = 0
        self._live: LiveReport | None = None
        self._problems: list[str] = []

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the items that are not to be played."""
        self._deselected += sum(map(_is_played, items))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Write the reports before the first item; a worker only says which items they are of."""
        found = [item.nodeid for item in session.items if _is_played(item)]
        # A run of other tests alone has nothing to do with the device, unless all that it chose was of the device.
        planned = _Planned(found, bool(found) or bool(self._deselected and not session.items))
        given: dict[str, Any] | None = getattr(self._config, "workerinput", None)
        if given is not None:
            write_whole(Path(given[_PLANNED]), msgspec.json.encode(planned))
        elif not session.config.getoption("collectonly"):
            self._begin(planned)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of pytest-xdist where it names the items."""
        node.workerinput[_PLANNED] = str(self._planned_file(node).resolve())

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any) -> None:
        """Write the reports when the first worker has collected; all of them collect the same."""
        path = self._planned_file(node)
        planned = converted(read_json(path), _Planned, str(path))
        path.unlink()
        self._begin(planned)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the result that came with a report, or why an item that ended has none."""
        if self._live is None or MARKERS.keys().isdisjoint(report.keywords):
            return
        text = getattr(report, ATTRIBUTE, None)
        if text is not None:
            self._live.add(report.nodeid, decoded(text, Result))
        elif report.skipped:
            # A mark or a fixture skips it; longrepr is file, line and reason.
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            self._live.add(report.nodeid, self._result(report.nodeid, Verdict(refused=reason)))
        elif report.failed:
            why = Verdict.of(Check.BENCH, report.longreprtext or "it has failed")
            self._live.add(report.nodeid, self._result(report.nodeid, why))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the last reports, and fail a run that would pass although something failed or was not played.

        Marks such as ``xfail`` say nothing of findings, and a run without any comparison has shown nothing.
        """
        if self._live is None:
            return
        results = self._live.results
        counts = endings(results)
        self._problems, missing = problems_of(counts), counts.get(Ending.NOT_PLAYED, 0)
        if missing:
            self._problems.append(f"{missing} of {len(results)} scenarios and cocotb tests were not played")
        self._write(results, self._problems)
        if session.exitstatus == pytest.ExitCode.OK:
            if count := failed(counts):
                self._problems.append(
                    f"{count} of {len(results)} scenarios and cocotb tests failed, whatever marks say"
                )
            if self._problems:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say where the reports are, and what is wrong with the run as a whole."""
        if self._live is None:
            return
        terminalreporter.write_line(f"reports: {self._root}/{page.PAGE}, {self._root}/{page.JUNIT}")
        for problem in self._problems:
            terminalreporter.write_line(f"failed: {problem}", red=True)

    def _begin(self, planned: _Planned) -> None:
        """Replace the reports of an earlier run by those of this one, unless it has done so, or has none."""
        if self._live is not None or not planned.reported:
            return
        folders.made(self._root)
        earlier = page.command_of(self._root)
        if earlier not in (None, self._head.command):
            reporter: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
            if reporter is not None:
                reporter.ensure_newline()
                reporter.write_line(f"in {self._root} this run replaces the reports of: {earlier}")
        pages.remove_pages(self._root)
        results = {nodeid: self._result(nodeid, Verdict.not_played()) for nodeid in planned.items}
        self._live = LiveReport(results, self._write)
        self._live.begin()

    def _write(self, results: Sequence[Result], problems: Sequence[str]) -> None:
        pages.write_pages(replace(self._head, problems=problems), results, self._root)

    def _result(self, nodeid: str, verdict: Verdict) -> Result:
        """Return the result of an item that the device did not play."""
        return Result(nodeid, 0, self._dut, shlex.join(["pytest", nodeid]), verdict)

    def _planned_file(self, node: Any) -> Path:
        return folders.made(self._root) / f".planned-{os.getpid()}-{node.workerinput['workerid']}.json"


def _is_played(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) is not None for name in MARKERS)
