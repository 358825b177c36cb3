"""The ConfigROM: what a build says about itself in the first 4 KiB of its address space.

Word 0 is the HW version; then follow the descriptors of the sub-units, each with its payload, and
a word of 0 that ends the list. The length is unknown until the list has been walked, so a reader
appends one 32-bit word after the other, from byte address 0, until ``is_complete`` is true, and
then calls ``parse`` and ``differences``.

Source: scalability document, sections "Descriptors and payloads of sub-units in ConfigROM" and
    "Address space layout"; measured on the public nv_small RTL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.configrom_table import SUB_UNITS, ConfigRomError, Layout, SubUnit, Word
from nvdla_tb.nvdla.registers import UNIT_BYTES, RegisterMap

WORD_BYTES = 4
READ_WORDS = UNIT_BYTES // WORD_BYTES
HW_VERSION = 0x00010001
END_OF_LIST = 0
_WORD_MAX = 0xFFFFFFFF

# Width of both memory interfaces where the published table and the public RTL of that name differ.
_PRINTED_MEMIF_WIDTH_BYTES = {"nv_large": 64}


@dataclass(frozen=True)
class Quirk:
    """A place where hardware and the published table, or the table and itself, disagree."""

    unit: str
    word: str
    sentence: str


@dataclass(frozen=True)
class RomWord:
    """One word of a ConfigROM: ``offset`` in bytes from its start, ``bits`` the names of the bits set.

    A set bit that the published list does not name reads ``bit 28``; words that are no bit
    mask have no names.
    """

    name: str
    offset: int
    value: int
    bits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Descriptor:
    """One sub-unit: its descriptor word at byte ``offset`` and its payload.

    ``slot`` counts the 4 KiB slots of the address space in list order; CBUF, which has no
    registers, has none.
    """

    unit_id: int
    unit: str
    payload_bytes: int
    slot: int | None
    word: RomWord
    payload: tuple[RomWord, ...]

    @property
    def offset(self) -> int:
        """Byte offset of the descriptor word."""
        return self.word.offset

    @property
    def base_address(self) -> int | None:
        """Byte address of the unit's registers, or None for a unit that has none."""
        return None if self.slot is None else self.slot * UNIT_BYTES

    def __getitem__(self, name: str) -> RomWord:
        """Return the payload word called ``name``.

        Raises:
            ConfigRomError: when there is none, listing those that exist.
        """
        for word in self.payload:
            if word.name == name:
                return word
        known = ", ".join(word.name for word in self.payload) or "none"
        raise ConfigRomError(f"{self.unit} has no word {name}; it has {known}")


@dataclass(frozen=True)
class ConfigRom:
    """A parsed ConfigROM; ``end_offset`` is the byte offset of the end of the list."""

    hw_version: int
    descriptors: tuple[Descriptor, ...]
    end_offset: int
    layout: Layout

    @property
    def units(self) -> tuple[str, ...]:
        """Names of the sub-units in list order."""
        return tuple(descriptor.unit for descriptor in self.descriptors)

    def __getitem__(self, unit: str) -> Descriptor:
        """Return the descriptor of ``unit``.

        Raises:
            ConfigRomError: when there is none, listing those that exist.
        """
        for descriptor in self.descriptors:
            if descriptor.unit == unit:
                return descriptor
        raise ConfigRomError(f"the ConfigROM has no unit {unit}; it has {', '.join(self.units) or 'none'}")


@dataclass(frozen=True)
class Difference:
    """A word of a ROM that is not as its configuration says.

    ``offset`` is the byte address in the ROM that was read; for a unit that is missing there, the
    one at which it was expected. ``got`` is None for a unit that is missing at its place in the
    list, ``expected`` for one that has no business there; a unit that moved gives both.
    """

    unit: str
    word: str
    offset: int
    expected: int | None
    got: int | None

    def __str__(self) -> str:
        """Return one line for the user."""
        if self.got is None:
            return f"{self.unit}: {self.word} is expected at {self.offset:#x} and is not there"
        if self.expected is None:
            return f"{self.unit}: {self.word} at {self.offset:#x} is not expected there"
        return f"{self.unit}: {self.word} at {self.offset:#x} should be {self.expected:#x}, not {self.got:#x}"


