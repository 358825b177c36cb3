"""Convolution buffer: how many entries a slice of the input takes, and how many bytes banks hold.

An entry is as wide as a bank. A slice is one line of the input cube with all its channels.
"""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision


def feature_entries(config: HwConfig, precision: Precision, channels: int, width: int) -> int:
    """Return the entries of one slice of a feature cube.

    Surfaces fill an entry atom by atom. Those left over share entries with their neighbours along W: one
    surface puts the atoms of as many pixels into an entry as fit, three or more take a whole entry.

    Args:
        config: the build.
        precision: the convolution runs in.
        channels: real size.
        width: real size, elements.

    Source: programming guide, ENTRY_PER_SLICE; golden nv_small traces and layers measured on the public
        nv_full RTL.
    """
    per_entry = config.cbuf_bank_width_bytes // config.memory_atomic_bytes
    surfaces = -(-channels // config.atom_elements(precision))
    whole, rest = divmod(surfaces, per_entry)
    entries = whole * width
    if rest:
        shared = per_entry >> (rest - 1).bit_length()
        entries += -(-width // shared)
    return entries


def image_entries(config: HwConfig, precision: Precision, channels: int, padded_width: int) -> int:
    """Return the entries of one slice of an image: elements of all channels, side by side along W.

    Args:
        config: the build.
        precision: the convolution runs in, after the converter.
        channels: channels of the pixel format.
        padded_width: pixels of a line with the padding left and right.

    Source: unit description, "Convolution with Image Input"; measured on the public nv_small RTL.
    """
    return -(-padded_width * channels * precision.nbytes // config.cbuf_bank_width_bytes)


def winograd_entries(config: HwConfig, precision: Precision, channels: int, padded_width: int) -> int:
    """Return the entries of one slice in Winograd: lines with their padding, channels in whole atoms.

    Args:
        config: the build.
        precision: the convolution runs in.
        channels: real size.
        padded_width: elements of a line with the padding left and right, a multiple of 4.

    Source: measured on the public nv_full RTL.
    """
    surfaces = -(-channels // config.atom_elements(precision))
    return padded_width * surfaces * config.memory_atomic_bytes // config.cbuf_bank_width_bytes


def bank_entries(config: HwConfig, banks: int) -> int:
    """Return the entries that ``banks`` banks hold."""
    return banks * config.cbuf_bank_depth


def bank_bytes(config: HwConfig, banks: int) -> int:
    """Return the bytes that ``banks`` banks hold."""
    return bank_entries(config, banks) * config.cbuf_bank_width_bytes


def fewest_data_banks(config: HwConfig, entries: int) -> int:
    """Return the fewest banks that hold so many entries of the input."""
    return -(-entries // bank_entries(config, 1))


def fewest_weight_banks(config: HwConfig, nbytes: int) -> int:
    """Return the fewest banks that hold so many bytes of weights."""
    return -(-nbytes // bank_bytes(config, 1))
