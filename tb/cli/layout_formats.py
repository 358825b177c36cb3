"""The formats of the command line: which options each takes, and the layout that they make."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from models.config import HwConfig
from models.errors import InputError
from models.layout import (
    COMPONENTS,
    CompressedWeightLayout,
    ConvolutionDataLayout,
    DeconvolutionWeightLayout,
    DlhdlType,
    FeatureLayout,
    FullyConnectedDataLayout,
    ImageWeightLayout,
    OperandLayout,
    PixelLayout,
    PlanarLayout,
    WeightLayout,
    WinogradWeightLayout,
    contract,
    contracted_shape,
    merge,
    split,
    thread_number,
)
from models.layout.raw import Array, ByteArray, check_index
from models.limits import MEMORY_BYTES
from models.precision import Precision
from tb.cli.layout_files import read_memory
from tb.cli.layout_options import OPTIONS, Given
from tb.cli.layout_subjects import FeatureSubject, OperandSubject, PixelSubject, RubikSubject, Subject, ValuesSubject
from tb.cli.layout_weights import (
    KERNEL_AXES,
    CompressedSubject,
    ImageKernelSubject,
    KernelSetSubject,
    KernelSubject,
    WinogradKernelSubject,
)

CUBE_AXES = ("c", "h", "w")


@dataclass(frozen=True)
class Format:
    """One format: the options that it needs and may have, and what they make."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    build: Callable[[Given], Subject]


