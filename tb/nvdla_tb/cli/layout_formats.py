"""The formats of the command line: which options each takes, and the layout that they make."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout import (
    COMPONENTS,
    CompressedWeightLayout,
    DeconvolutionWeightLayout,
    FeatureLayout,
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
)
from nvdla_models.layout.raw import Array, ByteArray, check_array, check_index
from nvdla_models.limits import MEMORY_BYTES
from nvdla_models.precision import Precision
from nvdla_tb.added import with_added
from nvdla_tb.cli.layout_files import read_memory
from nvdla_tb.cli.layout_options import OPTIONS, Given, Option
from nvdla_tb.cli.layout_subjects import CompressedSubject, Coordinates, Subject

CUBE_AXES, KERNEL_AXES = ("c", "h", "w"), ("k", "c", "r", "s")


GROUP = "nvdla_tb.layouts"
"""The group of entry points by which other packages add formats: each names a dictionary like ``FORMATS``."""


@dataclass(frozen=True)
class Format:
    """One format: the options that it needs and may have, and what they make.

    Example::

        def rows(given: Given) -> Subject:
            return Subject(Rows(given.integers("shape", "H,W")), ("h", "w"))

        FORMATS = {"rows": Format(("shape",), (), rows)}

    Args:
        required: Names of the options that it needs.
        optional: Names of those that it may have.
        build: From the options that were given to the layout.
        options: Options that no format before it has, by their names.
        remarks: What it adds to the help of options that others have, too.
    """

    required: tuple[str, ...]
    optional: tuple[str, ...]
    build: Callable[[Given], Subject]
    options: Mapping[str, Option] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)


def all_formats() -> dict[str, Format]:
    """Return the formats of NVDLA, then those that installed packages add.

    Raises:
        InputError: for a name that is given twice.
    """
    return with_added(FORMATS, GROUP, "formats", Format)


def all_options(formats: Mapping[str, Format]) -> dict[str, Option]:
    """Return the options of formats.

    Raises:
        InputError: for a name that is given twice.
    """
    found = dict(OPTIONS)
    for name, form in formats.items():
        for option in form.options:
            if option in found:
                raise InputError(f"options of formats must have names of their own; {name} adds {option} again")
        found |= form.options
        for option, remark in form.remarks.items():
            found[option] = replace(found[option], about=f"{found[option].about}; {remark}")
    return found


def add_layout_options(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the options that say a layout."""
    group = parser.add_argument_group("layout", "An option that the format does not use is refused.")
    known = all_formats()
    formats = _formats(command, known)
    when = "with dumps" if command == "explain" else "always"
    group.add_argument("--format", metavar="FORMAT", help=f"{when} needed: {', '.join(formats)}")
    for name, option in all_options(known).items():
        if command not in option.commands:
            continue
        users = ", ".join(user for user in formats if name in known[user].required + known[user].optional)
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
    known = all_formats()
    formats, options = _formats(command, known), all_options(known)
    if args.format not in formats:
        one_of = "one of " if len(formats) > 1 else ""
        raise InputError(f"--format must be {one_of}{', '.join(formats)}, not {args.format or 'nothing'}")
    found = {name: getattr(args, name.replace("-", "_"), None) for name in options}
    values = {name: str(value) for name, value in found.items() if value not in (None, False)}
    given = Given(command, args.format, values, options)
    form = known[args.format]
    given.check(form.required, form.optional)
    subject = form.build(given)
    largest = max(subject.limits)
    if command in ("pack", "unpack", "explain") and largest > MEMORY_BYTES:
        raise InputError(f"--format {args.format}: a surface must have at most {MEMORY_BYTES} bytes, not {largest}")
    return subject


def _formats(command: str, known: Mapping[str, Format]) -> tuple[str, ...]:
    """Return the formats of a subcommand: the output of a layer is always a feature cube."""
    return ("feature",) if command == "explain" else tuple(known)


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
    layout = _feature_layout(given, given.integers("shape", "C,H,W"))
    padding = given.number("padding", 0)

    def remark(element: Coordinates) -> str:
        return "padding channel" if layout.is_padding(int(element[0])) else ""

    return Subject(layout, CUBE_AXES, remark=remark, write=lambda tensor: layout.pack(tensor, padding))


