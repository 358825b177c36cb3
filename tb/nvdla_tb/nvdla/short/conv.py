"""The short form of convolutions."""

from __future__ import annotations

from types import NoneType

import numpy as np

from nvdla_models.arithmetic import limits
from nvdla_models.cbuf import fewest_data_banks
from nvdla_models.config import HwConfig
from nvdla_models.conv.params import MAX_DILATION, MAX_STRIDE, ConvParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_models.layout import PixelConversion, PixelFormat, WinogradWeightLayout
from nvdla_models.lut import HybridLut
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer, Surface, on_the_fly
from nvdla_tb.nvdla.layers.conv import buffered_lines, kernel_sides, slice_entries
from nvdla_tb.nvdla.short.axes import Pair, Sides, pair, sides
from nvdla_tb.nvdla.short.given import check_flags, check_kind, checked_conversion, plain
from nvdla_tb.nvdla.short.steps import Operand, Steps, dealt, pattern, whole
from nvdla_tb.nvdla.surfaces import CbufUse, ImageSurface, WeightSurface

_MEAN_BITS = 16


def Conv(  # noqa: N802
    src: Surface | ImageSurface,
    weights: WeightSurface,
    dst: Surface | None = None,
    *,
    stride: Pair = 1,
    padding: Sides = 0,
    dilation: Pair = 1,
    pad_value: float = 0,
    truncate: int = 0,
    pre_truncate: int = 0,
    convert_input: tuple[int, int, int] | None = None,
    mean: tuple[int, ...] | None = None,
    signed: bool = False,
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
    banks: tuple[int, int] | None = None,
) -> ConvLayer:
    """Return a convolution of a cube or an image, with SDP on the fly.

    ::

        src = bench.place(bench.rng.integers(-128, 128, (33, 14, 14), dtype=np.int8))
        weights = bench.place_weights(bench.rng.integers(-128, 128, (16, 33, 3, 3), dtype=np.int8))
        await bench.run(Conv(src, weights, bench.reserve((16, 14, 14)), padding=1, truncate=8, relu=True))

    An image needs kernels in its own layout; so does Winograd (``winograd=True``)::

        image = bench.place_image(bench.rng.integers(0, 256, (4, 20, 20), dtype=np.uint8), "T_A8B8G8R8")
        kernels = bench.place_weights(bench.rng.integers(-128, 128, (16, 4, 3, 3), dtype=np.int8), image=True)
        await bench.run(Conv(image, kernels, bench.reserve((16, 18, 18)), convert_input=(128, 1, 0), truncate=6))

    SDP applies ``bias`` and the arguments after it to each sum; ``Sdp`` describes them and their order. Buffer banks,
    entries and kernel groups follow from the sizes.

    Args:
        src: Input cube (C, H, W), of the precision of the weights, or image.
        weights: Kernels (K, C, R, S), as ``place_weights`` returns them.
        dst: Output cube, (K, H_out, W_out). None hands the result to PDP on the fly; pass the layer to ``Pdp``.
        stride: Distance between windows, 1 to 8 elements: one number, or (along H, along W); 1 for Winograd.
        padding: Elements added around the input, fewer than the dilated kernel has: one number, (top and bottom, left
            and right) or (top, bottom, left, right).
        dilation: Distance between taps of a kernel, 1 to 32 elements: one number, or (along H, along W); 1 for
            Winograd.
        pad_value: Value of the padding.
        truncate: Right shift of the sums, 0 to 31 bits, rounded half away from zero; not in FP16.
        pre_truncate: Right shift after the transform of tiles by Winograd, 0 to 3 bits.
        convert_input: Offset, scale and shift of the input converter: ``(x - offset) * scale >> shift``. Without it,
            the 8 bits of a pixel are read as INT8.
        mean: Value of each channel that is subtracted from pixels instead of the offset.
        signed: Whether the converter reads pixels as signed numbers.
        bias: Operand added to each sum.
        scale: Operand multiplied with the result.
        shift: Right shift of the products, 0 to 63 bits.
        residual: Cube (K, H_out, W_out) to add.
        relu: Whether negative values become 0.
        prelu: Factor of negative values.
        prelu_shift: Right shift of the products of ``prelu``, 0 to 63 bits.
        lut: Lookup tables of stage Y.
        convert: Offset, scale and shift of the output converter of SDP.
        nan_to_zero: Whether NaN becomes 0; FP16 only.
        banks: Banks of the convolution buffer for data and for weights. By default as few data banks as hold all
            lines; the others are for weights.

    Returns:
        Layer for ``bench.run`` or ``Pdp``.

    Raises:
        InputError: when cubes, kernels, operands and steps do not fit each other, the convolution buffer or the
            configuration.

    Source: unit description, "Convolution Pipeline"; programming guide, "Limitation", Convolution.
    """
    check_kind("src", src, Surface, ImageSurface)
    check_kind("weights", weights, WeightSurface)
    check_kind("dst", dst, Surface, NoneType)
    if convert_input is not None:
        convert_input = checked_conversion("convert_input", convert_input, ConverterEncoding.CDMA_INPUT)
    check_flags(signed=signed)
    layout, kernels = src.layout, weights.layout
    config, precision = kernels.config, kernels.precision
    winograd = isinstance(kernels, WinogradWeightLayout)
    truncate, pre_truncate = plain(truncate), plain(pre_truncate)
    if truncate and precision is Precision.FP16:
        raise InputError(f"truncate must be 0 for FP16, which has none, not {truncate!r}")
    if pre_truncate and not winograd:
        raise InputError(f"pre_truncate must be 0 without Winograd, not {pre_truncate}")
    stride_y, stride_x = pair("stride", stride, 1 if winograd else MAX_STRIDE)
    dilation_y, dilation_x = pair("dilation", dilation, 1 if winograd else MAX_DILATION)
    rows, columns = kernel_sides(kernels)
    dilated = ((rows - 1) * dilation_y + 1, (columns - 1) * dilation_x + 1)
    top, bottom, left, right = sides("padding", padding, dilated, "dilated kernel")
    padded_with = _pad_value(pad_value, precision)
    if padded_with and not any((top, bottom, left, right)):
        raise InputError(f"pad_value must be 0 without padding, not {pad_value!r}")
    params = ConvParams(
        stride_x=stride_x,
        stride_y=stride_y,
        dilation_x=dilation_x,
        dilation_y=dilation_y,
        pad_left=left,
        pad_right=right,
        pad_top=top,
        pad_bottom=bottom,
        pad_value=padded_with,
        truncate=truncate,
        precision=precision,
        nan_to_zero=nan_to_zero,
        winograd=winograd,
        pre_truncate=pre_truncate,
    )
    out = params.output_shape(layout.shape, (*kernels.shape[:2], rows, columns))
    dst = dst or on_the_fly(config, precision, out)
    steps = Steps(bias, scale, plain(shift), residual, relu, prelu, plain(prelu_shift), lut, convert, nan_to_zero)
    found = dealt(config, steps, precision, dst.layout.precision, out)
    return ConvLayer(
        src,
        weights,
        dst,
        params,
        found.params,
        _share(src, weights, params, banks),
        _conversion(src, precision, convert_input, mean, signed=signed),
        found.x1,
        found.x2,
    )


