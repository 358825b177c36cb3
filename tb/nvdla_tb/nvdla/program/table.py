"""The declarative field table: one list of rows says how a layer's attributes stand in registers.

``encode_rows`` and ``decode_rows`` read the same rows, so they are each other's inverse by construction;
a value that stands in two units (a size in SDP and SDP_RDMA) is simply two rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from nvdla_models.errors import InputError, LackingError
from nvdla_tb.nvdla.registers import RegisterMap, with_field

Words = Mapping[str, Mapping[str, int]]
"""Register words by unit and register name."""

WordsOf = Callable[[str], Mapping[str, int]]
"""From a unit to its register words by register name."""

Flat = dict[str, Any]
"""A layer's attributes by dotted name."""


class Refused(InputError):
    """A register program that is illegal, or needs what this configuration or the models lack.

    The message names register, field, rule and value; ``lacking`` says that it is the configuration that lacks it.
    """

    def __init__(self, message: str, *, lacking: bool = False) -> None:
        """Take the message, and whether the configuration lacks what is needed."""
        super().__init__(message)
        self.lacking = lacking


@dataclass(frozen=True)
class Codec:
    """How one attribute value stands in the bits of its field or fields; the base class is plain unsigned."""

    def encode(self, value: Any, width: int) -> int:
        """Return the bits for ``value``; InputError when it cannot be expressed."""
        if not 0 <= int(value) < 1 << width:
            raise InputError(f"must be 0 to {(1 << width) - 1}, not {value}")
        return int(value)

    def decode(self, bits: int, width: int) -> Any:
        """Return the value for ``bits``; InputError when there is none."""
        return bits


class MinusOne(Codec):
    """A size of 1 or more, held as size - 1."""

    def encode(self, value: Any, width: int) -> int:  # noqa: D102
        if not 1 <= value <= 1 << width:
            raise InputError(f"must be 1 to {1 << width}, not {value}")
        return int(value) - 1

    def decode(self, bits: int, width: int) -> int:  # noqa: D102
        return bits + 1


class Signed(Codec):
    """Two's complement."""

    def encode(self, value: Any, width: int) -> int:  # noqa: D102
        half = 1 << (width - 1)
        if not -half <= value < half:
            raise InputError(f"must be {-half} to {half - 1}, not {value}")
        return int(value) & ((1 << width) - 1)

    def decode(self, bits: int, width: int) -> int:  # noqa: D102
        return bits - (1 << width) if bits >> (width - 1) else bits


