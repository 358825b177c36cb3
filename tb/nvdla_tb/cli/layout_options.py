"""The options that say a layout on the command line, and the values that were given for one format."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nvdla_models.errors import InputError
from nvdla_models.limits import NUMBER_BITS
from nvdla_models.reading import shown


@dataclass(frozen=True)
class Option:
    """One option.

    Args:
        metavar: how its value is written, or None for a flag.
        about: what it says, with the default where one exists.
        commands: the subcommands that have it.
    """

    metavar: str | None
    about: str
    commands: tuple[str, ...] = ("pack", "unpack", "offset", "describe")


_EVERYWHERE = ("pack", "unpack", "offset", "describe", "explain")

OPTIONS: Mapping[str, Option] = {
    "config": Option("NAME|FILE", "the build (default: nv_small)", _EVERYWHERE),
    "precision": Option("TYPE", "int8, int16 or fp16", _EVERYWHERE),
    "shape": Option("SIZES", "real sizes: C,H,W; of weights K,C,R,S", _EVERYWHERE),
    "line-stride": Option(
        "BYTES", "distance of two lines, one for each plane (default: the smallest aligned)", _EVERYWHERE
    ),
    "surface-stride": Option("BYTES", "distance of two surfaces (default: H line strides)", _EVERYWHERE),
    "planar-stride": Option("BYTES", "distance of two planes (default: H line strides)"),
    "pixel-format": Option("NAME", "as in the register map, such as T_A8R8G8B8"),
    "x-offset": Option("PIXELS", "from the aligned start of a line to its first pixel (default: 0)"),
    "components": Option("NAMES", "alu, mul, or alu,mul with two arrays in the first axis of the tensor"),
    "component-bytes": Option("1|2", "bytes of one component"),
    "post-extension": Option("1|2|4", "lines whose channels become one cube (default: 1)"),
    "stride": Option("Y,X", "of the convolution (winograd, default: 1,1), deconvolution or contract"),
    "weight-format": Option("FORMAT", "what is compressed: weight, image-weight, winograd or deconvolution"),
    "set": Option("N", "which kernel set of a deconvolution is compressed"),
    "mode": Option("MODE", "contract, split or merge"),
    "padding": Option("VALUE", "channels that fill the last atom, or the byte around pixels (default: 0)", ("pack",)),
    "scale": Option("FACTOR", "of the converted kernels (default: 1)", ("pack",)),
    "converted": Option(None, "IN holds kernels that are 4x4 already", ("pack",)),
    "alpha": Option("VALUE", "A or X of every pixel, when a .png has only R, G and B", ("pack",)),
    "wmb": Option("FILE", "the mask, .bin or .dat", ("pack", "unpack", "offset")),
    "wgs": Option("FILE", "the group sizes, .bin or .dat", ("pack", "unpack")),
}
"""Those of NVDLA's formats."""


_INTEGER = re.compile(r"[+-]?(0[xXoObB])?[0-9a-fA-F_]+")


def integer(name: str, text: str) -> int:
    """Return a decimal or 0x number.

    Raises:
        InputError: naming the option.
    """
    try:
        value = int(text, 0)
    except ValueError:
        raise InputError(f"--{name} must be a decimal or 0x number, not {shown(text)}") from None
    if value.bit_length() > NUMBER_BITS:
        raise InputError(f"--{name} must have at most {NUMBER_BITS} bits, not {value.bit_length()}")
    return value


@dataclass(frozen=True)
class Given:
    """The options that were given for one format, each checked when it is asked for."""

    command: str
    format_name: str
    values: Mapping[str, str]
    options: Mapping[str, Option]

    def check(self, required: Sequence[str], optional: Collection[str]) -> None:
        """Refuse what the format does not use and what it lacks.

        Raises:
            InputError: naming the option and what the format takes.
        """
        takes = [name for name in (*required, *optional) if self.command in self.options[name].commands]
        for name in self.values:
            if name not in takes:
                allowed = ", ".join(f"--{known}" for known in takes)
                raise InputError(f"--{name} must not be given for {self.format_name}, which takes {allowed}")
        for name in required:
            if name in takes and name not in self.values:
                raise InputError(f"--{name} must be given for {self.format_name}: {self.options[name].about}")

    def choice(self, name: str, allowed: Sequence[str]) -> str:
        """Return one of the allowed words.

        Raises:
            InputError: for another.
        """
        if self.values[name] not in allowed:
            words = ", ".join(allowed)
            raise InputError(f"--{name} must be one of {words} for {self.format_name}, not {self.values[name]}")
        return self.values[name]

    def integer(self, name: str, default: int) -> int:
        """Return a number, or the default that the option's help states.

        Raises:
            InputError: for anything but a number.
        """
        return integer(name, self.values[name]) if name in self.values else default

    def integers(self, name: str, form: str) -> Any:
        """Return numbers that are separated by commas, as a tuple.

        Args:
            name: the option.
            form: what stands for what, such as ``C,H,W``.

        Raises:
            InputError: for another count, or anything but numbers.
        """
        words = self.values[name].split(",")
        if len(words) != form.count(",") + 1:
            raise InputError(f"--{name} must be {form} for {self.format_name}, not {self.values[name]}")
        return tuple(integer(name, word) for word in words)

    def number(self, name: str, default: int) -> int | float:
        """Return a number that may have a fraction, or the default that the option's help states.

        Raises:
            InputError: for anything but a number.
        """
        if name not in self.values:
            return default
        text = self.values[name]
        if _INTEGER.fullmatch(text):
            return integer(name, text)
        try:
            return float(text)
        except ValueError:
            raise InputError(f"--{name} must be a number, not {shown(text)}") from None
