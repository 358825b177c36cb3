"""Lookup tables as files: Python for the short forms, register writes of a trace, and a picture."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from nvdla_models.activation_layer import Accuracy, FunctionLayer
from nvdla_models.config import HwConfig
from nvdla_models.lut import HybridLut, LutTable, LutUnit
from nvdla_tb.nvdla.program.lut import ENTRIES, flatten_lut, lut_rows, lut_writes
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.nvdla.program.table import encode_rows
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.run.space import write_whole
from nvdla_tb.stimulus.trace.writer import write_command

SUFFIXES = (".py", ".cfg")
_WIDTH, _HEIGHT, _MARGIN = 640, 360, 20
_LINE = 12


def write_tables(path: Path, title: str, layer: FunctionLayer, config: HwConfig) -> None:
    """Write tables in the form that the suffix names."""
    text = _python(title, layer) if path.suffix == ".py" else _writes(layer, config)
    write_whole(path, text.encode())


def _python(title: str, layer: FunctionLayer) -> str:
    lut, (scale, shift), (after, after_shift) = layer.tables.lut, layer.scale, layer.convert
    if layer.unit is LutUnit.SDP:
        more = ""
        last = (
            f'STEPS = {{"scale": {scale}, "shift": {shift}, "lut": LUT, "convert": (0, {after}, {after_shift})}}\n'
            '"""Steps of ``Sdp(src, dst, **STEPS)``."""\n'
        )
    else:
        more = (
            "from nvdla_models.cdp import CdpParams\n"
            "from nvdla_models.converter import Converter, ConverterEncoding\n"
            "from nvdla_models.precision import Precision\n"
        )
        last = (
            "PARAMS = CdpParams(\n    None,\n    False,\n    Converter(0, 1, 0, ConverterEncoding.CDP_INPUT),\n"
            f"    Converter(0, {layer.convert[0]}, {layer.convert[1]}, ConverterEncoding.CDP_OUTPUT),\n"
            f'    LUT,\n    Precision.{layer.precision.name},\n)\n"""Parameters of ``CdpLayer(src, dst, PARAMS)``."""\n'
        )
    return (
        f'"""{title}.\n\nAn integer 1 of the input stands for {float(layer.src_scale)!r}, one of the output for\n'
        f'{float(layer.dst_scale)!r}.\n"""\n\n'
        "import numpy as np\n\n"
        f"{more}from nvdla_models.lut import HybridLut, LutChoice, LutTable, Slope\n\n"
        f"LUT = HybridLut(\n{_table_text(lut.le)}{_table_text(lut.lo)}{_choices(lut)})\n\n{last}"
    )


def _table_text(table: LutTable) -> str:
    values = table.entries.tolist()
    lines = [", ".join(map(str, values[at : at + _LINE])) for at in range(0, len(values), _LINE)]
    entries = "".join(f"                {line},\n" for line in lines)
    slopes = "".join(f"        Slope({slope.scale}, {slope.shift}),\n" for slope in (table.underflow, table.overflow))
    numbers = (
        f"        {table.start},\n        {table.end},\n        {table.index_select},\n        False,\n        0,\n"
    )
    array = f"        np.array(\n            [\n{entries}            ],\n            np.int16,\n        ),\n"
    return f"    LutTable(\n{array}{numbers}{slopes}    ),\n"


def _choices(lut: HybridLut) -> str:
    names = ("underflow_priority", "overflow_priority", "hybrid_priority")
    return "".join(f"    LutChoice.{getattr(lut, name).name},\n" for name in names)


def _writes(layer: FunctionLayer, config: HwConfig) -> str:
    """Return the writes of a trace: entries, then the parameters of both tables."""
    unit = layer.unit.name
    flat: dict[str, Any] = {**flatten_lut(layer.tables.lut), "float": False}
    words = encode_rows(lut_rows(unit), flat, RegisterMap.of(config))[unit]
    writes = [*lut_writes(unit, flat[ENTRIES]), *(RegWrite(f"{unit}.{name}", word) for name, word in words.items())]
    return "".join(f"{write_command(write)}\n" for write in writes)


def picture(accuracy: Accuracy) -> bytes:
    """Return a PNG: the function in grey, the result in blue, and below the error in red, two steps high."""
    image = Image.new("RGB", (_WIDTH, _HEIGHT + _HEIGHT // 3), "white")
    draw = ImageDraw.Draw(image)
    low, high = (float(edge([accuracy.exact, accuracy.computed])) for edge in (np.min, np.max))
    upper = _MARGIN, _HEIGHT - _MARGIN
    _curve(draw, accuracy.x, accuracy.exact, (low, high), upper, "silver", 5)
    _curve(draw, accuracy.x, accuracy.computed, (low, high), upper, "blue", 1)
    most = 2 * accuracy.step
    lower = _HEIGHT, _HEIGHT + _HEIGHT // 3 - _MARGIN
    _curve(draw, accuracy.x, accuracy.computed - accuracy.exact, (-most, most), lower, "red", 1)
    draw.text((_MARGIN, 2), f"{low:.4g} to {high:.4g}", "black")
    draw.text((_MARGIN, lower[1] + 2), f"{accuracy.x[0]:.4g} to {accuracy.x[-1]:.4g}; error +-{most:.3g}", "black")
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _curve(
    draw: ImageDraw.ImageDraw,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    reach: tuple[float, float],
    lines: tuple[int, int],
    colour: str,
    width: int,
) -> None:
    columns = _MARGIN + (x - x[0]) / ((x[-1] - x[0]) or 1.0) * (_WIDTH - 2 * _MARGIN)
    part = (np.clip(y, *reach) - reach[0]) / ((reach[1] - reach[0]) or 1.0)
    rows = lines[1] - part * (lines[1] - lines[0])
    draw.line(list(zip(columns.tolist(), rows.tolist(), strict=True)), colour, width)
