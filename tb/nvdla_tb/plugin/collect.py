"""Plan files and tests in Python as items of a pytest run, and what it says besides them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nvdla_models.errors import InputError
from nvdla_models.reading import read_toml
from nvdla_tb.cli.console import Console
from nvdla_tb.judge.text import first_line
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.paths import PLANS
from nvdla_tb.plugin.dut import PlayedDut
from nvdla_tb.plugin.entry import DUT, OF_DEVICE
from nvdla_tb.plugin.session_report import ATTRIBUTE, MARKERS, SCENARIO_MARKER, TEST_MARKER, SessionReport
from nvdla_tb.report import failures
from nvdla_tb.run import project
from nvdla_tb.stimulus.exchange import PINS_MARKER
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from nvdla_tb.stimulus.generate.random import ENGINES
from nvdla_tb.stimulus.result import Result

RESULT: pytest.StashKey[Result] = pytest.StashKey()
"""Where an item keeps its result."""


class PytestTeller:
    """Tells of builds, which may take minutes, past pytest's capture; what an item has found comes with its report."""

    def __init__(self, config: pytest.Config) -> None:
        """Take the run."""
        self._config = config
        self._console: Console | None = None

    def say(self, text: str) -> None:
        """Print a line."""
        self._show(lambda console: console.say(text))

    def progress(self, text: str) -> None:
        """Replace the progress line."""
        self._show(lambda console: console.progress(text))

    def _show(self, tell: Callable[[Console], None]) -> None:
        """Tell something while nothing is captured; workers of pytest-xdist have nobody to tell."""
        plugins = self._config.pluginmanager
        reporter: pytest.TerminalReporter | None = plugins.get_plugin("terminalreporter")
        capture = plugins.get_plugin("capturemanager")
        if reporter is None:
            return
        with nullcontext() if capture is None else capture.global_and_fixture_disabled():
            if self._console is None:
                reporter.ensure_newline()
                self._console = Console()
            tell(self._console)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Hand the result on with the report."""
        reported = yield
        if self._console is not None:
            self._console.clear()
            self._console = None
        if call.when == "call" and RESULT in item.stash:
            setattr(reported, ATTRIBUTE, item.stash[RESULT].encode().decode())
        return reported


class FailedError(Exception):
    """An item that failed, with its result."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.identity)
        self.result = result


