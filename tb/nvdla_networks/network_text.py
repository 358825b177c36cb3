"""Reports about a network for the terminal and for files."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_networks.compiler.share import Share
from nvdla_networks.images import top_classes, write_dimg
from nvdla_networks.network_lines import accuracy_lines, image_lines, share_lines
from nvdla_networks.network_predicted import plain_predictions, prediction_lines
from nvdla_networks.network_report import LayerLine, LayerVerdict, Report, said
from nvdla_networks.scenario import NetworkScenario, Results
from nvdla_networks.tensors import Tensor
from nvdla_tb.report.performance import table
from nvdla_tb.report.summary import aligned
from nvdla_tb.run.space import write_whole
from nvdla_tb.stimulus.result import identity

_LAYER = (
    "number",
    "run",
    "name",
    "engine",
    "shape",
    "judged_bytes",
    "wrong_bytes",
    "cycles",
    "worst_margin",
    "float_error",
)
_COLUMNS = ("#", "layer", "engine", "shape", "verdict", "bytes", "cycles", "margin")


def print_report(report: Report, most: int, *, performance: bool) -> None:
    """Print table, results with so many classes at most, and what is wrong; and what layers took, and why."""
    runs = len(report.runs)
    for number, run in enumerate(report.runs):
        if runs > 1:
            print(f"\n{run.label}:")
        rows = [_row(line) for line in report.layers if line.run == number]
        print(f"\n{aligned([_COLUMNS, *rows], left=5)}\n" if rows else "")
        for output, values in enumerate(run.expected):
            print(f"model: {classes(values, most)}")
            if run.got is not None:
                print(f"RTL:   {classes(run.got[output], most)}")
        for comparison in run.comparisons:
            print(said(comparison))
        measured = [line.performance for line in report.layers if line.run == number and line.performance is not None]
        if performance and measured:
            print(f"\n{table(measured)}")
        foretold = prediction_lines([line for line in report.layers if line.run == number])
        if performance and foretold:
            print("\n" + "\n".join(foretold))
    print("".join(f"\n{line}" for line in (*share_lines(report), *accuracy_lines(report))))
    judged = sum(line.judged_bytes for line in report.layers)
    cycles = [line.cycles for line in report.layers if line.cycles is not None]
    print(f"\n{len(report.layers)} layers, {judged} bytes{' judged' if report.result else ''}", end="")
    if report.result is not None:
        print(f", {report.result.verdict.cycles} cycles, {sum(cycles)} of them in layers", end="")
    print("".join(f"\n{line}" for line in image_lines(report)))
    _print_problems(report)
    print(report.outcome.value)


def stuck(report: Report) -> list[str]:
    """Return a line for each layer that was not run because another has not ended, with that one."""
    if report.result is None:
        return []
    running = {
        (line.run, name): line
        for line in report.layers
        if line.verdict in (LayerVerdict.UNFINISHED, LayerVerdict.NOT_RUN)
        for name in line.name.split("+")
    }
    lines = []
    for line in report.layers:
        held = [running[line.run, name] for name in line.waits if (line.run, name) in running]
        if line.verdict is LayerVerdict.NOT_RUN and held:
            names = ", ".join(dict.fromkeys(f"{other.number} ({other.name})" for other in held))
            lines.append(f"layer {line.number} ({line.name}) waits for the end of {names}")
    return lines


def _print_problems(report: Report) -> None:
    wrong = report.first_wrong
    if wrong is not None:
        print(f"first wrong layer: {wrong.number} ({wrong.name}), {wrong.wrong_bytes} bytes")
    for line in stuck(report):
        print(line)
    for problem in report.problems:
        print("\n".join(f"  {line}" for line in problem.splitlines()))
    if report.result is not None and report.problems:
        for line in () if report.result.explained is None else report.result.explained.layer_lines:
            print(f"  {line}")
        if report.result.folder is not None:
            print(f"  folder: {report.result.folder}")
        print(f"  rerun: {report.result.rerun}")


def _row(line: LayerLine) -> tuple[str, ...]:
    return (
        str(line.number),
        line.name,
        line.engine,
        "x".join(map(str, line.shape)),
        line.verdict.value,
        str(line.judged_bytes),
        "-" if line.cycles is None else str(line.cycles),
        "-" if line.worst_margin is None else f"{line.worst_margin:.3f}",
    )


def classes(values: NDArray[Any], most: int) -> str:
    """Return the largest elements of a vector as text, or type and shape of another result."""
    if max(values.shape, default=1) != values.size or values.dtype.kind not in "biuf":
        return f"{values.dtype} {'x'.join(map(str, values.shape))}"
    return ", ".join(f"{number} ({value:g})" for number, value in top_classes(values, most))


def write_results(folder: Path, playing: NetworkScenario, results: Results) -> None:
    """Save each output of each run as ``.npy``, and as ``.dimg`` what comes from memory, in a folder that is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (run, values) in enumerate(zip(playing.runs, results, strict=True)):
        for output, (tensor, array) in enumerate(zip(run.network.outputs, values, strict=True)):
            stem = folder / f"run{number}_output{output}"
            if isinstance(tensor, Tensor):
                write_dimg(stem.with_suffix(".dimg"), tensor, array)
            np.save(stem.with_suffix(".npy"), array)


