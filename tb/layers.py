"""Hardware layers: what one unit, or one pair of RDMA and unit, is programmed to do, in real sizes."""

from __future__ import annotations

from dataclasses import dataclass

from models.layout import FeatureLayout, OperandLayout
from models.pdp import PdpParams
from models.sdp import SdpParams, SdpStage
from tb.memory import Ram


@dataclass(frozen=True)
class Surface:
    """A feature cube in memory.

    Raises:
        ValueError: when the address is not a multiple of the atom.
    """

    layout: FeatureLayout
    address: int
    ram: Ram = Ram.MC

    def __post_init__(self) -> None:
        _check_address(self.address, self.layout.atom_bytes)


@dataclass(frozen=True)
class OperandSurface:
    """Operands of an SDP stage in memory.

    Raises:
        ValueError: when the address is not a multiple of the feature atom.
    """

    layout: OperandLayout
    address: int
    ram: Ram = Ram.MC

    def __post_init__(self) -> None:
        _check_address(self.address, self.layout.config.memory_atomic_bytes)


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
        for end, precision in (("src", self.params.input_precision), ("dst", self.params.output_precision)):
            got = getattr(self, end).layout.precision
            if got is not precision:
                raise ValueError(f"{end} must have the precision {precision.name} of params, not {got.name}")
        for name in ("x1", "x2"):
            _check_stage(name, getattr(self.params, name), getattr(self, name), self.src.layout.shape)

    @property
    def unit(self) -> str:
        """The unit that runs the layer and raises its interrupt."""
        return "SDP"


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

    @property
    def unit(self) -> str:
        """The unit that runs the layer and raises its interrupt."""
        return "PDP"


Layer = SdpLayer | PdpLayer


def _check_address(address: int, alignment_bytes: int) -> None:
    if address < 0 or address % alignment_bytes:
        raise ValueError(f"address must be a multiple of the {alignment_bytes}-byte atom, not {address:#x}")


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
    if source.memory.layout.shape not in ((shape[0], 1, 1), shape):
        raise ValueError(
            f"{name}.memory must have the shape {(shape[0], 1, 1)} or {shape}, not {source.memory.layout.shape}"
        )
