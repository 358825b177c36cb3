"""The device under test of a pytest run: built when it is first played on, then played on by every item."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import msgspec

from nvdla_models.config import HwConfig
from nvdla_tb.cli.dut import compiled, dut_of, dut_words
from nvdla_tb.cli.dut_options import add_dut_options
from nvdla_tb.cli.parsing import Parser
from nvdla_tb.cli.playing import run_name
from nvdla_tb.judge.text import why_not_passed
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.paths import COMMAND
from nvdla_tb.plugin.entry import OF_DEVICE
from nvdla_tb.plugin.live_log import shown_live
from nvdla_tb.run import folders
from nvdla_tb.run.compile.build import Teller
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.jobs import Job, PythonTest, Setup, run_job
from nvdla_tb.run.simulate import LOG_NAME, SharedProcess
from nvdla_tb.run.task import planned_job
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.result import Dut, Result
from nvdla_tb.stimulus.scenario import Scenario

_PYTEST = {option: f"--{name.replace('_', '-')}" for name, option in OF_DEVICE.items()}
"""Options that select the device, with their names in pytest."""


class PlayedDut:
    """A device under test, as the options of a pytest run select it; the fixture ``nvdla_dut`` returns it.

    ::

        def test_my_scenario(nvdla_dut):
            nvdla_dut.play(my_scenario(nvdla_dut.config))

    Attributes:
        dut: What is tested.
        config: Its configuration.
        root: Folder that gets a folder for each item.
    """

    def __init__(
        self,
        words: Sequence[str],
        teller: Teller,
        *,
        timeout_seconds: float,
        waves: bool,
        plusargs: tuple[str, ...],
        live: bool = False,
    ) -> None:
        """Take the options; nothing is built yet.

        Args:
            words: Options of the commands that select the device.
            teller: Who hears of the steps of a build.
            timeout_seconds: Wall-clock limit of each item.
            waves: Whether to write waves.
            plusargs: Arguments for the simulator.
            live: Whether to print the logs of simulations while they grow.

        Raises:
            InputError: for a configuration that does not exist.
        """
        parser = Parser(prog="pytest")
        add_dut_options(parser)
        args = parser.parse_args(list(words))
        self.dut: Dut = dut_of(args)
        self.config = HwConfig.load(args.config)
        self.root = folders.place(folders.RESULTS, "runs", run_name("pytest", self.dut))
        self._options = dut_words(args)
        self._plusargs = plusargs
        self._teller, self._timeout_seconds, self._waves = teller, timeout_seconds, waves
        self._live = live
        self._built: dict[str, Built | LaunchError] = {}
        self._process: SharedProcess | None = None

    @property
    def built(self) -> Built:
        """The compiled model whose ports are left to cocotb.

        Raises:
            LaunchError: when it cannot be built.
        """
        return self._model("coroutine")

    def play(self, scenario: Scenario, *, may_fail: bool = False) -> Result:
        """Play and judge a scenario of the configuration of this device in a folder of its own.

        Args:
            scenario: The scenario.
            may_fail: Whether the test looks itself at how it ended.

        Raises:
            AssertionError: with every finding, when it has not passed and may not fail.
        """
        result = self._play(Job(scenario.name, scenario.seed, "pytest", lambda: scenario, waves_option=None))
        if result.ending is not Ending.PASSED and not may_fail:
            raise AssertionError(
                "\n".join((f"{result.identity}: {result.ending.value}", *why_not_passed(result.verdict)))
            )
        return result

    def play_entry(self, entry: PlanEntry, plan: Path, seed: int) -> Result:
        """Play and judge a scenario of a plan file with a seed.

        Raises:
            InputError: for a scenario that cannot be made, and a model that cannot be built.
        """
        options = f"--seed {seed} --plan {shlex.quote(str(plan))} {shlex.join(self._options)}"
        rerun = f"{COMMAND} run --only {shlex.quote(entry.name)} {options}{self._given('--plusarg')}"
        return self._play(planned_job(entry, self.config, seed, rerun))

    def play_test(self, path: Path, coroutine: str, *, pins: bool = False) -> Result:
        """Play a test in Python.

        Args:
            path: Its file.
            coroutine: Its name there.
            pins: Whether the ports are left to it and to agents in Python.

        Raises:
            InputError: for a model that cannot be built.
        """
        top, module = _module(path)
        dut = msgspec.structs.replace(self.dut, backend="coroutine") if pins else self.dut
        built = self._model(dut.backend)
        name = f"{module}.{coroutine}"
        rerun = f"pytest {shlex.quote(f'{os.path.relpath(path)}::{coroutine}')} "
        rerun += shlex.join(_PYTEST.get(word, word) for word in self._options)
        rerun += self._given("--nvdla-plusarg")
        job = Job.of_test(name, 0, rerun, PythonTest(module, coroutine, (str(top),)))
        job = replace(job, plusargs=self._plusargs, waves_option="--nvdla-waves")
        with self._folder(job.identity) as folder:
            return run_job(job, Setup(built, dut, self._timeout_seconds, waves=self._waves), folder)

    def close(self) -> None:
        """End the simulator that the scenarios share."""
        if self._process is not None:
            self._process.close()
            folders.remove(self.root, self._process.work_dir.name)
            self._process = None

    def _given(self, option: str) -> str:
        """Return the plusargs as words of a command, each after the option and a blank."""
        return "".join(f" {option} {shlex.quote(text)}" for text in self._plusargs)

    def _play(self, job: Job) -> Result:
        built = self._model(self.dut.backend)
        with self._folder(job.identity) as folder:
            process = self._shared(built)
            return run_job(
                replace(job, plusargs=self._plusargs),
                Setup(built, self.dut, self._timeout_seconds, waves=self._waves),
                folder,
                process,
            )

    def _model(self, backend: str) -> Built:
        """Return a model; a build that has failed is not tried again."""
        if backend not in self._built:
            dut = msgspec.structs.replace(self.dut, backend=backend)
            try:
                self._built[backend] = compiled(dut, self._teller, waves=self._waves)
            except LaunchError as error:
                self._built[backend] = error
        built = self._built[backend]
        if isinstance(built, LaunchError):
            raise built
        return built

    def _shared(self, built: Built) -> SharedProcess:
        if self._process is None:
            self._process = SharedProcess(built, folders.made(self.root, f".simulator-{os.getpid()}"), self._plusargs)
        return self._process

    @contextmanager
    def _folder(self, name: str) -> Iterator[Path]:
        """Give the empty folder of an item, for which another pytest run may have to be waited for."""
        own = folders.folder_name(name)
        with folders.alone(folders.made(self.root) / f".{own}.lock", lambda: None):
            folder = folders.emptied(self.root, own)
            with shown_live(folder / LOG_NAME) if self._live else nullcontext():
                yield folder


def _module(path: Path) -> tuple[Path, str]:
    """Return the folder that a file's module is imported from, and the module's name."""
    folder, name = path.parent, path.stem
    while (folder / "__init__.py").is_file():
        folder, name = folder.parent, f"{folder.name}.{name}"
    return folder, name