def add_layout_options(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the options that say a layout."""
    group = parser.add_argument_group("layout", "An option that the format does not use is refused.")
    formats = _formats(command)
    when = "with dumps" if command == "explain" else "always"
    group.add_argument("--format", metavar="FORMAT", help=f"{when} needed: {', '.join(formats)}")
    for name, option in OPTIONS.items():
        if command not in option.commands:
            continue
        users = ", ".join(known for known in formats if name in FORMATS[known].required + FORMATS[known].optional)
        text = f"{option.about} [{users}]"
        if option.metavar is None:
            group.add_argument(f"--{name}", action="store_true", help=text)
        else:
            group.add_argument(f"--{name}", metavar=option.metavar, help=text)


def chosen(args: argparse.Namespace, command: str) -> Subject:
    """Return the layout that the options say.

    Raises:
        InputError: for an option that is missing, left over or wrong, and as the layouts.
    """
    formats = _formats(command)
    if args.format not in formats:
        one_of = "one of " if len(formats) > 1 else ""
        raise InputError(f"--format must be {one_of}{', '.join(formats)}, not {args.format or 'nothing'}")
    found = {name: getattr(args, name.replace("-", "_"), None) for name in OPTIONS}
    given = Given(
        command, args.format, {name: str(value) for name, value in found.items() if value not in (None, False)}
    )
    form = FORMATS[args.format]
    given.check(form.required, form.optional)
    subject = form.build(given)
    largest = max(subject.limits)
    if command in ("pack", "unpack", "explain") and largest > MEMORY_BYTES:
        raise InputError(f"--format {args.format}: a surface must have at most {MEMORY_BYTES} bytes, not {largest}")
    return subject


def _formats(command: str) -> tuple[str, ...]:
    """Return the formats of a subcommand: the output of a layer is always a feature cube."""
    return ("feature",) if command == "explain" else tuple(FORMATS)


def surface_files(args: argparse.Namespace, first: Path) -> tuple[Path, ...]:
    """Return the files of all surfaces: compressed weights have three."""
    return (first, Path(args.wmb), Path(args.wgs)) if args.format == "compressed" else (first,)


def _config(given: Given) -> HwConfig:
    return HwConfig.load(given.values.get("config", "nv_small"))


def _precision(given: Given) -> Precision:
    return Precision(given.choice("precision", [precision.value for precision in Precision]))


def _strides(given: Given, line: int, height: int, second: str) -> tuple[int, int]:
    """Return line stride and surface or planar stride, with the defaults that the help states."""
    line = given.integer("line-stride", line)
    return line, given.integer(second, height * line)


def _feature_layout(given: Given, shape: tuple[int, int, int]) -> FeatureLayout:
    packed = FeatureLayout.packed(_config(given), _precision(given), shape)
    line, surface = _strides(given, packed.line_stride_bytes, shape[1], "surface-stride")
    return replace(packed, line_stride_bytes=line, surface_stride_bytes=surface)


def _feature(given: Given) -> Subject:
    layout = _feature_layout(given, given.triple("shape", "C,H,W"))
    return FeatureSubject(layout, CUBE_AXES, layout.alignment, given.number("padding", 0))


def _pixel(given: Given) -> Subject:
    shape, x_offset = given.triple("shape", "C,H,W"), given.integer("x-offset", 0)
    layout = PixelLayout.packed(_config(given), given.values["pixel-format"], shape, x_offset)
    if "line-stride" in given.values:
        planes = ",".join(["BYTES"] * len(layout.format.planes))
        layout = replace(layout, line_stride_bytes=given.integers("line-stride", planes))
    return PixelSubject(layout, CUBE_AXES, layout.alignment, given.integer("padding", 0))


def _weight(given: Given) -> KernelSubject:
    layout = WeightLayout(_config(given), _precision(given), given.quadruple("shape", "K,C,R,S"))
    return KernelSubject(layout, KERNEL_AXES, layout.alignment)


def _image_weight(given: Given) -> KernelSubject:
    lines = given.integer("post-extension", 1)
    layout = ImageWeightLayout(_config(given), _precision(given), given.quadruple("shape", "K,C,R,S"), lines)
    return ImageKernelSubject(layout, KERNEL_AXES, layout.alignment)


def _winograd(given: Given) -> KernelSubject:
    stride = given.pair("stride", "Y,X") if "stride" in given.values else (1, 1)
    layout = WinogradWeightLayout(_config(given), _precision(given), given.quadruple("shape", "K,C,R,S"), stride)
    converted = "converted" in given.values
    if converted and "scale" in given.values:
        raise InputError("--scale must not be given with --converted, which converts nothing")
    return WinogradKernelSubject(layout, KERNEL_AXES, layout.alignment, given.number("scale", 1), converted)


def _deconvolution_layout(given: Given) -> DeconvolutionWeightLayout:
    shape, stride = given.quadruple("shape", "K,C,R,S"), given.pair("stride", "Y,X")
    return DeconvolutionWeightLayout(_config(given), _precision(given), shape, stride)


def _deconvolution(given: Given) -> Subject:
    layout = _deconvolution_layout(given)
    return Subject(layout, KERNEL_AXES, layout.alignment)


def _kernel_set(given: Given) -> KernelSubject:
    whole, number = _deconvolution_layout(given), given.integer("set", 0)
    check_index("--set", number, whole.sets)
    return KernelSetSubject(whole.set_layout, KERNEL_AXES, whole.alignment, whole, number)


_WEIGHT_OPTIONS = ("precision", "shape")
_WINOGRAD_OPTIONS = ("config", "stride", "scale", "converted")

# What can be compressed; of a deconvolution one set at a time.
_COMPRESSIBLE: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[Given], KernelSubject]]] = {
    "weight": (_WEIGHT_OPTIONS, ("config",), _weight),
    "image-weight": (_WEIGHT_OPTIONS, ("config", "post-extension"), _image_weight),
    "winograd": (_WEIGHT_OPTIONS, _WINOGRAD_OPTIONS, _winograd),
    "deconvolution": ((*_WEIGHT_OPTIONS, "stride", "set"), ("config",), _kernel_set),
}


def _compressed(given: Given) -> Subject:
    inner = given.choice("weight-format", tuple(_COMPRESSIBLE))
    required, optional, build = _COMPRESSIBLE[inner]
    given = replace(given, format_name=f"compressed {inner}")
    given.check(("weight-format", *required, "wmb", "wgs"), optional)
    kernels = build(given)
    compressed = CompressedWeightLayout(kernels.layout)
    wmb = None
    if given.command == "offset":
        wmb = read_memory(Path(given.values["wmb"]), compressed.wmb_nbytes, None)
    return CompressedSubject(kernels.layout, KERNEL_AXES, compressed.alignment, compressed, kernels, wmb)


def _operand(given: Given) -> Subject:
    words = given.choice("components", [",".join(names) for names in COMPONENTS])
    size = given.integer("component-bytes", 0)
    shape = given.triple("shape", "C,H,W")
    packed = OperandLayout.packed(_config(given), _precision(given), shape, tuple(words.split(",")), size)
    line, surface = _strides(given, packed.line_stride_bytes, shape[1], "surface-stride")
    layout = replace(packed, line_stride_bytes=line, surface_stride_bytes=surface)
    return OperandSubject(layout, ("component", *CUBE_AXES), layout.alignment)


def _planar_layout(given: Given, shape: tuple[int, int, int]) -> PlanarLayout:
    packed = PlanarLayout.packed(_config(given), _precision(given), shape)
    line, plane = _strides(given, packed.line_stride_bytes, shape[1], "planar-stride")
    return replace(packed, line_stride_bytes=line, planar_stride_bytes=plane)


def _planar(given: Given) -> Subject:
    layout = _planar_layout(given, given.triple("shape", "C,H,W"))
    return Subject(layout, CUBE_AXES, layout.alignment)


# What the modes of RUBIK need besides --mode, and what they may have.
_RUBIK: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "contract": (("precision", "shape", "stride"), ("config", "line-stride", "surface-stride")),
    "split": (("precision", "shape"), ("config", "line-stride", "planar-stride")),
    "merge": (("precision", "shape"), ("config", "line-stride", "surface-stride")),
}


def _rubik(given: Given) -> Subject:
    mode = given.choice("mode", tuple(_RUBIK))
    required, optional = _RUBIK[mode]
    given = replace(given, format_name=f"rubik {mode}")
    given.check(("mode", *required), optional)
    shape = given.triple("shape", "C,H,W")
    if mode == "merge":
        planes, target = PlanarLayout.packed(_config(given), _precision(given), shape), _feature_layout(given, shape)
        return _moved(mode, target, lambda cube: merge(planes, target, planes.pack(cube)))
    source = FeatureLayout.packed(_config(given), _precision(given), shape)
    if mode == "split":
        planar = _planar_layout(given, shape)
        return _moved(mode, planar, lambda cube: split(source, planar, source.pack(cube)))
    stride = given.pair("stride", "Y,X")
    contracted = _feature_layout(given, contracted_shape(source, stride))
    return _moved(mode, contracted, lambda cube: contract(source, contracted, stride, source.pack(cube)))


def _moved(mode: str, target: FeatureLayout | PlanarLayout, movement: Callable[[Array], ByteArray]) -> Subject:
    if not target.config.rubik_enable:
        raise InputError(f"--config must be a build with RUBIK, not {target.config.name}")
    return RubikSubject(target, CUBE_AXES, target.alignment, mode, movement)


def _dlhdl(given: Given) -> Subject:
    module = given.choice("module", ("convolution", "fully-connected"))
    kind = DlhdlType(given.choice("precision", [kind.value for kind in DlhdlType]))
    threads = thread_number(given.integer("conv-thread-number", 0))
    if module == "convolution":
        return Subject(ConvolutionDataLayout(kind, given.triple("shape", "Z,Y,X"), threads), ("z", "y", "x"), None)
    (values,) = given.integers("shape", "X")
    return ValuesSubject(FullyConnectedDataLayout(kind, values, threads), ("x",), None)


_STRIDES = ("config", "line-stride", "surface-stride")
_COMPRESSED = ("config", "post-extension", "stride", "scale", "converted", "set")

FORMATS: Mapping[str, Format] = {
    "feature": Format(("precision", "shape"), (*_STRIDES, "padding"), _feature),
    "pixel": Format(("pixel-format", "shape"), ("config", "line-stride", "x-offset", "padding", "alpha"), _pixel),
    "weight": Format(*_COMPRESSIBLE["weight"]),
    "image-weight": Format(*_COMPRESSIBLE["image-weight"]),
    "winograd": Format(*_COMPRESSIBLE["winograd"]),
    "deconvolution": Format((*_WEIGHT_OPTIONS, "stride"), ("config",), _deconvolution),
    "compressed": Format(("weight-format", *_WEIGHT_OPTIONS, "wmb", "wgs"), _COMPRESSED, _compressed),
    "operand": Format(("precision", "shape", "components", "component-bytes"), _STRIDES, _operand),
    "planar": Format(("precision", "shape"), ("config", "line-stride", "planar-stride"), _planar),
    "rubik": Format(("mode", "precision", "shape"), ("stride", *_STRIDES, "planar-stride"), _rubik),
    "dlhdl": Format(("module", "precision", "shape", "conv-thread-number"), (), _dlhdl),
}
