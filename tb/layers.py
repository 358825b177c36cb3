"""Hardware layers: what one unit, or one pair of RDMA and unit, is programmed to do, in real sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.cbuf import feature_entries, image_entries
from models.cdp import CdpParams
from models.config import HwConfig
from models.conv import ConvParams
from models.converter import Converter, ConverterEncoding
from models.layout import FeatureLayout, ImageWeightLayout, OperandLayout, PixelConversion, PixelLayout, WeightLayout
from models.pdp import PdpParams
from models.precision import Precision
from models.sdp import SdpParams, SdpStage
from tb.surfaces import CbufUse, ImageSurface, WeightSurface
from tb.surfaces import OperandSurface as OperandSurface
from tb.surfaces import Surface as Surface

LINE_BUFFER_ELEMENTS = 128
"""Output columns that PDP's line buffer holds when no two windows share a row."""


@dataclass(frozen=True)
class StageSource:
    """Where the operands of X1 or X2 come from.

    A register operand is a signed 16-bit number; None takes it from ``memory``.
    """

    alu: int | None = None
    mul: int | None = None
    memory: OperandSurface | None = None


@dataclass(frozen=True)
class SdpLayer:
    """One SDP layer from memory to memory.

    Raises:
        ValueError: when surfaces, parameters and operand sources do not fit each other.
    """

    src: Surface
    dst: Surface
    params: SdpParams
    x1: StageSource | None = None
    x2: StageSource | None = None

    def __post_init__(self) -> None:
        if self.src.layout.shape != self.dst.layout.shape:
            raise ValueError(f"dst must have the shape {self.src.layout.shape} of src, not {self.dst.layout.shape}")
        operands = {"x1.memory": self.x1, "x2.memory": self.x2}
        memories = {name: source.memory.layout for name, source in operands.items() if source and source.memory}
        _check_configs(self.src, {"dst": self.dst.layout, **memories})
        for end, precision in (("src", self.params.input_precision), ("dst", self.params.output_precision)):
            got = getattr(self, end).layout.precision
            if got is not precision:
                raise ValueError(f"{end} must have the precision {precision.name} of params, not {got.name}")
        if self.dst.layout.padded_channels != self.src.layout.padded_channels:
            # What the hardware takes for channels that only one side has in memory is not known.
            raise ValueError(
                f"dst must have the {self.src.layout.padded_channels} channels of src with padding, "
                f"not {self.dst.layout.padded_channels}"
            )
        for name, layout in {"src": self.src.layout, "dst": self.dst.layout}.items():
            _check_one_pixel(name, layout)
        for name in ("x1", "x2"):
            _check_stage(name, getattr(self.params, name), getattr(self, name), self.src.layout.shape)
        _check_operand_precision(memories, self.processing_precision)

    @property
    def unit(self) -> str:
        """The unit that runs the layer and raises its interrupt."""
        return "SDP"

    @property
    def processing_precision(self) -> Precision:
        """The precision that the stages compute in and that operands have."""
        return processing_precision(self.params.input_precision, self.params.output_precision)


@dataclass(frozen=True)
class WidthSplit:
    """How PDP cuts a cube along its width: elements of the first, each middle and the last part."""

    parts: int
    first_in: int
    middle_in: int
    last_in: int
    first_out: int
    middle_out: int
    last_out: int

    def __post_init__(self) -> None:
        if not 2 <= self.parts <= 256:
            raise ValueError(f"parts must be 2 to 256, not {self.parts}")
        for name in ("middle_in", "middle_out"):
            if self.parts == 2 and getattr(self, name):
                raise ValueError(f"{name} must be 0 with 2 parts, not {getattr(self, name)}")

    @property
    def total_in(self) -> int:
        """Input elements of all parts."""
        return self.first_in + (self.parts - 2) * self.middle_in + self.last_in

    @property
    def total_out(self) -> int:
        """Output elements of all parts."""
        return self.first_out + (self.parts - 2) * self.middle_out + self.last_out


