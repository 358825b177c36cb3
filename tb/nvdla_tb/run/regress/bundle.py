"""Failure bundles: a folder that plays a failure again, on any machine that has the same RTL.

Beside log and result it holds the scenario as a trace, ``bundle.json`` with the task, its seed and command, and how
it ended, and what is the user's own: configuration and port map. Whoever plays it names the RTL.
"""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.reading import read_json, resolved
from nvdla_tb.counting import counted
from nvdla_tb.explain.runs import OWN_CONFIG, own_config
from nvdla_tb.judge.text import complaints
from nvdla_tb.paths import COMMAND
from nvdla_tb.plain_data import converted
from nvdla_tb.run.compile.toolchain import tool_versions
from nvdla_tb.run.jobs import SCENARIO_DIR, Job, with_settings
from nvdla_tb.run.regress.named import Named, options_of
from nvdla_tb.run.systems import load_config, system_with
from nvdla_tb.run.task import BENCH, Task
from nvdla_tb.stimulus.result import Dut, Result
from nvdla_tb.writing import writing

BUNDLE_FILE = "bundle.json"
PORT_MAP_FILE = "port_map.toml"
_VERSION = 3


class BundleError(InputError):
    """A folder that is no bundle, or one that cannot be played."""


class _Head(msgspec.Struct):
    """The common beginning of every version of the file."""

    version: int


class _Contents(msgspec.Struct):
    """The file of a bundle."""

    version: int
    task: Task
    result: Result
    tools: dict[str, str]


@dataclass(frozen=True)
class Bundle:
    """A failure: its folder, the task and how it ended."""

    folder: Path
    task: Task
    result: Result

    @property
    def dut(self) -> Dut:
        """The device that it was found on, with the files of the bundle in the place of the user's."""
        config, port_map = own_config(self.folder), self.folder / PORT_MAP_FILE
        return msgspec.structs.replace(
            self.task.dut,
            config=self.task.dut.config if config is None else str(resolved(config)),
            port_map=str(resolved(port_map)) if port_map.is_file() else self.task.dut.port_map,
        )

    def on(self, rtl: Path | None) -> Bundle:
        """Return the bundle with other RTL; None keeps its own."""
        if rtl is None:
            return self
        dut = msgspec.structs.replace(self.task.dut, rtl=str(resolved(rtl)))
        return replace(self, task=msgspec.structs.replace(self.task, dut=dut))

    def check_named(self, named: Named, again: str) -> None:
        """Check that the user has named what a replay would build and execute.

        Args:
            named: What the user has named.
            again: The command that is being carried out, with all options of the user.

        Raises:
            NotNamedError: with the command that would allow it.
        """
        named.check(str(self.folder), "the bundle", [self.task], again)

    def job(self) -> Job:
        """Return the job that plays the failure again, from the trace alone.

        Raises:
            BundleError: for a test in Python, which has no scenario.
        """
        task, folder, rerun = self.task, self.folder / SCENARIO_DIR, replay_command(self.folder, self.task)
        if task.kind == BENCH:
            raise BundleError(f"{task.test} must be a scenario to be replayed; as a test in Python it is: {task.rerun}")
        config = load_config(self.dut.config)
        job = Job(task.test, task.seed, rerun, lambda: system_with(config).read(folder, config), plusargs=task.plusargs)
        return with_settings(job, exact=True) if task.exact else job


def write(folder: Path, task: Task, result: Result) -> None:
    """Make a bundle of what the failure of a task left in its folder, scenario and log."""
    if task.dut.config.endswith(".toml"):
        own = folder / OWN_CONFIG / Path(task.dut.config).name
        own.parent.mkdir()
        shutil.copyfile(task.dut.config, own)
    if task.dut.port_map is not None:
        shutil.copyfile(task.dut.port_map, folder / PORT_MAP_FILE)
    contents = _Contents(_VERSION, task, result, tool_versions(task.dut.simulator))
    with writing(folder / BUNDLE_FILE):
        (folder / BUNDLE_FILE).write_bytes(msgspec.json.format(msgspec.json.encode(contents), indent=1))


def load(folder: Path) -> Bundle:
    """Read a bundle, wherever it lies now.

    Raises:
        BundleError: when it is none, or of another version.
    """
    path = folder / BUNDLE_FILE
    if os.path.isdir(folder) and not os.path.lexists(path):
        raise BundleError(
            f"{folder} must be a failure bundle, and has no {BUNDLE_FILE}: only a failure of regress leaves one. A "
            f"scenario that passed is played again by {COMMAND} run --only NAME --seed N --waves, and a random one by "
            f"{COMMAND} run --plan FILE --waves after {COMMAND} regress random --seed N --seeds 1 --write-plan FILE"
        )
    try:
        data = read_json(path)
        version = converted(data, _Head, "content").version
        if version != _VERSION:
            raise BundleError(f"{path} must be of version {_VERSION}, not {version}")
        contents = converted(data, _Contents, "content")
    except BundleError:
        raise
    except InputError as error:
        raise BundleError(f"{folder} must be a failure bundle with {BUNDLE_FILE}: {error}") from error
    return Bundle(folder, contents.task, contents.result)


def differences(before: Result, after: Result) -> list[str]:
    """Return how a failure differs when it is played again; nothing when it is reproduced."""
    found = []
    if after.ending is not before.ending:
        found.append(f"ended as {after.ending.value}, not {before.ending.value}")
    earlier, later = complaints(before.verdict), complaints(after.verdict)
    found += [f"now: {line}" for line in later if line not in earlier]
    found += [f"no more: {line}" for line in earlier if line not in later]
    if before.verdict.cycles != after.verdict.cycles:
        found.append(f"took {counted(after.verdict.cycles, 'cycle')}, not {before.verdict.cycles}")
    return found


def replay_command(folder: Path, task: Task) -> str:
    """Return the command that plays the bundle of a task in a folder again."""
    return f"{COMMAND} replay {shlex.quote(str(folder))}{options_of(task.dut, task.plusargs)}"
