"""The short form of local response normalisation."""

from __future__ import annotations

from nvdla_models.lrn import normalisation
from nvdla_tb.nvdla.layers import CdpLayer, Surface
from nvdla_tb.nvdla.short.given import check_kind


def Cdp(  # noqa: N802
    src: Surface,
    dst: Surface,
    *,
    size: int = 5,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
    src_scale: float = 1.0,
    dst_scale: float = 1.0,
) -> CdpLayer:
    """Return the local response normalisation of a cube along its channels.

    ::

        src = bench.place(bench.rng.integers(-128, 128, (20, 4, 5), dtype=np.int8))
        await bench.run(Cdp(src, bench.reserve(src.shape), size=5, alpha=0.01))

    An element ``x`` becomes ``x / (bias + alpha / size * sum of the squares around x) ** beta``. Both lookup tables are
    chosen for these numbers. Other tables and converters: ``dataclasses.replace`` the ``params`` of the layer.

    Named like a class because it stands for one.

    Args:
        src: The cube that is read, (C, H, W).
        dst: The cube that is written, of the same shape and precision.
        size: Channels of the window around each element: 3, 5, 7 or 9.
        alpha: As in the formula, at least 0.
        beta: As in the formula.
        bias: As in the formula, above 0.
        src_scale: The real number that an integer 1 of ``src`` stands for; 1 in FP16.
        dst_scale: Likewise of ``dst``.

    Returns:
        The layer, for ``bench.run``.

    Raises:
        InputError: when the cubes do not fit each other, or for a window or number that CDP does not have.

    Source: unit description, "Cross Channel Data Processor"; precision document, "CDP".
    """
    check_kind("src", src, Surface)
    check_kind("dst", dst, Surface)
    layout = src.layout
    scales = {"src_scale": src_scale, "dst_scale": dst_scale}
    return CdpLayer(
        src, dst, normalisation(layout.precision, layout.shape[0], size, alpha=alpha, beta=beta, bias=bias, **scales)
    )
