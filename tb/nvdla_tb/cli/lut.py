"""``lut``: make the lookup tables of a function, draw them, and compare their result with the function."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from nvdla_models.activation import FUNCTIONS
from nvdla_models.activation_layer import Accuracy, FunctionLayer
from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.lut import LutTable, LutUnit
from nvdla_models.precision import Precision
from nvdla_tb.cli.lut_files import SUFFIXES, picture, write_tables
from nvdla_tb.cli.run_options import output_file
from nvdla_tb.run.space import write_whole

_COLUMNS, _LINES = 64, 14


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("function", choices=tuple(FUNCTIONS), metavar="FUNCTION", help=", ".join(FUNCTIONS))
    parser.add_argument(
        "--range", required=True, nargs=2, type=float, metavar=("LO", "HI"), help="inputs, such as --range -8 8"
    )
    parser.add_argument("--config", default="nv_large", metavar="NAME|FILE", help="configuration (default: nv_large)")
    parser.add_argument(
        "--unit",
        choices=[unit.name.lower() for unit in LutUnit],
        help="unit that has the tables: Y of SDP, or CDP (default: sdp where it has tables)",
    )
    parser.add_argument("--precision", choices=("int8", "int16"), default="int8", help="(default: int8)")
    parser.add_argument(
        "--output",
        type=output_file,
        metavar="FILE",
        help="write the tables: .py for the short forms Sdp and Cdp, .cfg as register writes of a trace",
    )
    parser.add_argument("--picture", type=output_file, metavar="PNG", help="draw function, result and error")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    for path, allowed in ((args.output, SUFFIXES), (args.picture, (".png",))):
        if path is not None and Path(path).suffix not in allowed:
            raise InputError(f"{path}: must end with {' or '.join(allowed)}")
    config = HwConfig.load(args.config)
    unit = _unit(config, args.unit)
    precision = Precision(args.precision)
    if precision not in config.feature_data_types:
        known = ", ".join(known.value for known in config.feature_data_types)
        raise InputError(f"--precision must be {known} for {config.name}, not {args.precision}")
    low, high = args.range
    layer = FunctionLayer.of(FUNCTIONS[args.function], low, high, precision, unit)
    accuracy = layer.accuracy()
    where = f"{precision.name}, {_name(unit)} of {config.name}"
    title = f"{args.function} from {low:g} to {high:g}, {where}"
    print("\n".join((title, *_described(layer), "", *_drawn(accuracy), "", *_told(accuracy))))
    if args.output is not None:
        write_tables(args.output, title, layer, config)
    if args.picture is not None:
        write_whole(args.picture, picture(accuracy))
    return 0


def _name(unit: LutUnit) -> str:
    return "Y of SDP" if unit is LutUnit.SDP else "CDP"


def _unit(config: HwConfig, name: str | None) -> LutUnit:
    """Return the unit that is asked for, or that has tables."""
    has = {LutUnit.SDP: config.sdp_lut_enable, LutUnit.CDP: config.cdp_enable}
    if name is None:
        found = next((unit for unit, there in has.items() if there), None)
        if found is None:
            raise InputError(f"--config must name a configuration with lookup tables, which {config.name} has not")
        return found
    unit = LutUnit[name.upper()]
    if not has[unit]:
        raise InputError(f"--unit must have lookup tables: {_name(unit)} of {config.name} has none")
    return unit


def _described(layer: FunctionLayer) -> list[str]:
    rows = [f"  input      an integer 1 stands for {layer.src_scale:.6g}"]
    if layer.unit is LutUnit.SDP:
        rows.append(f"  X1         x * {layer.scale[0]} >> {layer.scale[1]}")
    rows += [_table(name, table, layer) for name, table in (("LE", layer.tables.lut.le), ("LO", layer.tables.lut.lo))]
    rows.append(f"  converter  x * {layer.convert[0]} >> {layer.convert[1]}")
    rows.append(f"  output     an integer 1 stands for {layer.dst_scale:.6g}")
    return rows


def _table(name: str, table: LutTable, layer: FunctionLayer) -> str:
    step = layer.tables.step
    places = f"{table.start * step:.6g} to {table.end * step:.6g}"
    return f"  {name}         {len(table.entries)} entries from {places}, {step * 2.0**table.index_select:.4g} apart"


def _drawn(accuracy: Accuracy) -> list[str]:
    """Return the result as a curve of characters; ``#`` where an error is above a step of the result."""
    low, high = float(accuracy.exact.min()), float(accuracy.exact.max())
    height = (high - low) or 1.0
    grid = [[" "] * _COLUMNS for _ in range(_LINES)]
    columns = ((accuracy.x - accuracy.x[0]) / ((accuracy.x[-1] - accuracy.x[0]) or 1.0) * (_COLUMNS - 1)).astype(int)
    for column in np.unique(columns):
        mine = columns == column
        value = float(np.clip(accuracy.computed[mine].mean(), low, high))
        mark = "#" if (accuracy.errors[mine] > accuracy.step).any() else "*"
        grid[_LINES - 1 - int((value - low) / height * (_LINES - 1))][column] = mark
    labels = [f"{high:.4g}", *[""] * (_LINES - 2), f"{low:.4g}"]
    width = max(map(len, labels))
    rows = [f"  {label:>{width}} |{''.join(line).rstrip()}" for label, line in zip(labels, grid, strict=True)]
    return [*rows, f"  {'':>{width}}  {accuracy.x[0]:<{_COLUMNS // 2}.4g}{accuracy.x[-1]:>{_COLUMNS // 2}.4g}"]


def _told(accuracy: Accuracy) -> list[str]:
    at = int(accuracy.errors.argmax())
    worst, mean, step = accuracy.worst, accuracy.mean, accuracy.step
    return [
        f"largest error  {worst:.3g}, {worst / step:.2f} steps, at {accuracy.x[at]:.6g}: {accuracy.computed[at]:.6g} "
        f"instead of {accuracy.exact[at]:.6g}",
        f"mean error     {mean:.3g}, {mean / step:.2f} steps",
        f"compared       {len(accuracy.x)} inputs, by the model of the unit bit by bit; a half step is rounding",
    ]
