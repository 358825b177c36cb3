"""The short form of layers of SDP."""

from __future__ import annotations

from types import NoneType

from nvdla_models.errors import InputError
from nvdla_models.lut import HybridLut
from nvdla_tb.nvdla.layers import ConvLayer, SdpLayer, Surface, on_the_fly
from nvdla_tb.nvdla.short.given import check_kind, plain
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
    """Return an SDP layer, which computes each element of a cube from the element at the same place of another.

    ::

        src = bench.place(bench.rng.integers(-128, 128, (33, 4, 5), dtype=np.int8))
        bias = bench.place_operands(bench.rng.integers(-99, 100, 33, dtype=np.int16))
        await bench.run(Sdp(src, bench.reserve(src.shape), bias=bias, scale=3, shift=2, relu=True))

    Each element ``x`` becomes ``convert(act(((x + bias) * scale >> shift) + residual))``, where ``act`` is ReLU, PReLU
    or nothing. Shifts round half away from zero. Stages X1 and X2 carry the steps out in this order and bypass those
    that are left out. For another order or operation, ``dataclasses.replace`` the stages of the layer.

    An operand is one number for all elements (16 bits in INT8 and INT16), or an operand surface in memory, as
    ``place_operands`` returns it, with one value for each channel or each element.

    Args:
        src: Input cube, (C, H, W).
        dst: Output cube, of the same shape; its precision may differ. None hands the result to PDP on the fly; pass
            the layer to ``Pdp``.
        bias: Operand to add.
        scale: Operand to multiply. If the bias is in memory too, pass the pair that ``place_operands(bias, scale)``
            returns as both, or a surface of its own, which then uses X2.
        shift: Right shift after the multiplier, 0 to 63 bits; not in FP16.
        residual: Cube to add, of the shape and precision of ``src``, such as the output of an earlier layer.
        relu: Whether negative values become 0.
        prelu: Factor of negative values.
        prelu_shift: Right shift of the products of ``prelu``, 0 to 63 bits; not in FP16.
        lut: Lookup tables of stage Y.
        convert: Offset, scale and shift of the output converter: ``(x - offset) * scale >> shift``; not in FP16.
        nan_to_zero: Whether NaN becomes 0; FP16 only.

    Returns:
        Layer for ``bench.run`` or ``Pdp``.

    Raises:
        InputError: when cubes, operands and steps do not fit each other or the configuration.

    Source: unit description, "Single Point Data Processor"; precision document, "SDP converters".
    """
    _check_source(src)
    check_kind("dst", dst, Surface, NoneType)
    config, precision = src.layout.config, src.layout.precision
    dst = dst or on_the_fly(config, precision, src.shape)
    steps = Steps(bias, scale, plain(shift), residual, relu, prelu, plain(prelu_shift), lut, convert, nan_to_zero)
    found = dealt(config, steps, precision, dst.layout.precision, src.shape)
    return SdpLayer(src, dst, found.params, found.x1, found.x2)


def _check_source(src: object) -> None:
    if isinstance(src, ConvLayer):
        raise InputError("src must be in memory, not a Conv, which takes the steps of Sdp as arguments of its own")
    check_kind("src", src, Surface)