def _pixel(given: Given) -> Subject:
    shape, x_offset = given.integers("shape", "C,H,W"), given.integer("x-offset", 0)
    layout = PixelLayout.packed(_config(given), given.values["pixel-format"], shape, x_offset)
    if "line-stride" in given.values:
        planes = ",".join(["BYTES"] * len(layout.format.planes))
        layout = replace(layout, line_stride_bytes=given.integers("line-stride", planes))
    padding = given.integer("padding", 0)

    def remark(element: Coordinates) -> str:
        word, lsb, bits = layout.bits(*map(int, element))
        return f"bits {lsb} to {lsb + bits - 1} of the word at {word:#x}"

    return Subject(layout, CUBE_AXES, remark=remark, write=lambda image: layout.pack(image, padding))


def _weight(given: Given) -> Subject:
    return Subject(WeightLayout(_config(given), _precision(given), given.integers("shape", "K,C,R,S")), KERNEL_AXES)


def _image_weight(given: Given) -> Subject:
    """Return kernels for image input, whose columns become channels: ``s * C + c``."""
    lines = given.integer("post-extension", 1)
    layout = ImageWeightLayout(_config(given), _precision(given), given.integers("shape", "K,C,R,S"), lines)
    channels = layout.shape[1]

    def inside(element: Coordinates) -> tuple[int, ...]:
        k, c, r, s = map(int, element)
        for name, value, end in zip(KERNEL_AXES, (k, c, r, s), layout.shape, strict=True):
            check_index(name, value, end)
        return k, s * channels + c, r, 0

    def outside(found: tuple[int, ...]) -> Coordinates:
        s, c = divmod(found[1], channels)
        return found[0], c, found[2], s

    return Subject(layout, KERNEL_AXES, layout.pre_extend, layout.original, inside, outside)


def _winograd(given: Given) -> Subject:
    """Return kernels for Winograd; the conversion rounds, so unpacking and elements are those of 4x4 kernels."""
    stride = given.integers("stride", "Y,X") if "stride" in given.values else (1, 1)
    layout = WinogradWeightLayout(_config(given), _precision(given), given.integers("shape", "K,C,R,S"), stride)
    if "converted" not in given.values:
        scale = given.number("scale", 1)
        return Subject(layout, KERNEL_AXES, extend=lambda tensor: layout.convert(tensor, scale))
    if "scale" in given.values:
        raise InputError("--scale must not be given with --converted, which converts nothing")
    return Subject(layout, KERNEL_AXES)


def _deconvolution_layout(given: Given) -> DeconvolutionWeightLayout:
    shape, stride = given.integers("shape", "K,C,R,S"), given.integers("stride", "Y,X")
    return DeconvolutionWeightLayout(_config(given), _precision(given), shape, stride)


def _deconvolution(given: Given) -> Subject:
    return Subject(_deconvolution_layout(given), KERNEL_AXES)


def _kernel_set(given: Given) -> Subject:
    """Return one set of the kernels of a deconvolution; unpacking and elements are those of the set."""
    whole, number = _deconvolution_layout(given), given.integer("set", 0)
    check_index("--set", number, whole.sets)
    return Subject(whole.set_layout, KERNEL_AXES, extend=lambda tensor: whole.split(tensor)[number])


_WEIGHT_OPTIONS = ("precision", "shape")

# What can be compressed; of a deconvolution one set at a time.
_COMPRESSIBLE: Mapping[str, Format] = {
    "weight": Format(_WEIGHT_OPTIONS, ("config",), _weight),
    "image-weight": Format(_WEIGHT_OPTIONS, ("config", "post-extension"), _image_weight),
    "winograd": Format(_WEIGHT_OPTIONS, ("config", "stride", "scale", "converted"), _winograd),
    "deconvolution": Format((*_WEIGHT_OPTIONS, "stride", "set"), ("config",), _kernel_set),
}