def write_json(report: Report, path: Path) -> None:
    """Write the report as a list of one object, like the results of scenarios."""
    write_whole(path, json.dumps([plain(report)], indent=1))


def cycles_of(report: Report) -> dict[str, int]:
    """Return the cycles of the network and of its layers, by the names that they have in files."""
    scenario = identity(report.name, 0)
    cycles = {
        f"{scenario} {_called(report, line)}": line.performance.measured.cycles
        for line in report.layers
        if line.performance is not None
    }
    if report.result is not None and report.result.verdict.cycles:
        cycles[scenario] = report.result.verdict.cycles
    return cycles


def _called(report: Report, line: LayerLine) -> str:
    """Return the name of a layer that several runs may have."""
    return f"{line.name} of {report.runs[line.run].label}" if len(report.runs) > 1 else line.name


def plain(report: Report) -> dict[str, Any]:
    """Return a report as plain data, for files."""
    measured = [(line, line.performance.to_dict()) for line in report.layers if line.performance is not None]
    return {
        "scenario": report.name,
        "seed": 0,
        "config": report.config,
        "passed": report.passed,
        "outcome": report.outcome.name.lower(),
        "accuracy": _accuracy(report),
        "costliest": None if report.costliest is None else report.costliest.name,
        "share": _share(report.share),
        "problems": list(report.problems),
        "cycles": None if report.result is None else report.result.verdict.cycles,
        "schedule": report.order.value,
        "cycles_in_layers": {"played": report.played_cycles, "predicted": report.predicted_cycles},
        "layers": [
            {name: _finite(getattr(line, name)) for name in _LAYER} | {"verdict": line.verdict.name.lower()}
            for line in report.layers
        ],
        "performance": [entry | {"layer": _called(report, line)} for line, entry in measured],
        "predictions": plain_predictions(report.layers),
        "runs": [
            {
                "input": run.label,
                "model": [values.tolist() for values in run.expected],
                "rtl": None if run.got is None else [values.tolist() for values in run.got],
                "comparisons": [asdict(c) | {"agreement": c.agreement.value} for c in run.comparisons],
            }
            for run in report.runs
        ],
    }


def _share(share: Share | None) -> dict[str, Any] | None:
    """Return what ran where; None for a loadable."""
    if share is None:
        return None
    return {
        "multiplications": share.multiplications,
        "bytes": share.nbytes,
        "host": [asdict(node) | {"elements": share.of(node)} for node in share.host],
    }


def _accuracy(report: Report) -> list[dict[str, Any]] | None:
    """Return the accuracy of each output."""
    if report.accuracy is None:
        return None
    return [{key: _finite(value) for key, value in asdict(output).items()} for output in report.accuracy.outputs]


def _finite(value: Any) -> Any:
    """Return a value as JSON has it, which has no number for what is none."""
    return None if isinstance(value, float) and not isfinite(value) else value