@dataclass(frozen=True)
class Multiple(Codec):
    """Bytes in whole ``unit_bytes``: the field begins above the bits that are always 0."""

    unit_bytes: int

    def encode(self, value: Any, width: int) -> int:  # noqa: D102
        if value % self.unit_bytes:
            raise InputError(f"must be a multiple of {self.unit_bytes} bytes, not {value}")
        return super().encode(value // self.unit_bytes, width)

    def decode(self, bits: int, width: int) -> int:  # noqa: D102
        return bits * self.unit_bytes


@dataclass(frozen=True)
class LowBits(Codec):
    """A number of which the hardware uses only the low ``bits``, in a field that is wider.

    ``extended`` says whether ``encode`` repeats the sign above them, or leaves 0 there.
    """

    bits: int
    number: Codec = field(default_factory=Codec)
    extended: bool = True

    def encode(self, value: Any, width: int) -> int:  # noqa: D102
        low = self.number.encode(value, self.bits)
        return self.number.encode(value, width) if self.extended else low

    def decode(self, bits: int, width: int) -> Any:  # noqa: D102
        return self.number.decode(bits & ((1 << self.bits) - 1), self.bits)


@dataclass(frozen=True)
class Named(Codec):
    """A closed set of values; ``pairs`` maps each to its bits."""

    pairs: tuple[tuple[Any, int], ...]

    def encode(self, value: Any, width: int) -> int:  # noqa: D102
        for known, bits in self.pairs:
            if known == value:
                return bits
        raise InputError(f"must be one of {', '.join(_name(known) for known, _ in self.pairs)}, not {_name(value)}")

    def decode(self, bits: int, width: int) -> Any:  # noqa: D102
        for known, known_bits in self.pairs:
            if known_bits == bits:
                return known
        raise InputError(f"must be one of {', '.join(str(b) for _, b in self.pairs)}, not {bits}")


PLAIN = Codec()
MINUS_ONE = MinusOne()
SIGNED = Signed()
FLAG = Named(((False, 0), (True, 1)))
INVERTED_FLAG = Named(((True, 0), (False, 1)))


@dataclass(frozen=True)
class Row:
    """One attribute in one place.

    ``fields`` are ``UNIT.REGISTER.field``, least significant first when a value spans several.
    ``when`` is a condition on attributes of earlier rows, such as ``"x1 & !x1.bypass"``: where it does
    not hold, the registers keep their reset value on encode, and are don't-care on decode.
    A row that is not ``significant`` is written, but the hardware ignores it: decode does so too.
    """

    attribute: str
    fields: tuple[str, ...]
    codec: Codec = PLAIN
    when: str = ""
    significant: bool = True


@dataclass(frozen=True)
class Fixed:
    """A field that must hold one value, because of ``reason``."""

    field: str
    value: int
    reason: str
    when: str = ""


@dataclass(frozen=True)
class View:
    """A condition for later rows, read off a field that another row holds, on encode as on decode."""

    attribute: str
    field: str
    holds: Callable[[int], bool]


Table = tuple[Row | Fixed | View, ...]


def row(attribute: str, *fields: str, codec: Codec = PLAIN, when: str = "", significant: bool = True) -> Row:
    """Return a row; see ``Row``."""
    return Row(attribute, fields, codec, when, significant)


def rows(attribute: str, *places: str, codec: Codec = PLAIN, when: str = "") -> tuple[Row, ...]:
    """Return a row for each of the fields that hold one value."""
    return tuple(row(attribute, place, codec=codec, when=when) for place in places)


def encode_rows(table: Table, flat: Flat, registers: RegisterMap) -> dict[str, dict[str, int]]:
    """Return the words of every register that ``table`` mentions, by unit and register name.

    Raises:
        Refused: for a value that its field cannot hold.
    """
    words: dict[str, dict[str, int]] = {}
    for entry in table:
        for name in _fields(entry):
            register, _ = registers.field(name)
            words.setdefault(register.unit, {}).setdefault(register.name, register.reset)
    return written_words(table, flat, registers, words)


def written_words(
    table: Table, flat: Flat, registers: RegisterMap, words: dict[str, dict[str, int]] | None = None
) -> dict[str, dict[str, int]]:
    """Return words with the fields of each row that holds, by unit and register name.

    Args:
        table: The rows.
        flat: Attributes.
        registers: Those of the configuration.
        words: Words to change. Without them, a register is left out when none of its rows holds, and the fields that
            no row names are 0, as drivers write them, in the order of the rows.

    Raises:
        Refused: for a value that its field cannot hold.
    """
    words = {} if words is None else words
    flat = dict(flat)
    for entry in table:
        if isinstance(entry, View):
            flat[entry.attribute] = entry.holds(value_of(entry.field, words.__getitem__, registers))
            continue
        if not _holds(entry.when, flat):
            continue
        places = [registers.field(name) for name in _fields(entry)]
        bits = entry.value if isinstance(entry, Fixed) else 0
        if isinstance(entry, Row):
            with blame(entry.fields[0]):
                bits = entry.codec.encode(flat[entry.attribute], sum(part.width for _, part in places))
        for register, part in places:
            of_unit = words.setdefault(register.unit, {})
            value = bits & ((1 << part.width) - 1)
            of_unit[register.name] = with_field(register, of_unit.get(register.name, 0), part.name, value)
            bits >>= part.width
    return words


def ignored_bits(table: Table, flat: Flat, registers: RegisterMap) -> dict[str, dict[str, int]]:
    """Return the bits of registers that the hardware ignores in a layer, by unit and register name.

    They are those of rows that do not hold or are not significant, except what another row that holds, or a condition,
    reads.
    """
    flat = dict(flat)
    words = encode_rows(table, flat, registers)
    ignored: dict[str, dict[str, int]] = {}
    read: dict[str, dict[str, int]] = {}
    for entry in table:
        if isinstance(entry, View):
            flat[entry.attribute] = entry.holds(value_of(entry.field, words.__getitem__, registers))
        is_ignored = not isinstance(entry, View) and not (
            _holds(entry.when, flat) and (isinstance(entry, Fixed) or entry.significant)
        )
        found = ignored if is_ignored else read
        for name in _fields(entry):
            register, part = registers.field(name)
            of_unit = found.setdefault(register.unit, {})
            of_unit[register.name] = of_unit.get(register.name, 0) | part.mask & register.bits
    return {
        unit: {name: bits & ~read.get(unit, {}).get(name, 0) for name, bits in of_unit.items()}
        for unit, of_unit in ignored.items()
    }


def decode_rows(table: Table, words: Words, registers: RegisterMap) -> Flat:
    """Return the attributes that ``words`` hold.

    Raises:
        Refused: for a value without meaning, two places that disagree, or a fixed field that differs.
    """
    flat: Flat = {}
    for entry in table:
        if isinstance(entry, View):
            flat[entry.attribute] = entry.holds(value_of(entry.field, words.__getitem__, registers))
            continue
        if not _holds(entry.when, flat) or (isinstance(entry, Row) and not entry.significant):
            continue
        if isinstance(entry, Fixed):
            got = value_of(entry.field, words.__getitem__, registers)
            if got != entry.value:
                raise Refused(f"{entry.field} must be {entry.value}, not {got}: {entry.reason}")
            continue
        bits = shift = 0
        for name in entry.fields:
            bits |= value_of(name, words.__getitem__, registers) << shift
            shift += registers.field(name)[1].width
        with blame(entry.fields[0]):
            value = entry.codec.decode(bits, shift)
        if entry.attribute in flat and flat[entry.attribute] != value:
            first = next(e for e in table if isinstance(e, Row) and e.attribute == entry.attribute)
            raise Refused(
                f"{entry.fields[0]} must agree with {first.fields[0]} "
                f"({_name(flat[entry.attribute])}), not {_name(value)}"
            )
        flat[entry.attribute] = value
    return flat


def value_of(name: str, words_of: WordsOf, registers: RegisterMap) -> int:
    """Return the value of ``UNIT.REGISTER.field`` in the register words of its unit."""
    register, part = registers.field(name)
    return part.extract(words_of(register.unit)[register.name])


@contextmanager
def blame(field: str) -> Iterator[None]:
    """Turn an InputError of the body into a Refused that names the register field."""
    try:
        yield
    except Refused:
        raise
    except InputError as error:
        raise Refused(f"{field}: {error}", lacking=isinstance(error, LackingError)) from error


@contextmanager
def blame_attributes(table: Table, prefix: str) -> Iterator[None]:
    """Turn an InputError about attribute ``x`` into a Refused that names the field of ``prefix.x``.

    Layouts and layers begin their messages with the attribute's name; without a row of that name
    the prefix itself is named.
    """
    try:
        yield
    except Refused:
        raise
    except InputError as error:
        attribute = f"{prefix}.{str(error).split()[0]}" if prefix else str(error).split()[0]
        names = [e.fields[0] for e in table if isinstance(e, Row) and e.attribute == attribute]
        where = names[0] if names else prefix
        raise Refused(f"{where}: {error}", lacking=isinstance(error, LackingError)) from error


def _fields(entry: Row | Fixed | View) -> tuple[str, ...]:
    return entry.fields if isinstance(entry, Row) else (entry.field,)


def _holds(condition: str, flat: Flat) -> bool:
    terms = condition.split(" & ") if condition else []
    return all(bool(flat.get(term.removeprefix("!"))) != term.startswith("!") for term in terms)


def _name(value: Any) -> str:
    return value.name if isinstance(value, Enum) else str(value)