def _compressed(given: Given) -> Subject:
    inner = given.choice("weight-format", tuple(_COMPRESSIBLE))
    form = _COMPRESSIBLE[inner]
    given = replace(given, format_name=f"compressed {inner}")
    given.check(("weight-format", *form.required, "wmb", "wgs"), form.optional)
    kernels = form.build(given)
    compressed = CompressedWeightLayout(kernels.layout)
    wmb = None
    if given.command == "offset":
        wmb = read_memory(Path(given.values["wmb"]), compressed.wmb_nbytes, None)

    def remark(element: Coordinates) -> str:
        byte, bit = compressed.mask_bit(*kernels.inside(element))
        return f"mask bit {bit} of WMB byte {byte:#x}"

    return CompressedSubject(**{**vars(kernels), "remark": remark}, compressed=compressed, wmb=wmb)


def _operand(given: Given) -> Subject:
    words = given.choice("components", [",".join(names) for names in COMPONENTS])
    size = given.integer("component-bytes", 0)
    shape = given.integers("shape", "C,H,W")
    packed = OperandLayout.packed(_config(given), _precision(given), shape, tuple(words.split(",")), size)
    line, surface = _strides(given, packed.line_stride_bytes, shape[1], "surface-stride")
    layout = replace(packed, line_stride_bytes=line, surface_stride_bytes=surface)

    def extend(tensor: Array) -> dict[str, Array]:
        """Return the operands by their components, from one tensor (C, H, W), or (2, C, H, W) for a pair."""
        names = layout.components
        check_array("operands", tensor, shape if len(names) == 1 else (2, *shape), layout.component_dtype)
        return dict(zip(names, tensor.reshape(-1, *shape), strict=True))

    def restore(content: dict[str, Array]) -> Array:
        arrays = list(content.values())
        return arrays[0] if len(arrays) == 1 else np.stack(arrays)

    def remark(element: Coordinates) -> str:
        return "padding channel" if int(element[1]) >= shape[0] else ""

    return Subject(layout, ("component", *CUBE_AXES), extend=extend, restore=restore, remark=remark)


def _planar_layout(given: Given, shape: tuple[int, int, int]) -> PlanarLayout:
    packed = PlanarLayout.packed(_config(given), _precision(given), shape)
    line, plane = _strides(given, packed.line_stride_bytes, shape[1], "planar-stride")
    return replace(packed, line_stride_bytes=line, planar_stride_bytes=plane)


def _planar(given: Given) -> Subject:
    return Subject(_planar_layout(given, given.integers("shape", "C,H,W")), CUBE_AXES)


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
    shape = given.integers("shape", "C,H,W")
    write: Callable[[Array], ByteArray]
    target: FeatureLayout | PlanarLayout
    if mode == "merge":
        planes, cube = PlanarLayout.packed(_config(given), _precision(given), shape), _feature_layout(given, shape)
        target, write = cube, lambda tensor: merge(planes, cube, planes.pack(tensor))
    else:
        source = FeatureLayout.packed(_config(given), _precision(given), shape)
        if mode == "split":
            planes = _planar_layout(given, shape)
            target, write = planes, lambda tensor: split(source, planes, source.pack(tensor))
        else:
            stride = given.integers("stride", "Y,X")
            cube = _feature_layout(given, contracted_shape(source, stride))
            target, write = cube, lambda tensor: contract(source, cube, stride, source.pack(tensor))
    return Subject(target, CUBE_AXES, write=write, about=f"written by RUBIK {mode}: ")


_STRIDES = ("config", "line-stride", "surface-stride")
_COMPRESSED = ("config", "post-extension", "stride", "scale", "converted", "set")

FORMATS: Mapping[str, Format] = {
    "feature": Format(("precision", "shape"), (*_STRIDES, "padding"), _feature),
    "pixel": Format(("pixel-format", "shape"), ("config", "line-stride", "x-offset", "padding", "alpha"), _pixel),
    **{name: _COMPRESSIBLE[name] for name in ("weight", "image-weight", "winograd")},
    "deconvolution": Format((*_WEIGHT_OPTIONS, "stride"), ("config",), _deconvolution),
    "compressed": Format(("weight-format", *_WEIGHT_OPTIONS, "wmb", "wgs"), _COMPRESSED, _compressed),
    "operand": Format(("precision", "shape", "components", "component-bytes"), _STRIDES, _operand),
    "planar": Format(("precision", "shape"), ("config", "line-stride", "planar-stride"), _planar),
    "rubik": Format(("mode", "precision", "shape"), ("stride", *_STRIDES, "planar-stride"), _rubik),
}
"""Those of NVDLA."""