def encode(config: HwConfig) -> list[int]:
    """Return the ConfigROM of ``config`` as hardware lays it out.

    For nv_small these are the words that the public RTL returns; for every other configuration its own values in the
    layout measured there, or those of the configuration that its ``configrom`` names.

    Returns:
        32-bit words from byte address 0 to the end of the list, inclusive.

    Raises:
        ConfigRomError: for a build without a ConfigROM, or a value that does not fit in its field.

    Source: measured on the public nv_small RTL.
    """
    return _encode(HwConfig.load(config.configrom) if config.configrom else config, Layout.HARDWARE)


def published(config: HwConfig) -> list[int]:
    """Return the ConfigROM as the published table has it; built-in configurations have the parameters that it prints.

    Returns:
        32-bit words from byte address 0 to the end of the list, inclusive.

    Raises:
        ConfigRomError: for a build without a ConfigROM, or a value that does not fit in its field.

    Source: scalability document, section "Descriptors and payloads of sub-units in ConfigROM".
    """
    width = _PRINTED_MEMIF_WIDTH_BYTES.get(config.name)
    if width is not None and config == HwConfig.load(config.name):
        config = replace(config, primary_memif_width_bytes=width, secondary_memif_width_bytes=width)
    return _encode(config, Layout.PUBLISHED)


def is_complete(words: Sequence[int]) -> bool:
    """Tell whether ``words``, read from byte address 0, reach the end of the list.

    Raises:
        ConfigRomError: for a descriptor that cannot be, or 4 KiB without an end of the list.
    """
    _, end = _scan(words, Layout.HARDWARE)
    if end is None and len(words) >= READ_WORDS:
        raise ConfigRomError(f"the list must end within {UNIT_BYTES:#x} bytes, but {len(words)} words hold no end")
    return end is not None


def parse(words: Sequence[int], layout: Layout = Layout.HARDWARE) -> ConfigRom:
    """Parse the words of a ConfigROM.

    Args:
        words: 32-bit words from byte address 0; after the end of the list only zeros may follow.
        layout: As hardware lays it out, or as published.

    Raises:
        ConfigRomError: for an unknown or repeated unit id, a payload length that the unit does not
            have, a truncated payload, a missing end of the list or words after it.
    """
    found, end = _scan(words, layout)
    if end is None:
        raise ConfigRomError(_why_incomplete(words, found, layout))
    for index in range(end, len(words)):
        if words[index] != END_OF_LIST:
            raise ConfigRomError(
                f"only 0 may follow the end of the list at {end * WORD_BYTES:#x}, "
                f"not {words[index]:#x} at {index * WORD_BYTES:#x}"
            )
    slots = _slots([unit for _, unit in found])
    descriptors = tuple(_descriptor(words, index, unit, slots.get(unit.name), layout) for index, unit in found)
    return ConfigRom(words[0], descriptors, end * WORD_BYTES, layout)


def differences(rom: ConfigRom, config: HwConfig) -> list[Difference]:
    """Return the differences between ``rom`` and ``config``, in list order and in the layout that it was parsed in.

    Raises:
        ConfigRomError: for a configuration without a ConfigROM.
    """
    reference = encode(config) if rom.layout is Layout.HARDWARE else published(config)
    wanted = parse(reference, rom.layout)
    found: list[Difference] = []
    if rom.hw_version != wanted.hw_version:
        found.append(Difference("CFGROM", "HW_VERSION", 0, wanted.hw_version, rom.hw_version))
    matcher = SequenceMatcher(None, wanted.units, rom.units, autojunk=False)
    for tag, first, last, rom_first, rom_last in matcher.get_opcodes():
        expected, got = wanted.descriptors[first:last], rom.descriptors[rom_first:rom_last]
        if tag == "equal":
            for ours, theirs in zip(expected, got, strict=True):
                pairs = zip(ours.payload, theirs.payload, strict=True)
                found += [
                    Difference(theirs.unit, got_word.name, got_word.offset, word.value, got_word.value)
                    for word, got_word in pairs
                    if word.value != got_word.value
                ]
            continue
        found += [Difference(d.unit, d.word.name, d.offset, d.word.value, None) for d in expected]
        found += [Difference(d.unit, d.word.name, d.offset, None, d.word.value) for d in got]
    return found