@dataclass(frozen=True)
class PdpLayer:
    """One PDP layer from memory to memory.

    Raises:
        ValueError: when the sizes of source, destination, pooling and split do not fit each other.
    """

    src: Surface
    dst: Surface
    params: PdpParams
    split: WidthSplit | None = None

    def __post_init__(self) -> None:
        _check_configs(self.src, {"dst": self.dst.layout})
        channels, height, width = self.src.layout.shape
        expected = (channels, self.params.output_height(height), self.params.output_width(width))
        if self.dst.layout.shape != expected:
            raise ValueError(f"dst must have the shape {expected}, not {self.dst.layout.shape}")
        for end in ("src", "dst"):
            got = getattr(self, end).layout.precision
            if got is not self.params.precision:
                raise ValueError(f"{end} must have the precision {self.params.precision.name}, not {got.name}")
        if self.split is not None and (self.split.total_in, self.split.total_out) != (width, expected[2]):
            raise ValueError(
                f"split must add up to the widths {width} in and {expected[2]} out, "
                f"not {self.split.total_in} and {self.split.total_out}"
            )

        widest = self.dst.layout.shape[2]
        if self.split is not None:
            widest = max(self.split.first_out, self.split.middle_out, self.split.last_out)
        most = line_buffer_elements(self.params, self.src.layout.config)
        if most is not None and widest > most:
            raise ValueError(
                f"split must leave parts of at most {most} output columns, which the line buffer of "
                f"{self.src.layout.config.name} holds for this pooling, not {widest}"
            )

    @property
    def unit(self) -> str:
        """The unit that runs the layer and raises its interrupt."""
        return "PDP"


