"""The sub-units of the ConfigROM, their payload words and how each value follows from a configuration.

``SUB_UNITS`` is the one table that encoding and parsing share. It holds two layouts: as measured on
the public nv_small RTL, and as published. Every word in which they disagree carries a sentence.

Source: scalability document, sections "Sub-unit identifier table", "Descriptors and payloads of
    sub-units in ConfigROM" and "Supported data types or weight types"; measured on the public
    nv_small RTL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from nvdla_models.config import PACKED_IMAGE_FORMATS, SEMI_PLANAR_IMAGE_FORMATS, HwConfig
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision

# fmt: off
DATA_TYPES = (
    "Binary", "INT4", "UINT4", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "FP16", "FP32", "FP64",
)
# fmt: on
CONVOLUTION_CAPABILITIES = ("WINOGRAD", "MULTI_BATCH", "FEATURE_COMPRESSION", "WEIGHT_COMPRESSION", "IMAGE_IN")
SDP_CAPABILITIES = ("WINOGRAD", "MULTI_BATCH", "LUT", "BS", "BN", "EW")

Slots = Mapping[str, int]
Rule = Callable[[HwConfig, Slots], int]
Presence = Callable[[HwConfig], bool]


class ConfigRomError(InputError):
    """A word list that is no ConfigROM, or a configuration that has none; the message says where."""


class Layout(Enum):
    """How the payloads lie: as hardware has been measured to lay them out, or as published."""

    HARDWARE = "hardware"
    PUBLISHED = "published"


@dataclass(frozen=True)
class Word:
    """One 32-bit payload word.

    ``rule`` gives the published value, ``hardware`` the measured one where it differs.
    ``hardware_lsb`` is the measured position of the field, ``width`` the field's bits.
    ``bits`` names the bits of a mask from bit 0. ``quirk`` says in a sentence what departs
    from the published table.
    """

    name: str
    rule: Rule
    bits: tuple[str, ...] = ()
    width: int = 32
    hardware: Rule | None = None
    hardware_lsb: int = 0
    published: bool = True
    quirk: str = ""

    def encode(self, config: HwConfig, slots: Slots, layout: Layout) -> int:
        """Return the word that a build should have; ``slots`` are the address-space slots of the units present.

        Raises:
            ConfigRomError: when the value does not fit in the field.
        """
        measured = layout is Layout.HARDWARE
        value = (self.hardware if measured and self.hardware else self.rule)(config, slots)
        if not 0 <= value < 1 << self.width:
            raise ConfigRomError(f"{self.name} must fit in {self.width} bits, not {value}")
        return value << self.hardware_lsb if measured else value


@dataclass(frozen=True)
class SubUnit:
    """One descriptor and its payload; ``payload_bytes`` is what the descriptor declares.

    ``prefix`` begins the names of its registers. A unit without registers has no slot.
    """

    unit_id: int
    name: str
    prefix: str
    payload_bytes: int
    words: tuple[Word, ...]
    present: Presence
    has_slot: bool = True

    @property
    def descriptor(self) -> int:
        """The descriptor word: unit id in bits 15:0, payload length in bits 31:16."""
        return self.unit_id | self.payload_bytes << 16

    @property
    def descriptor_name(self) -> str:
        """The descriptor's register name."""
        return f"{self.prefix}_DESC"

    def payload(self, layout: Layout) -> tuple[Word, ...]:
        """Return the payload words of ``layout`` in address order."""
        return tuple(word for word in self.words if word.published or layout is Layout.HARDWARE)


# INT8 is bit 3 of the published list of types, yet published and measured words of INT8 builds set bit 4.
_TYPE_BIT = {Precision.INT8: 4, Precision.INT16: 5, Precision.FP16: 9}


def _mask(*flags: bool) -> int:
    return sum(1 << bit for bit, flag in enumerate(flags) if flag)


def _constant(value: int) -> Rule:
    return lambda config, slots: value


def _parameter(name: str) -> Rule:
    return lambda config, slots: int(getattr(config, name))


def _slot(unit: str) -> Rule:
    return lambda config, slots: slots[unit]


def _types(parameter: str) -> Rule:
    return lambda config, slots: sum(1 << _TYPE_BIT[precision] for precision in getattr(config, parameter))


def _formats(parameter: str, table: tuple[str, ...]) -> Rule:
    return lambda config, slots: sum(1 << table.index(name) for name in getattr(config, parameter))


