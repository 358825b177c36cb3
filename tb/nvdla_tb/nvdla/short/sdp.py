"""The short form of layers of SDP."""

from __future__ import annotations

from types import NoneType

from nvdla_models.lut import HybridLut
from nvdla_tb.nvdla.layers import SdpLayer, Surface, on_the_fly
from nvdla_tb.nvdla.short.given import check_kind
from nvdla_tb.nvdla.short.steps import Operand, Steps, dealt


def Sdp(  # noqa: N802
    src: Surface,
    dst: Surface | None = None,
    *,
    bias: Operand | None = None,
    scale: Operand | None = None,
    shift: int = 0,
    residual: Surface | None = None,
    relu: bool = False,
    prelu: Operand | None = None,
    prelu_shift: int = 0,
    lut: HybridLut | None = None,
    convert: tuple[int, int, int] = (0, 1, 0),
    nan_to_zero: bool = False,
) -> SdpLayer:
    """Return the SDP layer that computes each element of a cube from the one at the same place of another.

    ::

        src = bench.place(bench.rng.integers(-128, 128, (33, 4, 5), dtype=np.int8))
        bias = bench.place_operands(bench.rng.integers(-99, 100, 33, dtype=np.int16))
        await bench.run(Sdp(src, bench.reserve(src.shape), bias=bias, scale=3, shift=2, relu=True))

    An element ``x`` becomes ``convert(act(((x + bias) * scale >> shift) + residual))``, where ``act`` is ReLU, PReLU
    or nothing. Shifts round half away from zero. Steps that are left out are bypassed; the others are dealt out to X1
    and X2, in this order. For another order or operation, ``dataclasses.replace`` the stages of the layer.

    An operand is one number for all elements, in INT8 and INT16 of 16 bits; or operands in memory as
    ``place_operands`` returns them, one for each channel or each element.

    Named like a class because it stands for one.

    Args:
        src: The cube that is read, (C, H, W).
        dst: The cube that is written, of the same shape; its precision may be another. None when PDP takes the result
            on the fly: then the layer is the input of ``Pdp``.
        bias: What is added.
        scale: What is multiplied. With a bias in memory, too: the pair that ``place_operands(bias, scale)``
            returns, as both; or operands of its own, which then take X2.
        shift: Right shift after the multiplier, 0 to 63 bits; not in FP16.
        residual: A cube that is added, of the shape and the precision of ``src``: what an earlier layer wrote, say.
        relu: Whether negative values become 0.
        prelu: What negative values are multiplied by.
        prelu_shift: Right shift of the products of ``prelu``, 0 to 63 bits; not in FP16.
        lut: Tables in which Y looks the result up.
        convert: Offset, scale and shift of the output converter: ``(x - offset) * scale >> shift``; not in FP16.
        nan_to_zero: Whether NaN count as 0, in FP16.

    Returns:
        The layer, for ``bench.run`` or ``Pdp``.

    Raises:
        InputError: when cubes, operands and steps do not fit each other or the configuration.

    Source: unit description, "Single Point Data Processor"; precision document, "SDP converters".
    """
    check_kind("src", src, Surface)
    check_kind("dst", dst, Surface, NoneType)
    config, precision = src.layout.config, src.layout.precision
    dst = dst or on_the_fly(config, precision, src.shape)
    steps = Steps(bias, scale, shift, residual, relu, prelu, prelu_shift, lut, convert, nan_to_zero)
    found = dealt(config, steps, precision, dst.layout.precision, src.shape)
    return SdpLayer(src, dst, found.params, found.x1, found.x2)
