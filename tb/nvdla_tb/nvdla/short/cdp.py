"""The short form of local response normalisation."""

from __future__ import annotations

from nvdla_models.errors import InputError
from nvdla_models.lrn import normalisation
from nvdla_tb.nvdla.layers import CdpLayer, Surface
from nvdla_tb.nvdla.short.given import check_finite, check_kind, plain


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

    Each element ``x`` becomes ``x / (bias + alpha / size * sum of the squares around x) ** beta``. The function chooses
    both lookup tables for these numbers. For other tables or converters, ``dataclasses.replace`` the ``params`` of the
    layer.

    Args:
        src: Input cube, (C, H, W).
        dst: Output cube, of the same shape and precision.
        size: Number of channels in the window around each element: 3, 5, 7 or 9.
        alpha: Factor of the sum, at least 0.
        beta: Exponent of the denominator.
        bias: Constant in the denominator, above 0.
        src_scale: Real value of the integer 1 in ``src``; 1 in FP16.
        dst_scale: Real value of the integer 1 in ``dst``; 1 in FP16.

    Returns:
        Layer for ``bench.run``.

    Raises:
        InputError: when the cubes do not fit each other, or CDP does not support the window or a number.

    Source: unit description, "Cross Channel Data Processor"; precision document, "CDP".
    """
    check_kind("src", src, Surface)
    check_kind("dst", dst, Surface)
    layout, size = src.layout, plain(size)
    if type(size) is not int:
        raise InputError(f"size must be an integer, not {size!r}")
    check_finite(alpha=alpha, beta=beta, bias=bias, src_scale=src_scale, dst_scale=dst_scale)
    scales = {"src_scale": src_scale, "dst_scale": dst_scale}
    return CdpLayer(
        src, dst, normalisation(layout.precision, layout.shape[0], size, alpha=alpha, beta=beta, bias=bias, **scales)
    )