def _convolution(config: HwConfig, slots: Slots) -> int:
    images = bool(config.image_formats_packed or config.image_formats_semi_planar)
    return _mask(config.winograd_enable, config.batch_enable, False, config.weight_compression_enable, images)


def _accumulator(config: HwConfig, slots: Slots) -> int:
    return _mask(config.winograd_enable, config.batch_enable)


def _sdp(config: HwConfig, slots: Slots) -> int:
    return _accumulator(config, slots) | _mask(
        False, False, config.sdp_lut_enable, config.sdp_bs_enable, config.sdp_bn_enable, config.sdp_ew_enable
    )


_NONE = Word("CAP_INCOMPAT", _constant(0))
_NO_CAPABILITY = (_NONE, Word("CAP_COMPAT", _constant(0)))
_FEATURES = Word("BASE_FEATURE_TYPES", _types("feature_data_types"), DATA_TYPES, 12)
_WEIGHTS = Word("BASE_WEIGHT_TYPES", _types("weight_data_types"), DATA_TYPES, 12)
_ATOMIC_C = Word("BASE_ATOMIC_C", _parameter("mac_atomic_c_size"))
_ATOMIC_K = Word("BASE_ATOMIC_K", _parameter("mac_atomic_k_size"))
_ATOMIC_M = Word("BASE_ATOMIC_M", _parameter("memory_atomic_bytes"))
_CDMA_ID = Word("BASE_CDMA_ID", _slot("CDMA"))
_MAX_BATCH = Word("MULTI_BATCH_MAX", _parameter("max_batch_size"))
_CBUF = (
    Word("BASE_CBUF_BANK_NUM", _parameter("cbuf_bank_number")),
    Word("BASE_CBUF_BANK_WIDTH", _parameter("cbuf_bank_width_bytes")),
    Word("BASE_CBUF_BANK_DEPTH", _parameter("cbuf_bank_depth")),
)
_CONVOLUTION = (
    _NONE,
    Word("CAP_COMPAT", _convolution, CONVOLUTION_CAPABILITIES),
    _FEATURES,
    _WEIGHTS,
    _ATOMIC_C,
    _ATOMIC_K,
    _ATOMIC_M,
    *_CBUF,
)
_IMAGES = (
    Word("IMAGE_IN_FORMATS_PACKED", _formats("image_formats_packed", PACKED_IMAGE_FORMATS), PACKED_IMAGE_FORMATS),
    Word(
        "IMAGE_IN_FORMATS_SEMI",
        _formats("image_formats_semi_planar", SEMI_PLANAR_IMAGE_FORMATS),
        SEMI_PLANAR_IMAGE_FORMATS,
    ),
)
_CMAC = (
    _NONE,
    Word(
        "CAP_COMPAT",
        _constant(0),
        ("WINOGRAD",),
        hardware=_constant(0x10),
        quirk="The table gives 0, even to nv_large with its Winograd, and defines bit 0 alone; "
        "hardware sets bit 4, which CDMA and CSC call IMAGE_IN.",
    ),
    _FEATURES,
    Word(
        "BASE_WEIGHT_TYPES",
        _constant(0),
        DATA_TYPES,
        12,
        hardware=_types("weight_data_types"),
        quirk="The table goes from +0xc to +0x14 and names no word at +0x10, though the payload length counts one; "
        "the published variant holds 0 there.",
    ),
    _ATOMIC_C,
    _ATOMIC_K,
    _CDMA_ID,
)
_CACC = (
    _NONE,
    Word("CAP_COMPAT", _accumulator, CONVOLUTION_CAPABILITIES[:2]),
    _FEATURES,
    _WEIGHTS,
    Word("BASE_ATOMIC_C", _parameter("mac_atomic_k_size"), quirk="Named ATOMIC_C, but the table fills in atomic_k."),
    Word("BASE_ATOMIC_K", _parameter("memory_atomic_bytes"), quirk="Named ATOMIC_K, but the table fills in atomic_m."),
    _CDMA_ID,
    _MAX_BATCH,
)
_SDP = (
    _NONE,
    Word("CAP_COMPAT", _sdp, SDP_CAPABILITIES),
    _FEATURES,
    Word(
        "BASE_WEIGHT_TYPES",
        _types("weight_data_types"),
        DATA_TYPES,
        12,
        published=False,
        quirk="The table has no such word, so all that follows lies 4 bytes later on hardware; the payload length "
        "stays 0x20 although 0x24 bytes follow, and a parser that trusts it takes SDP_EW_THROUGHPUT for "
        "the end of the list.",
    ),
    _CDMA_ID,
    _MAX_BATCH,
    Word("BS_THROUGHPUT", _parameter("sdp_bs_throughput")),
    Word("BN_THROUGHPUT", _parameter("sdp_bn_throughput")),
    Word("EW_THROUGHPUT", _parameter("sdp_ew_throughput")),
)
_UNNAMED = Word(
    "RESERVED",
    _constant(0),
    quirk="The payload length is 4, but the table names no payload word; one word of 0 is assumed. The table prints "
    "the descriptor for nv_small too, where hardware has none.",
)


