"""Common parts of SDP layers, from memory and on the fly: operand sources, and the rules of stages and strides."""

from __future__ import annotations

from dataclasses import dataclass

from nvdla_models.errors import InputError
from nvdla_models.layout import FeatureLayout, OperandLayout
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams, SdpStage, YStage
from nvdla_tb.nvdla.surfaces import OperandSurface


@dataclass(frozen=True)
class StageSource:
    """Where the operands of a stage come from.

    A register operand is a signed number of 16 bits, in Y of 32; or a pattern, of FP16, in Y of FP32. None takes
    it from ``memory``.
    """

    alu: int | None = None
    mul: int | None = None
    memory: OperandSurface | None = None


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


def operand_layouts(*sources: StageSource | None) -> dict[str, OperandLayout]:
    """Return the layouts of the operands of X1, X2 and Y that lie in memory, by what messages call them."""
    named = zip(("x1.memory", "x2.memory", "y.memory"), sources, strict=True)
    return {name: source.memory.layout for name, source in named if source and source.memory}


def check_stages(params: SdpParams, sources: tuple[StageSource | None, ...], shape: tuple[int, int, int]) -> None:
    """Check the operands of X1, X2 and Y: those of each stage, and the precision of those in memory.

    Raises:
        InputError: when an operand comes from nowhere, is fetched in vain, or has another precision than the stages.
    """
    for name, source in zip(("x1", "x2", "y"), sources, strict=True):
        _check_stage(name, getattr(params, name), source, shape)
    precision = processing_precision(params.input_precision, params.output_precision)
    for name, layout in operand_layouts(*sources).items():
        if layout.precision is not precision:
            raise InputError(f"{name} must have the processing precision {precision.name}, not {layout.precision.name}")


def _check_stage(
    name: str, stage: SdpStage | YStage | None, source: StageSource | None, shape: tuple[int, int, int]
) -> None:
    if stage is None:
        if source is not None:
            raise InputError(f"{name} must be None, because the stage is bypassed")
        return
    source = source or StageSource()
    wanted = {"alu": stage.alu is not None, "mul": stage.mul}
    for component, active in wanted.items():
        register = getattr(source, component)
        if not active and register is not None:
            raise InputError(f"{name}.{component} must be None, because the unit is bypassed")
        fetched = source.memory is not None and component in source.memory.layout.components
        if active and register is None and not fetched:
            raise InputError(f"{name}.{component} must come from a register or from memory")
    if source.memory is None:
        return
    taken = tuple(component for component, active in wanted.items() if active and getattr(source, component) is None)
    if not taken:
        raise InputError(f"{name}.memory must be None, because no unit takes its operand from memory")
    layout = source.memory.layout
    if layout.components != taken:
        # Measured on the public nv_small RTL: what nothing takes stays in SDP_RDMA, where it fills the queue until
        # the layer hangs, or the next one takes it.
        raise InputError(f"{name}.memory must hold {taken[0]} alone, because nothing takes the other operand")
    if layout.shape not in ((shape[0], 1, 1), shape):
        raise InputError(f"{name}.memory must have the shape {(shape[0], 1, 1)} or {shape}, not {layout.shape}")
    if layout.shape != shape and not is_per_channel(layout):
        raise InputError(
            f"{name}.memory must be packed per channel, not with surfaces {layout.surface_stride_bytes} bytes apart"
        )


def check_one_pixel(name: str, layout: FeatureLayout) -> None:
    """Check that the strides of a 1 x 1 cube say what SDP does."""
    atom = layout.config.memory_atomic_bytes
    strides = (layout.line_stride_bytes, layout.surface_stride_bytes)
    if strides_are_ignored(layout.shape) and strides != (atom, atom):
        raise InputError(
            f"{name} must have strides of {atom} bytes, because SDP ignores those of a 1 x 1 cube, "
            f"not {strides[0]} and {strides[1]}"
        )