def _pad_value(value: float, precision: Precision) -> int:
    if precision is Precision.FP16:
        return pattern("pad_value", value)
    return whole("pad_value", value, precision, *precision.limits)


def _conversion(
    src: Surface | ImageSurface,
    precision: Precision,
    convert: tuple[int, int, int] | None,
    mean: tuple[int, ...] | None,
    *,
    signed: bool,
) -> Converter | PixelConversion | None:
    """Return the input converter of a cube, None when it is off, or the conversion of an image."""
    if convert is None and (mean is not None or signed):
        convert = (0, 1, 0)
    converter = None if convert is None else Converter(*convert, ConverterEncoding.CDMA_INPUT)
    if isinstance(src, ImageSurface):
        pixels = src.layout.format
        if converter is None and pixels.precision is not precision:
            raise InputError(f"convert_input must be given to make {precision.name} of the pixels of {pixels.name}")
        return PixelConversion(precision, converter, _mean(mean, pixels), signed)
    for name, given in (("mean", mean is not None), ("signed", signed)):
        if given:
            raise InputError(f"{name} must be left out, because src is a feature cube and no image")
    return converter


def _mean(mean: tuple[int, ...] | None, pixels: PixelFormat) -> tuple[int, ...] | None:
    """Return one number for each channel."""
    if mean is None:
        return None
    numbers = tuple(map(plain, mean)) if isinstance(mean, tuple | list | np.ndarray) else ()
    low, high = limits(_MEAN_BITS)
    if len(numbers) != pixels.channels or any(type(one) is not int or not low <= one <= high for one in numbers):
        each = "an integer" if pixels.channels == 1 else f"{pixels.channels} integers, one for each channel,"
        raise InputError(f"mean must be {each} from {low} to {high} for {pixels.name}, not {mean!r}")
    return numbers


def _share(
    src: Surface | ImageSurface, weights: WeightSurface, params: ConvParams, banks: tuple[int, int] | None
) -> CbufUse:
    """Return a share of the convolution buffer in which all lines of the input find room."""
    config = weights.layout.config
    lines = buffered_lines(src.layout.shape[1], params)
    if banks is None:
        entries = slice_entries(src.layout, params)
        data = fewest_data_banks(config, lines * entries)
        # Compressed weights have their mask in the last bank.
        left = config.cbuf_bank_number - (weights.compression is not None) - data
        if left < 1:
            raise InputError(
                f"src must leave a bank of the convolution buffer to the weights, but its {lines} lines of {entries} "
                f"entries take {data} of the {left + data} banks of {config.name}"
            )
        banks = data, left
    else:
        banks = _checked_banks(config, banks)
    return CbufUse(*banks, release_slices=lines)


def _checked_banks(config: HwConfig, banks: tuple[int, int]) -> tuple[int, int]:
    numbers = tuple(map(plain, banks)) if isinstance(banks, tuple) else ()
    most = config.cbuf_bank_number
    if len(numbers) != 2 or any(type(number) is not int or number < 1 for number in numbers) or sum(numbers) > most:
        rule = f"the integers (for data, for weights), each at least 1, at most {most} together on {config.name}"
        raise InputError(f"banks must be {rule}, not {banks!r}")
    return numbers[0], numbers[1]
