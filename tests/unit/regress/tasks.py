"""Synthetic tasks and what workers do with them, importable by the workers of a cluster."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tb.regress.record import Ending, Record

from tb.regress.task import Dut, Task
from tb.regress.worker import Limits, record_path

DUT = Dut("nv_small", "verilator", None, "NV_nvdla", None, debug=False)


def task(seed: int, test: str = "random") -> Task:
    return Task(test, seed, "random", "SDP,PDP", DUT, f"python -m tb regress random --first {seed}")


def ending_of(seed: int) -> Ending:
    return Ending.MISMATCH if seed % 10 == 3 else Ending.PASSED


def record(task: Task) -> Record:
    ending = ending_of(task.seed)
    complaints = ("wrong value: 1 elements",) if ending.is_failure else ()
    bins = {} if ending.is_failure else {f"SDP.group={task.seed % 2}": 1, "SDP.height=1": task.seed}
    return Record(task.key, ending, complaints, {"cycles": 100 * task.seed}, 0.25, coverage=bins)


def pretend(data: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Leave the record that a simulation would, after the time that the limits give it."""
    parsed = Task.from_dict(data)
    path = record_path(limits.folder, parsed.key)
    time.sleep(limits.timeout_seconds)
    path.parent.mkdir(parents=True, exist_ok=True)
    started = limits.folder / "started"
    started.mkdir(exist_ok=True)
    (started / f"{parsed.key}.{time.monotonic_ns()}").touch()
    done = record(parsed).to_dict()
    partial = Path(f"{path}.partial{time.monotonic_ns()}")
    partial.write_text(json.dumps(done), encoding="utf-8")
    partial.replace(path)
    return done
