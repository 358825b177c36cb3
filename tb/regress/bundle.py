"""Failure bundles: a folder that plays a failure again, on any machine that has the same RTL.

Beside log and result it holds the scenario as a trace, ``bundle.json`` with the task, its seed and command, and how
it ended, and what is the user's own: configuration and port map.
"""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from models.config import HwConfig
from models.errors import InputError
from models.reading import read_json
from tb.explain.runs import OWN_CONFIG, own_config
from tb.launch.toolchain import tool_versions
from tb.plain_data import converted
from tb.regress.jobs import Job, bit_exact
from tb.regress.record import Record
from tb.regress.task import BENCH, Dut, Task
from tb.trace import read

BUNDLE_FILE = "bundle.json"
PORT_MAP_FILE = "port_map.toml"
SCENARIO = "scenario"
_VERSION = 1


class BundleError(InputError):
    """A folder that is no bundle, or one that cannot be played."""


@dataclass(frozen=True)
class _Content:
    """What the file of a bundle must hold."""

    version: int
    task: dict[str, Any]
    record: dict[str, Any]


@dataclass(frozen=True)
class Bundle:
    """A failure: its folder, the task and how it ended."""

    folder: Path
    task: Task
    record: Record

    @property
    def dut(self) -> Dut:
        """What it was found on, with the files that the bundle brings in the place of the user's."""
        config, port_map = own_config(self.folder), self.folder / PORT_MAP_FILE
        return replace(
            self.task.dut,
            config=self.task.dut.config if config is None else str(config.resolve()),
            port_map=str(port_map.resolve()) if port_map.is_file() else self.task.dut.port_map,
        )

    def job(self) -> Job:
        """Return what plays the failure again, from the trace alone.

        Raises:
            BundleError: for a test in Python, which has no scenario.
        """
        task, folder, rerun = self.task, self.folder / SCENARIO, replay_command(self.folder)
        if task.kind == BENCH:
            raise BundleError(f"{task.test} must be a scenario to be replayed; as a test in Python it is: {task.rerun}")
        config = HwConfig.load(self.dut.config)
        job = Job(task.test, task.seed, rerun, lambda: read(folder, config))
        return bit_exact(job) if task.exact else job


def write(folder: Path, task: Task, record: Record) -> None:
    """Make what a failure left behind a bundle.

    Args:
        folder: of the failure, with its scenario and log.
        task: what failed.
        record: how.
    """
    if task.dut.config.endswith(".toml"):
        own = folder / OWN_CONFIG / Path(task.dut.config).name
        own.parent.mkdir()
        shutil.copyfile(task.dut.config, own)
    if task.dut.port_map is not None:
        shutil.copyfile(task.dut.port_map, folder / PORT_MAP_FILE)
    data = {
        "version": _VERSION,
        "seed": task.seed,
        "command": task.rerun,
        "task": task.to_dict(),
        "record": record.to_dict(),
        "tools": tool_versions(task.dut.simulator),
    }
    (folder / BUNDLE_FILE).write_text(json.dumps(data, indent=1), encoding="utf-8")


def load(folder: Path) -> Bundle:
    """Read a bundle, wherever it lies now.

    Raises:
        BundleError: when it is none, or of another version.
    """
    path = folder / BUNDLE_FILE
    try:
        data = converted(read_json(path), _Content, "content")
    except InputError as error:
        raise BundleError(f"{folder} must be a failure bundle with {BUNDLE_FILE}: {error}") from error
    if data.version != _VERSION:
        raise BundleError(f"{path} must be of version {_VERSION}, not {data.version}")
    try:
        return Bundle(folder, Task.from_dict(data.task), Record.from_dict(data.record))
    except InputError as error:
        raise BundleError(f"{path}: {error}") from error


def differences(before: Record, after: Record) -> list[str]:
    """Return how a failure differs when it is played again; nothing when it is reproduced."""
    found = []
    if after.ending is not before.ending:
        found.append(f"ended as {after.ending.value}, not {before.ending.value}")
    if after.complaints != before.complaints:
        found += [f"now: {line}" for line in after.complaints if line not in before.complaints]
        found += [f"no more: {line}" for line in before.complaints if line not in after.complaints]
    cycles = [record.facts.get("cycles") for record in (before, after)]
    if cycles[0] != cycles[1]:
        found.append(f"took {cycles[1]} cycles, not {cycles[0]}")
    return found


def replay_command(folder: Path) -> str:
    """Return the command that plays the bundle in a folder again."""
    return f"python -m tb replay {shlex.quote(str(folder))}"


def with_rtl(dut: Dut, rtl: Path | None) -> Dut:
    """Return the device with other RTL; None keeps its own."""
    return dut if rtl is None else replace(dut, rtl=str(rtl.resolve()))
