"""Failure bundles: a folder that plays a failure again, on any machine that has the same RTL.

Beside log and result it holds the scenario as a trace, and ``bundle.json`` with the task, its seed and command,
how it ended, and the configuration when that is the user's own.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from models.config import HwConfig
from tb.launch.toolchain import tool_versions
from tb.regress.jobs import Job, bit_exact
from tb.regress.record import Record
from tb.regress.task import BENCH, Task
from tb.trace import read

BUNDLE_FILE = "bundle.json"
CONFIG_FILE = "config.toml"
SCENARIO = "scenario"
_VERSION = 1


class BundleError(ValueError):
    """A folder that is no bundle, or one that cannot be played."""


@dataclass(frozen=True)
class Bundle:
    """A failure: its folder, the task and how it ended."""

    folder: Path
    task: Task
    record: Record

    @property
    def config(self) -> str:
        """Name of the configuration, or the file that the bundle brings."""
        own = self.folder / CONFIG_FILE
        return str(own.resolve()) if own.is_file() else self.task.dut.config

    def job(self) -> Job:
        """Return what plays the failure again, from the trace alone.

        Raises:
            BundleError: for a test in Python, which has no scenario.
        """
        task, folder = self.task, self.folder / SCENARIO
        if task.kind == BENCH:
            raise BundleError(f"{task.test} must be a scenario to be replayed; as a test in Python it is: {task.rerun}")
        config = HwConfig.load(self.config)
        job = Job(task.test, task.seed, f"python -m tb replay {self.folder}", lambda: read(folder, config))
        return bit_exact(job) if task.exact else job


def write(folder: Path, task: Task, record: Record) -> None:
    """Make what a failure left behind a bundle.

    Args:
        folder: of the failure, with its scenario and log.
        task: what failed.
        record: how.
    """
    if task.dut.config.endswith(".toml"):
        shutil.copyfile(task.dut.config, folder / CONFIG_FILE)
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
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise BundleError(f"{folder} must be a failure bundle with {BUNDLE_FILE}: {error}") from error
    if data.get("version") != _VERSION:
        raise BundleError(f"{path} must be of version {_VERSION}, not {data.get('version')}")
    return Bundle(folder, Task.from_dict(data["task"]), Record.from_dict(data["record"]))


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


def with_rtl(task: Task, rtl: Path | None) -> Task:
    """Return the task on other RTL; None keeps its own."""
    return task if rtl is None else replace(task, dut=replace(task.dut, rtl=str(rtl.resolve())))
