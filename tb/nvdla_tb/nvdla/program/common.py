"""Codecs and row patterns that the units' field tables share."""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.layout import FeatureLayout, PlanarLayout
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import LinesSurface, OperandSurface, PlanarSurface, Surface
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.table import Flat, Named, Refused, Row, Table, blame_attributes, row

PRECISION = Named(((Precision.INT8, 0), (Precision.INT16, 1), (Precision.FP16, 2)))
NEUTRAL = {"offset": 0, "scale": 1, "shift": 0}
"""Parts of a converter, with the values that change nothing."""

AXES = ("channel", "height", "width")
"""Axes of a cube as registers call them."""

RAM = Named(((Ram.MC, 1), (Ram.CVSRAM, 0)))


def surface_rows(end: str, unit: str, prefix: str, ram_field: str, *, significant: bool = True) -> tuple[Row, ...]:
    """Return the rows of a surface: base address, strides, RAM.

    Args:
        end: Attribute prefix, ``src`` or ``dst``.
        unit: Unit whose registers hold it.
        prefix: ``SRC`` or ``DST``, as registers spell it.
        ram_field: ``REGISTER.field`` of the RAM type, empty when the unit has none.
        significant: False when the hardware ignores them.
    """
    low = prefix.lower()
    fields = {
        "address": halves(f"{unit}.D_{prefix}_BASE_ADDR_{{}}"),
        "line_stride_bytes": (f"{unit}.D_{prefix}_LINE_STRIDE.{low}_line_stride",),
        "surface_stride_bytes": (f"{unit}.D_{prefix}_SURFACE_STRIDE.{low}_surface_stride",),
    }
    rows = [row(f"{end}.{name}", *of_it, significant=significant) for name, of_it in fields.items()]
    if ram_field:
        rows.append(row(f"{end}.ram", f"{unit}.{ram_field}", codec=RAM, significant=significant))
    return tuple(rows)


def halves(register: str) -> tuple[str, str]:
    """Return the fields of both words of an address, from ``UNIT.REGISTER`` with braces for LOW and HIGH."""
    name = register.partition(".")[2].lower()[2:]
    low, high = (f"{register}.{name}".format(*half) for half in (("LOW", "low"), ("HIGH", "high")))
    return low, high


def flatten_surface(end: str, surface: Surface | PlanarSurface | LinesSurface | OperandSurface) -> Flat:
    """Return a surface's attributes as ``surface_rows`` names them; planes have a planar stride."""
    layout = surface.layout
    far = "planar_stride_bytes" if isinstance(layout, PlanarLayout) else "surface_stride_bytes"
    return {
        f"{end}.address": surface.address,
        f"{end}.line_stride_bytes": layout.line_stride_bytes,
        f"{end}.{far}": getattr(layout, far),
        f"{end}.ram": surface.ram,
    }


def build_surface(
    config: HwConfig, table: Table, flat: Flat, end: str, shape: tuple[int, int, int], precision: Precision
) -> Surface:
    """Return the surface that ``flat`` describes.

    Raises:
        Refused: naming the register of the attribute that is illegal.
    """
    check_ram(config, table, flat, end)
    with blame_attributes(table, end):
        layout = FeatureLayout(
            config, precision, shape, flat[f"{end}.line_stride_bytes"], flat[f"{end}.surface_stride_bytes"]
        )
        return Surface(layout, flat[f"{end}.address"], flat[f"{end}.ram"])


def check_ram(config: HwConfig, table: Table, flat: Flat, end: str) -> None:
    """Refuse CVSRAM where the configuration has no secondary memory interface."""
    if flat[f"{end}.ram"] is Ram.CVSRAM and not config.secondary_memif_enable:
        field = field_of(table, f"{end}.ram")
        raise Refused(f"{field} must be MC, not CV: {config.name} has no secondary memory interface", lacking=True)


def check_precision(config: HwConfig, table: Table, flat: Flat, attribute: str) -> Precision:
    """Return a precision of ``flat``, refusing one that the configuration lacks."""
    precision: Precision = flat[attribute]
    if precision not in config.feature_data_types:
        allowed = ", ".join(p.name for p in config.feature_data_types)
        message = f"{field_of(table, attribute)} must be {allowed}, not {precision.name}: {config.name}"
        raise Refused(message, lacking=True)
    return precision


def field_of(table: Table, attribute: str) -> str:
    """Return the first field that an attribute stands in."""
    return next(entry.fields[0] for entry in table if isinstance(entry, Row) and entry.attribute == attribute)
