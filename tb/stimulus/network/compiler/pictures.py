"""Inputs that the first convolution reads as images: pixels of all channels beside each other.

CSC then takes the elements of a whole row of a kernel at once, where a feature cube gives it the few channels of one
pixel at a time. The integers are the same, and so is the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.config import HwConfig
from models.conv.image_limits import misread_rows
from models.layout import PixelLayout
from models.layout.pixel_formats import pixel_format, supported_formats
from models.precision import Precision
from tb.stimulus.network.compiler.arrange import Arranged
from tb.stimulus.network.compiler.fuse import Compute, Step
from tb.stimulus.network.compiler.graph import Conv, Shape
from tb.stimulus.network.compiler.target import Target

_FORMATS = {1: "T_R8", 3: "T_A8B8G8R8", 4: "T_A8B8G8R8"}
"""By channels; kernels are 0 where a picture of three has its fourth."""


def pictures_of(arranged: Arranged, steps: Sequence[Step], target: Target) -> Mapping[str, PixelLayout]:
    """Return the inputs that lie in memory as images, because one convolution alone takes them and gains by it."""
    graph, config = arranged.graph, target.config
    found: dict[str, PixelLayout] = {}
    if target.precision is not Precision.INT8:
        return found
    for value in graph.inputs:
        users = [step for step in steps if value in step.inputs]
        shared = value in graph.outputs or any(home.value == value for home in arranged.homes.values())
        if len(users) != 1 or shared:
            continue
        (step,) = users
        if isinstance(step, Compute) and step.conv is not None and step.other != value:
            shape = graph.shapes[value]
            name = _FORMATS.get(shape[0])
            if name in supported_formats(config) and _gains(config, step.conv, shape, name):
                channels = pixel_format(name).channels
                found[value] = PixelLayout.packed(config, name, (channels, *shape[1:]))
    return found


def _gains(config: HwConfig, conv: Conv, shape: Shape, name: str) -> bool:
    """Return whether CSC takes fewer steps for a kernel than with a feature cube, and reads the right pixels."""
    window, atom = conv.window, config.mac_atomic_c_size
    row = window.kernel[1] * pixel_format(name).channels
    if conv.groups != 1 or window.dilation != (1, 1):
        return False
    steps, steps_of_cube = -(-row // atom), window.kernel[1] * -(-shape[0] // atom)
    return steps < steps_of_cube and misread_rows(config, row, window.output(1, shape[2])) is None