def _encode(config: HwConfig, layout: Layout) -> list[int]:
    if "CFGROM" not in RegisterMap.of(config).units:
        raise ConfigRomError(f"{config.name} has no ConfigROM: register map {config.register_map} has no unit CFGROM")
    units = [unit for unit in SUB_UNITS if unit.present(config)]
    slots = _slots(units)
    words = [HW_VERSION]
    for unit in units:
        words.append(unit.descriptor)
        words += [word.encode(config, slots, layout) for word in unit.payload(layout)]
    return [*words, END_OF_LIST]


def _slots(units: Sequence[SubUnit]) -> dict[str, int]:
    """Number the address-space slots in list order; slot 0 is the ConfigROM itself."""
    return {unit.name: slot for slot, unit in enumerate((unit for unit in units if unit.has_slot), start=1)}


def _scan(words: Sequence[int], layout: Layout) -> tuple[list[tuple[int, SubUnit]], int | None]:
    """Walk the list as far as the words go.

    Returns:
        The word index and sub-unit of every descriptor, and the word index of the end of the
        list, None when the words run out before it.
    """
    for index, word in enumerate(words):
        if not 0 <= word <= _WORD_MAX:
            raise ConfigRomError(f"the word at {index * WORD_BYTES:#x} must fit in 32 bits, not {word:#x}")
    found: list[tuple[int, SubUnit]] = []
    index = 1
    while index < len(words):
        if words[index] == END_OF_LIST:
            return found, index
        unit = _identify(words[index], index * WORD_BYTES, [unit for _, unit in found])
        found.append((index, unit))
        index += 1 + len(unit.payload(layout))
    return found, None


def _identify(word: int, offset: int, before: Sequence[SubUnit]) -> SubUnit:
    """Return the sub-unit that a descriptor word announces; equal ids are told apart by their order."""
    unit_id, payload_bytes = word & 0xFFFF, word >> 16
    candidates = [unit for unit in SUB_UNITS if unit.unit_id == unit_id]
    if not candidates:
        known = max(unit.unit_id for unit in SUB_UNITS)
        raise ConfigRomError(f"the unit id at {offset:#x} must be 0x1 to {known:#x}, not {unit_id:#x}")
    seen = sum(unit.unit_id == unit_id for unit in before)
    if seen == len(candidates):
        names = " and ".join(unit.name for unit in candidates)
        raise ConfigRomError(
            f"the list must hold unit id {unit_id:#x} ({names}) {seen} times at most, not again at {offset:#x}"
        )
    unit = candidates[seen]
    if payload_bytes != unit.payload_bytes:
        raise ConfigRomError(
            f"{unit.descriptor_name} at {offset:#x} must declare a payload of {unit.payload_bytes:#x} bytes, "
            f"not {payload_bytes:#x}"
        )
    return unit


def _why_incomplete(words: Sequence[int], found: Sequence[tuple[int, SubUnit]], layout: Layout) -> str:
    if found:
        index, unit = found[-1]
        needed, held = len(unit.payload(layout)), len(words) - index - 1
        if held < needed:
            return f"the payload of {unit.name} at {index * WORD_BYTES:#x} must hold {needed} words, not {held}"
    return f"the list must end with a word of 0, but none follows in {len(words)} words"


def _descriptor(words: Sequence[int], index: int, unit: SubUnit, slot: int | None, layout: Layout) -> Descriptor:
    payload = tuple(
        RomWord(word.name, at * WORD_BYTES, words[at], _bit_names(word, words[at]))
        for at, word in enumerate(unit.payload(layout), start=index + 1)
    )
    head = RomWord(unit.descriptor_name, index * WORD_BYTES, words[index])
    return Descriptor(unit.unit_id, unit.name, unit.payload_bytes, slot, head, payload)


def _bit_names(word: Word, value: int) -> tuple[str, ...]:
    if not word.bits:
        return ()
    return tuple(
        word.bits[bit] if bit < len(word.bits) else f"bit {bit}"
        for bit in range(value.bit_length())
        if value >> bit & 1
    )


QUIRKS: tuple[Quirk, ...] = (
    *(Quirk(unit.name, word.name, word.quirk) for unit in SUB_UNITS for word in unit.words if word.quirk),
    Quirk(
        "CDMA",
        "CDMA_BASE_FEATURE_TYPES",
        "Bit 4 is UINT8 in the list of types and INT8 is bit 3, yet published and measured INT8 builds set bit 4, "
        "here and in every word of types.",
    ),
)
