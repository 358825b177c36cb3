"""Convolutions with SDP on the fly, to memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from nvdla_models.cbuf import feature_entries, image_entries, winograd_entries
from nvdla_models.conv import ConvParams
from nvdla_models.conv.image_limits import misread_rows, overflowing_padding
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_models.layout import (
    FeatureLayout,
    ImageWeightLayout,
    KernelLayout,
    PixelConversion,
    PixelLayout,
    WeightLayout,
    WinogradWeightLayout,
)
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams
from nvdla_tb.nvdla.layers.batch import Batch
from nvdla_tb.nvdla.layers.checks import check_configs, check_precision, check_shape
from nvdla_tb.nvdla.layers.stages import StageSource, check_one_pixel, check_stages, operand_layouts
from nvdla_tb.nvdla.surfaces import CbufUse, ImageSurface, Surface, WeightSurface


def kernel_sides(weights: KernelLayout) -> tuple[int, int]:
    """Return height and width of kernels as they are multiplied: 4 x 4 in Winograd."""
    shape = weights.packed_shape if isinstance(weights, WinogradWeightLayout) else weights.shape
    return shape[2], shape[3]


def slice_entries(layout: FeatureLayout | PixelLayout, params: ConvParams) -> int:
    """Return the entries of the convolution buffer that one line of an input takes."""
    channels, _, width = layout.shape
    if isinstance(layout, FeatureLayout) and not params.winograd:
        return feature_entries(layout.config, params.precision, channels, width)
    entries = winograd_entries if params.winograd else image_entries
    return entries(layout.config, params.precision, channels, params.pad_left + width + params.pad_right)


def buffered_lines(height: int, params: ConvParams) -> int:
    """Return the lines that an input of so many takes in the convolution buffer: in Winograd also its padding."""
    return height + params.pad_top + params.pad_bottom if params.winograd else height


@dataclass(frozen=True)
class ConvLayer:
    """One convolution of a cube, an image or a batch of cubes, with SDP on the fly, to memory.

    ``conversion`` is the input converter: of an image always given, of a cube None when it is off. ``sdp``
    has the convolution's precision as its input. With a ``batch``, ``src`` and ``dst`` are its first cube.

    ``src`` and ``weights`` are what the registers let CDMA fetch. With ``cbuf.reuse_data`` or ``cbuf.reuse_weights``
    the layer may find them, or a part, in the convolution buffer instead; ``lines`` are those that it convolves, when
    they are not as many as ``src`` has.

    Raises:
        InputError: when source, weights, destination, parameters, operand sources and the share of the
            convolution buffer do not fit each other.

    Source: programming guide, "Convolution" and "Limitation"; formats document, "Pixel Format".
    """

    unit: ClassVar[str] = "SDP"
    src: Surface | ImageSurface
    weights: WeightSurface
    dst: Surface
    params: ConvParams
    sdp: SdpParams
    cbuf: CbufUse
    conversion: Converter | PixelConversion | None = None
    x1: StageSource | None = None
    x2: StageSource | None = None
    y: StageSource | None = None
    batch: Batch | None = None
    lines: int | None = None

    def __post_init__(self) -> None:
        weights, dst = self.weights.layout, self.dst.layout
        sources = (self.x1, self.x2, self.y)
        check_configs(self.src.layout, {"weights": weights, "dst": dst, **operand_layouts(*sources)})
        if isinstance(self.src, ImageSurface):
            self._check_image(self.src.layout)
        else:
            self._check_cube(self.src.layout)
        channels, _, width = self.src.layout.shape
        self._check_reuse()
        if weights.shape[1] != channels:
            raise InputError(f"weights must have the {channels} channels of src, not {weights.shape[1]}")
        shape = self.params.output_shape((channels, self.height, width), (*weights.shape[:2], *kernel_sides(weights)))
        check_shape("dst", dst.shape, shape)
        for name, got, precision in (
            ("weights", weights.precision, self.params.precision),
            ("sdp.input_precision", self.sdp.input_precision, self.params.precision),
            ("dst", dst.precision, self.sdp.output_precision),
        ):
            check_precision(name, got, precision)
        self._check_output_precision(dst.precision)
        check_one_pixel("dst", dst)
        check_stages(self.sdp, sources, shape)
        if self.batch is not None:
            self._check_batch(self.batch)
        compressed = self.weights.compression is not None
        self.cbuf.check(self.entries, self.slices, weights, compressed=compressed, cubes=len(self.cubes))

    @property
    def height(self) -> int:
        """Lines of the input that are convolved."""
        return self.src.layout.shape[1] if self.lines is None else self.lines

    @property
    def slices(self) -> int:
        """Lines of the input in the convolution buffer; in Winograd with the padding around it."""
        return buffered_lines(self.height, self.params)

    @property
    def entries(self) -> int:
        """Entries of the convolution buffer that one line of the input takes."""
        return slice_entries(self.src.layout, self.params)

    @property
    def cubes(self) -> tuple[ConvLayer, ...]:
        """A layer for each cube of the batch, of that cube alone; the layer itself without one."""
        src, batch = self.src, self.batch
        if batch is None or isinstance(src, ImageSurface):
            return (self,)
        return tuple(
            replace(
                self,
                src=replace(src, address=src.address + number * batch.src_stride_bytes),
                dst=replace(self.dst, address=self.dst.address + number * batch.dst_stride_bytes),
                batch=None,
            )
            for number in range(batch.cubes)
        )

    def _check_reuse(self) -> None:
        height, cbuf = self.src.layout.shape[1], self.cbuf
        if self.lines is not None and not cbuf.reuse_data:
            raise InputError(f"lines must be None without reuse of data, not {self.lines}")
        if self.lines is not None and (self.lines < 1 or self.lines == height):
            raise InputError(f"lines must be at least 1 and not the {height} of src, not {self.lines}")
        if not (cbuf.reuse_data or cbuf.reuse_weights):
            return
        for what, found in (
            ("Winograd", self.params.winograd),
            ("a batch", self.batch is not None),
            ("compressed weights", self.weights.compression is not None),
        ):
            if found:
                raise InputError(f"reuse_data and reuse_weights must be False with {what}, which was not measured")

    def _check_output_precision(self, output: Precision) -> None:
        """Refuse what was never seen on hardware: other precisions out of Winograd, and another size of elements."""
        precision = self.params.precision
        if self.params.winograd and output is not precision:
            raise InputError(
                f"output_precision must be the {precision.name} of the convolution in Winograd, whose conversions were "
                f"not measured, not {output.name}"
            )
        if output.nbytes != precision.nbytes:
            raise InputError(
                f"output_precision must have elements of {precision.nbytes * 8} bits like the convolution's, because "
                f"other sizes were not measured after one, not {output.name}"
            )

    def _check_batch(self, batch: Batch) -> None:
        if isinstance(self.src, ImageSurface):
            raise InputError(f"batch.cubes must be 1 for image input, not {batch.cubes}")
        if self.params.winograd:
            raise InputError(f"batch.cubes must be 1 in Winograd, whose batches are not modelled, not {batch.cubes}")
        if self.sdp.compares:
            raise InputError(f"batch.cubes must be 1 for a comparison, which writes no cube, not {batch.cubes}")
        batch.check(self.src, self.dst)

    def _check_cube(self, layout: FeatureLayout) -> None:
        weights = self.weights.layout
        if self.params.winograd:
            if not isinstance(weights, WinogradWeightLayout) or weights.stride != (1, 1):
                raise InputError("weights must be laid out for Winograd with stride 1, because params say so")
        elif type(weights) is not WeightLayout or weights.line_group != 1:
            raise InputError("weights must be laid out for direct convolution, because src is a feature cube")
        check_precision("src", layout.precision, self.params.precision)
        if self.conversion is not None and not (
            isinstance(self.conversion, Converter) and self.conversion.encoding is ConverterEncoding.CDMA_INPUT
        ):
            raise InputError("conversion must be a Converter of CDMA or None, because src is a feature cube")
        if self.conversion is not None and self.params.is_float:
            raise InputError("conversion must be None for a cube of FP16, which no converter takes")
        if self.cbuf.fetch_slices > 1 and not layout.line_packed:
            raise InputError(f"fetch_slices must be 1, because lines are not packed, not {self.cbuf.fetch_slices}")

    def _check_image(self, layout: PixelLayout) -> None:
        weights, params = self.weights.layout, self.params
        if params.winograd:
            raise InputError("winograd must be False for image input")
        if not isinstance(weights, ImageWeightLayout):
            raise InputError("weights must be laid out for image input, because src is an image")
        if not isinstance(self.conversion, PixelConversion):
            raise InputError("conversion must be a PixelConversion, because src is an image")
        check_precision("conversion", self.conversion.precision, params.precision)
        if layout.format.is_float and self.conversion != PixelConversion(Precision.FP16):
            raise InputError(f"conversion must take {layout.format_name} as it is: mean and converter are not modelled")
        if (params.dilation_x, params.dilation_y) != (1, 1):
            raise InputError(
                f"dilation must be 1 for image input, not {params.dilation_x} along W and {params.dilation_y} along H"
            )
        most = weights.cube_channels // weights.line_group
        if weights.line_group > 1 and params.stride_x * layout.shape[0] > most:
            raise InputError(
                f"stride_x times channels must be at most {most} with {weights.line_group}-line post-extension, "
                f"not {params.stride_x * layout.shape[0]}"
            )
        if self.cbuf.fetch_slices != 1:
            raise InputError(f"fetch_slices must be 1 for image input, not {self.cbuf.fetch_slices}")
        row, width, pads = weights.packed_shape[1], layout.shape[2], (params.pad_left, params.pad_right)
        fault = misread_rows(layout.config, row, self.dst.layout.shape[2])
        fault = fault or overflowing_padding(layout.config, layout.format, width, *pads, layout.x_offset)
        if fault is not None:
            raise InputError(fault)