def _cif(interface: str, is_sram: int) -> tuple[Word, ...]:
    return (
        _NONE,
        Word("CAP_COMPAT", _constant(is_sram), ("CIF_IS_SRAM",)),
        Word("BASE_WIDTH", _parameter(f"{interface}_memif_width_bytes"), width=8),
        Word("BASE_LATENCY", _parameter(f"{interface}_memif_latency_cycles"), width=16),
        Word(
            "BASE_BURST_LENGTH_MAX",
            _constant(4),
            hardware_lsb=5,
            quirk="The field is bits 31:5 on hardware, so its 4 reads 0x80; every published column says 4, "
            "whatever the burst length in the table of parameters.",
        ),
        Word(
            "BASE_MEM_ADDR_WIDTH",
            _parameter("memif_address_width_bits"),
            hardware_lsb=5,
            quirk="The field is bits 31:5 on hardware, so 32 reads 0x400; it holds the address width in bits.",
        ),
    )


def _rdma(unit: str) -> tuple[Word, ...]:
    return (
        *_NO_CAPABILITY,
        _ATOMIC_M,
        Word(
            f"BASE_{unit}_ID",
            _slot(unit),
            quirk="The table prints offset 0xe; the word is at +0x10. The payload length 0xe covers half of it, "
            "so a parser rounds the length up to whole words.",
        ),
    )


def _pooling(parameter: str) -> tuple[Word, ...]:
    return (*_NO_CAPABILITY, _FEATURES, Word("BASE_THROUGHPUT", _parameter(parameter)))


def _unit(
    unit_id: int,
    name: str,
    payload_bytes: int,
    words: tuple[Word, ...],
    present: Presence = lambda config: True,
    *,
    prefix: str = "",
    has_slot: bool = True,
) -> SubUnit:
    """Return a row of the table, with the unit's prefix on the name of every word."""
    prefix = prefix or name
    named = tuple(replace(word, name=f"{prefix}_{word.name}") for word in words)
    return SubUnit(unit_id, name, prefix, payload_bytes, named, present, has_slot)


SUB_UNITS = (
    _unit(0x1, "GLB", 0x0, ()),
    _unit(0x2, "MCIF", 0x18, _cif("primary", 0), prefix="CIF"),
    _unit(0x2, "SRAMIF", 0x18, _cif("secondary", 1), lambda config: config.secondary_memif_enable, prefix="CIF"),
    _unit(0x3, "CDMA", 0x34, (*_CONVOLUTION, _MAX_BATCH, *_IMAGES)),
    _unit(0x4, "CBUF", 0x18, (*_NO_CAPABILITY, *_CBUF, _CDMA_ID), has_slot=False),
    _unit(0x5, "CSC", 0x30, (*_CONVOLUTION, _CDMA_ID, _MAX_BATCH)),
    _unit(0x6, "CMAC_A", 0x1C, _CMAC),
    _unit(0x6, "CMAC_B", 0x1C, _CMAC),
    _unit(0x7, "CACC", 0x20, _CACC),
    _unit(0x8, "SDP_RDMA", 0xE, _rdma("SDP")),
    _unit(0x9, "SDP", 0x20, _SDP),
    _unit(0xA, "PDP_RDMA", 0xE, _rdma("PDP"), lambda config: config.pdp_enable),
    _unit(0xB, "PDP", 0x10, _pooling("pdp_throughput"), lambda config: config.pdp_enable),
    _unit(0xC, "CDP_RDMA", 0xE, _rdma("CDP"), lambda config: config.cdp_enable),
    _unit(0xD, "CDP", 0x10, _pooling("cdp_throughput"), lambda config: config.cdp_enable),
    _unit(0xE, "BDMA", 0x4, (_UNNAMED,), lambda config: config.bdma_enable),
    _unit(0xF, "RUBIK", 0x4, (_UNNAMED,), lambda config: config.rubik_enable),
)