class PlayedItem(pytest.Item):
    """A scenario of a plan with a seed, or a cocotb test: what is played on the device."""

    def __init__(
        self,
        *,
        play: Callable[[PlayedDut, pytest.Item], Result],
        marks: Sequence[str | pytest.MarkDecorator],
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self._play = play
        for mark in marks:
            self.add_marker(mark)

    def runtest(self) -> None:
        """Play it."""
        result = self._play(self.config.stash[DUT], self)
        self.stash[RESULT] = result
        if result.ending is Ending.REFUSED:
            pytest.skip(f"refused: {result.verdict.refused}")
        if result.ending.is_failure:
            raise FailedError(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the bench's own report for what failed, and the message for what the user got wrong."""
        if isinstance(excinfo.value, FailedError):
            # pytest's summary has the first line.
            return f"{first_line(excinfo.value.result.verdict)}\n{failures.told([excinfo.value.result])}"
        if isinstance(excinfo.value, InputError):
            return f"error: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return what a failure is headed with; pytest needs a line for an item that a mark skips."""
        return self.path, 0, self.name


class PlanFile(pytest.File):
    """A plan."""

    def collect(self) -> Iterator[PlayedItem]:
        """Yield its scenarios, each with every seed that is wanted."""
        try:
            entries = load_plan(self.path)
        except InputError as error:
            raise self.CollectError(str(error)) from error
        for entry in entries:
            marks = (SCENARIO_MARKER, *sorted(_engines(entry)), *entry.markers)
            for seed in self.config.getoption("nvdla_seed") or [entry.seed]:
                play = partial(_play_entry, entry=entry, seed=seed)
                yield PlayedItem.from_parent(self, name=f"{entry.name}.{seed}", play=play, marks=marks)


class CoroutineModule(pytest.Module):
    """A module with cocotb tests, and maybe with others."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield what pytest finds in it, and the cocotb tests."""
        yield from super().collect()
        for decorated in vars(self.obj).values():
            # What ``cocotb.test`` leaves in the place of a coroutine; what is imported belongs to another module.
            if hasattr(decorated, "generate_tests") and decorated.func.__module__ == self.obj.__name__:
                marks = [TEST_MARKER, *map(_decorator, getattr(decorated.func, "pytestmark", []))]
                for test in decorated.generate_tests():
                    skips = [pytest.mark.skip(reason="cocotb.test(skip=True)")] if test.skip else []
                    yield PlayedItem.from_parent(self, name=test.name, play=_play_test, marks=[*marks, *skips])


def pytest_configure(config: pytest.Config) -> None:
    """Take the device from the options, and the built-in plans of the project.

    Raises:
        UsageError: when one of them cannot be used.
    """
    given = [(word, config.getoption(name)) for name, word in OF_DEVICE.items()]
    words = [word for option, value in given if value is not None for word in (option, value)]
    waves, seconds = config.getoption("nvdla_waves"), config.getoption("nvdla_timeout")
    plusargs = tuple(config.getoption("nvdla_plusarg") or ())
    told, live = PytestTeller(config), config.getoption("capture") == "no"
    try:
        played = PlayedDut(words, told, timeout_seconds=seconds, waves=waves, plusargs=plusargs, live=live)
        built_in = [str(PLANS / f"{path}.toml") for path in project.current().plans if not path.suffix]
    except InputError as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[DUT] = played
    config.pluginmanager.register(told)
    config.pluginmanager.register(SessionReport(config, played.root, played.dut))
    for line in (
        *(f"{marker}: {about}" for marker, about in MARKERS.items()),
        f"{PINS_MARKER}: a test in Python that needs pins of CSB or memory, or agents in Python",
        *(f"{engine.lower()}: a scenario with a layer of {engine}" for engine in ENGINES),
    ):
        config.addinivalue_line("markers", line)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args += [plan for plan in built_in if plan not in config.args]


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the simulator."""
    if DUT in config.stash:
        config.stash[DUT].close()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Add the plan that a file is, and the module of a project's tests in Python, whatever pytest takes for such."""
    found = yield
    if file_path.suffix == ".toml" and _is_plan(file_path, parent):
        found.append(PlanFile.from_parent(parent, path=file_path))
    elif file_path in project.current().tests and not found:
        found.append(CoroutineModule.from_parent(parent, path=file_path))
    return found


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Return the module of a file that names cocotb, which may hold tests of it."""
    if b"cocotb" not in module_path.read_bytes():
        return None
    module: pytest.Module = CoroutineModule.from_parent(parent, path=module_path)
    return module


def _play_entry(dut: PlayedDut, item: pytest.Item, *, entry: PlanEntry, seed: int) -> Result:
    return dut.play_entry(entry, item.path, seed)


def _play_test(dut: PlayedDut, item: pytest.Item) -> Result:
    return dut.play_test(item.path, item.name, pins=item.get_closest_marker(PINS_MARKER) is not None)


def _decorator(mark: pytest.Mark) -> pytest.MarkDecorator:
    decorator: pytest.MarkDecorator = getattr(pytest.mark, mark.name)
    return decorator.with_args(*mark.args, **mark.kwargs)


def _engines(entry: PlanEntry) -> set[str]:
    """Return the markers of a scenario's layers."""
    layers = entry.data.get("layer", [])
    named = {str(layer.get("engine", "SDP")) for layer in layers if isinstance(layer, dict)}
    return {name.lower() for name in named if name in ENGINES}


def _is_plan(path: Path, parent: pytest.Collector) -> bool:
    """Return whether a file is a plan to play: it is given, or the project names it, or it reads like one."""
    named = project.current().plans
    given = path in named or parent.session.isinitpath(path)
    if named or given:
        return given
    try:
        data = read_toml(path)
    except InputError:
        return False
    return isinstance(data.get("config"), str) and isinstance(data.get("scenario"), list)