def line_buffer_elements(params: PdpParams, config: HwConfig) -> int | None:
    """Return how many output columns the line buffer of PDP holds, None where it was not measured.

    Source: unit description, share line buffer; measured on the public nv_small RTL, which hangs or
        writes wrong data beyond: ``LINE_BUFFER_ELEMENTS`` columns, divided by the rows of windows that
        overlap, rounded up to a power of two.
    """
    if config.pdp_throughput != 1:
        return None
    rows = -(-params.kernel_height // params.stride_y)
    return LINE_BUFFER_ELEMENTS >> (rows - 1).bit_length()


@dataclass(frozen=True)
class CdpLayer:
    """One CDP layer from memory to memory.

    Raises:
        ValueError: when the sizes or precisions of source, destination and parameters do not fit each other.
    """

    src: Surface
    dst: Surface
    params: CdpParams

    def __post_init__(self) -> None:
        _check_configs(self.src, {"dst": self.dst.layout})
        if self.dst.layout.shape != self.src.layout.shape:
            raise ValueError(f"dst must have the shape {self.src.layout.shape} of src, not {self.dst.layout.shape}")
        for end in ("src", "dst"):
            got = getattr(self, end).layout.precision
            if got is not self.params.precision:
                raise ValueError(f"{end} must have the precision {self.params.precision.name}, not {got.name}")

    @property
    def unit(self) -> str:
        """The unit that runs the layer and raises its interrupt."""
        return "CDP"


@dataclass(frozen=True)
class ConvLayer:
    """One convolution of a cube or an image, with SDP on the fly, to memory.

    ``conversion`` is the input converter: of an image always given, of a cube None when it is off. ``sdp``
    has the convolution's precision as its input.

    Raises:
        ValueError: when source, weights, destination, parameters, operand sources and the share of the
            convolution buffer do not fit each other.

    Source: programming guide, "Convolution" and "Limitation"; formats document, "Pixel Format".
    """

    src: Surface | ImageSurface
    weights: WeightSurface
    dst: Surface
    params: ConvParams
    sdp: SdpParams
    cbuf: CbufUse
    conversion: Converter | PixelConversion | None = None
    x1: StageSource | None = None
    x2: StageSource | None = None

    def __post_init__(self) -> None:
        weights, dst = self.weights.layout, self.dst.layout
        operands = {"x1.memory": self.x1, "x2.memory": self.x2}
        memories = {name: source.memory.layout for name, source in operands.items() if source and source.memory}
        _check_configs(self.src, {"weights": weights, "dst": dst, **memories})
        if isinstance(self.src, ImageSurface):
            self._check_image(self.src.layout)
        else:
            self._check_cube(self.src.layout)
        channels, height, width = self.src.layout.shape
        if weights.shape[1] != channels:
            raise ValueError(f"weights must have the {channels} channels of src, not {weights.shape[1]}")
        rows, columns = weights.shape[2:]
        shape = (weights.shape[0], self.params.output_height(height, rows), self.params.output_width(width, columns))
        if dst.shape != shape:
            raise ValueError(f"dst must have the shape {shape}, not {dst.shape}")
        for name, got, precision in (
            ("weights", weights.precision, self.params.precision),
            ("sdp.input_precision", self.sdp.input_precision, self.params.precision),
            ("dst", dst.precision, self.sdp.output_precision),
        ):
            if got is not precision:
                raise ValueError(f"{name} must have the precision {precision.name}, not {got.name}")
        atom = dst.config.atom_elements(self.processing_precision)
        padded = -(-shape[0] // atom) * atom
        if dst.padded_channels != padded:
            raise ValueError(f"dst must have the {padded} channels of SDP with padding, not {dst.padded_channels}")
        _check_one_pixel("dst", dst)
        for name in ("x1", "x2"):
            _check_stage(name, getattr(self.sdp, name), getattr(self, name), shape)
        _check_operand_precision(memories, self.processing_precision)
        self.cbuf.check(self.entries, height, weights)

    @property
    def unit(self) -> str:
        """The unit that ends the layer and raises its interrupt."""
        return "SDP"

    @property
    def processing_precision(self) -> Precision:
        """The precision that the stages of SDP compute in and that operands have."""
        return processing_precision(self.sdp.input_precision, self.sdp.output_precision)

    @property
    def entries(self) -> int:
        """Entries of the convolution buffer that one line of the input takes."""
        layout, precision = self.src.layout, self.params.precision
        channels, _, width = layout.shape
        if isinstance(layout, FeatureLayout):
            return feature_entries(layout.config, precision, channels, width)
        padded = self.params.pad_left + width + self.params.pad_right
        return image_entries(layout.config, precision, channels, padded)

    def _check_cube(self, layout: FeatureLayout) -> None:
        if type(self.weights.layout) is not WeightLayout or self.weights.layout.line_group != 1:
            raise ValueError("weights must be laid out for direct convolution, because src is a feature cube")
        if layout.precision is not self.params.precision:
            raise ValueError(f"src must have the precision {self.params.precision.name}, not {layout.precision.name}")
        if self.conversion is not None and not (
            isinstance(self.conversion, Converter) and self.conversion.encoding is ConverterEncoding.CDMA_INPUT
        ):
            raise ValueError("conversion must be a Converter of CDMA or None, because src is a feature cube")
        if self.cbuf.fetch_slices > 1 and not layout.line_packed:
            raise ValueError(f"fetch_slices must be 1, because lines are not packed, not {self.cbuf.fetch_slices}")

    def _check_image(self, layout: PixelLayout) -> None:
        weights, params = self.weights.layout, self.params
        if not isinstance(weights, ImageWeightLayout):
            raise ValueError("weights must be laid out for image input, because src is an image")
        if not isinstance(self.conversion, PixelConversion):
            raise ValueError("conversion must be a PixelConversion, because src is an image")
        if self.conversion.precision is not params.precision:
            raise ValueError(
                f"conversion must have the precision {params.precision.name}, not {self.conversion.precision.name}"
            )
        if (params.dilation_x, params.dilation_y) != (1, 1):
            raise ValueError(
                f"dilation must be 1 for image input, not {params.dilation_x} along W and {params.dilation_y} along H"
            )
        most = weights.cube_channels // weights.line_group
        if weights.line_group > 1 and params.stride_x * layout.shape[0] > most:
            raise ValueError(
                f"stride_x times channels must be at most {most} with {weights.line_group}-line post-extension, "
                f"not {params.stride_x * layout.shape[0]}"
            )
        if self.cbuf.fetch_slices != 1:
            raise ValueError(f"fetch_slices must be 1 for image input, not {self.cbuf.fetch_slices}")


Layer = SdpLayer | PdpLayer | CdpLayer | ConvLayer


def processing_precision(source: Precision, target: Precision) -> Precision:
    """Return the precision that SDP computes in when it converts: INT8 as soon as one side is INT8.

    Source: format document, "Element-Wise Data Format"; measured on the public nv_full RTL, where INT16
        to INT8 processed as INT16 never ends.
    """
    return Precision.INT8 if Precision.INT8 in (source, target) else source


def strides_are_ignored(shape: tuple[int, int, int]) -> bool:
    """Return whether SDP takes the atoms of a cube as contiguous, whatever the strides say.

    Source: measured on the public nv_small RTL: so it is where H and W are 1, operands per element included.
    """
    return shape[1:] == (1, 1)


def is_per_channel(layout: OperandLayout) -> bool:
    """Return whether operands lie as the per-channel mode reads them: one a channel, in adjacent atoms."""
    channels = layout.shape[0]
    return layout == OperandLayout.packed(
        layout.config, layout.precision, (channels, 1, 1), layout.components, layout.component_bytes
    )


def _check_configs(
    src: Surface | ImageSurface, others: Mapping[str, FeatureLayout | OperandLayout | WeightLayout]
) -> None:
    for name, layout in others.items():
        if layout.config != src.layout.config:
            raise ValueError(f"{name} must be laid out for {src.layout.config.name} as src, not {layout.config.name}")


def _check_stage(name: str, stage: SdpStage | None, source: StageSource | None, shape: tuple[int, int, int]) -> None:
    """Check that a stage's operands all come from somewhere, and that nothing is fetched in vain."""
    if stage is None:
        if source is not None:
            raise ValueError(f"{name} must be None, because the stage is bypassed")
        return
    source = source or StageSource()
    wanted = {"alu": stage.alu is not None, "mul": stage.mul}
    for component, active in wanted.items():
        register = getattr(source, component)
        if not active and register is not None:
            raise ValueError(f"{name}.{component} must be None, because the unit is bypassed")
        fetched = source.memory is not None and component in source.memory.layout.components
        if active and register is None and not fetched:
            raise ValueError(f"{name}.{component} must come from a register or from memory")
    if source.memory is None:
        return
    if not any(active and getattr(source, component) is None for component, active in wanted.items()):
        raise ValueError(f"{name}.memory must be None, because no unit takes its operand from memory")
    layout = source.memory.layout
    if layout.shape not in ((shape[0], 1, 1), shape):
        raise ValueError(f"{name}.memory must have the shape {(shape[0], 1, 1)} or {shape}, not {layout.shape}")
    if layout.shape != shape and not is_per_channel(layout):
        raise ValueError(
            f"{name}.memory must be packed per channel, not with surfaces {layout.surface_stride_bytes} bytes apart"
        )


def _check_one_pixel(name: str, layout: FeatureLayout) -> None:
    """Check that the strides of a 1 x 1 cube say what SDP does."""
    atom = layout.config.memory_atomic_bytes
    strides = (layout.line_stride_bytes, layout.surface_stride_bytes)
    if strides_are_ignored(layout.shape) and strides != (atom, atom):
        raise ValueError(
            f"{name} must have strides of {atom} bytes, because SDP ignores those of a 1 x 1 cube, "
            f"not {strides[0]} and {strides[1]}"
        )


def _check_operand_precision(memories: dict[str, OperandLayout], precision: Precision) -> None:
    for name, layout in memories.items():
        if layout.precision is not precision:
            raise ValueError(f"{name} must have the processing precision {precision.name}, not {layout.precision.name}")
