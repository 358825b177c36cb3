"""What a pytest run says besides its items: steps of a build, and the pages of all results."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest

from tb.judge.verdict import Ending
from tb.report import report as pages
from tb.run.result import Result

RESULT: pytest.StashKey[Result] = pytest.StashKey()
"""Where an item keeps its result."""

_ATTRIBUTE = "nvdla_result"
"""Where its report has it as text, which comes through from workers of pytest-xdist."""

ITEMS = {"nvdla_scenario": "a scenario of a plan", "nvdla_test": "a cocotb test"}
"""Markers of the items that are played on the device."""


class Told:
    """Collects the results of a run and writes its pages; as a teller of builds, it tells them on the terminal."""

    def __init__(self, config: pytest.Config) -> None:
        """Take the run."""
        self.root: Path | None = None
        self._config = config
        self._results: dict[str, Result] = {}
        self._selected: set[str] = set()
        self._compared_nothing = False

    def say(self, text: str) -> None:
        """Take what is worth a line; workers of pytest-xdist have no terminal."""
        reporter: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(text)

    def progress(self, text: str) -> None:
        """Drop how far it is, for which pytest has no line."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Hand the result on with the report."""
        reported = yield
        if call.when == "call" and RESULT in item.stash:
            setattr(reported, _ATTRIBUTE, item.stash[RESULT].encode().decode())
        return reported

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result that came with a report, and the names of what is played."""
        if not ITEMS.keys().isdisjoint(report.keywords):
            self._selected.add(report.nodeid)
        text = getattr(report, _ATTRIBUTE, None)
        if text is not None:
            self._results[report.nodeid] = msgspec.json.decode(text, type=Result)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that would pass although all that is played on the device was skipped, as ``run`` does."""
        refused = all(result.ending is Ending.REFUSED for result in self._results.values())
        if session.exitstatus == pytest.ExitCode.OK and self._selected and refused:
            self._compared_nothing = True
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the pages of all results, as ``run`` does, and say so when nothing was compared."""
        if self._results and self.root is not None:
            pages.write_pages(list(self._results.values()), self.root, self.root.name)
            terminalreporter.write_line(f"reports: {self.root}/index.html, {self.root}/junit.xml")
        if self._compared_nothing:
            skipped = f"{len(self._selected)} of {len(self._selected)} scenarios and cocotb tests were skipped"
            terminalreporter.write_line(f"failed: nothing was compared: {skipped}", red=True)
