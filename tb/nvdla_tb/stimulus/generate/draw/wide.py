"""Strides of many bits in small layers: gaps cost memory, and a device no cycle."""

from __future__ import annotations

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.layout import pixel_format
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.draw.numbers import Cube, Description, one_of
from nvdla_tb.stimulus.generate.draw.sizes import draw_reaching, draw_wide_gaps

_MOST_BYTES = 1 << 22


def widened(
    rng: np.random.Generator, config: HwConfig, layer: Description, dst: Cube | None
) -> tuple[Description, Cube | None]:
    """Return a layer, and what it writes, with up to four megabytes of gaps in one of its cubes, or in its image.

    What reads a cube that another layer wrote finds the gaps of that one. A batch keeps its own, and so does a layer
    whose cubes have a pixel each.
    """
    if "batch" in layer:
        return layer, dst
    sides = []
    if dst is not None and "dst_gaps" in layer and not dst.is_one_pixel:
        sides.append("dst_gaps")
    if "src_gaps" in layer and max(layer["shape"][1:]) > 1:
        sides.append("src_gaps")
    if "image" in layer and "shape" in layer and layer["shape"][1] > 1:
        sides.append("image")
    if not sides:
        return layer, dst
    side = one_of(rng, sides)
    if side == "image":
        line = draw_reaching(rng, _MOST_BYTES // config.memory_atomic_bytes // layer["shape"][1])
        planes = len(pixel_format(layer["image"]["format"]).planes)
        return layer | {"image": layer["image"] | {"gaps": [line] * planes}}, dst
    if side == "dst_gaps":
        assert dst is not None
        gaps = draw_wide_gaps(rng, config, dst, _MOST_BYTES)
        return layer | {side: list(gaps)}, Cube(dst.shape, gaps, dst.precision)
    src = Cube(tuple(layer["shape"]), precision=Precision(layer.get("precision", Precision.INT8.value)))
    gaps = draw_wide_gaps(rng, config, src, _MOST_BYTES)
    # Lines that are fetched together follow each other.
    kept = {key: value for key, value in layer.items() if key != "fetch_slices" or gaps[0] == 0}
    return kept | {side: list(gaps)}, dst
