"""Typed access to the arguments of one command, with an error that names file, line, rule and value."""

from __future__ import annotations

from dataclasses import dataclass

from nvdla_models.config import HwConfig
from nvdla_models.reading import shown
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import Register, RegisterError, RegisterMap
from nvdla_tb.stimulus.trace import words
from nvdla_tb.stimulus.trace.errors import TraceError, TraceUnsupported
from nvdla_tb.stimulus.trace.files import TraceFolder
from nvdla_tb.stimulus.trace.lexer import Command, Token
from nvdla_tb.stimulus.trace.notes import Note


@dataclass(frozen=True)
class Arguments:
    """The arguments of a command, in the trace and for the configuration it is read for."""

    command: Command
    folder: TraceFolder
    config: HwConfig
    note: Note

    def __len__(self) -> int:
        return len(self.command.arguments)

    @property
    def line(self) -> int:
        """Line of the command's name."""
        return self.command.line

    def expect(self, *forms: str) -> None:
        """Refuse a number of arguments that fits none of the forms, such as ``register, value``."""
        if len(self) not in {len(form.split(", ")) for form in forms}:
            shapes = " or ".join(f"({form})" for form in forms)
            raise self.error(f"{self.command.name} must have {shapes}, not {len(self)} arguments")

    def error(self, message: str, at: Token | None = None) -> TraceError:
        """Return an error at an argument's line, or at the command's."""
        return TraceError.at(self.folder.cfg, at.line if at else self.line, message)

    def unsupported(self, message: str) -> TraceUnsupported:
        """Return the refusal of something that the configuration lacks."""
        return TraceUnsupported(f"{self.folder.cfg}:{self.line}: {message}")

    def word(self, index: int, name: str) -> str:
        """Return an argument that must not be quoted."""
        token = self.command.arguments[index]
        if token.kind != "word":
            raise self.error(f"{name} must not be quoted: {shown(token.text)}", token)
        return token.text

    def identifier(self, index: int, name: str) -> str:
        """Return an argument of letters, digits and underscores."""
        text = self.word(index, name)
        if not words.IDENTIFIER.fullmatch(text):
            raise self.error(f"{name} must be letters, digits and _, not {shown(text)}", self.command.arguments[index])
        return text

    def quoted(self, index: int, name: str) -> str:
        """Return an argument that must be quoted, without its quotes."""
        token = self.command.arguments[index]
        if token.kind != "string":
            raise self.error(f"{name} must be quoted, not {shown(token.text)}", token)
        return token.text[1:-1]

    def number(self, index: int, name: str, limit: int, least: int = 0) -> int:
        """Return a number of at least ``least`` and below ``limit``."""
        text = self.word(index, name)
        value = words.number(text)
        token = self.command.arguments[index]
        if value is None:
            raise self.error(f"{name} must be a decimal or 0x-prefixed number, not {shown(text)}", token)
        if not least <= value < limit:
            raise self.error(f"{name} must be {least} to {limit - 1:#x}, not {shown(text)}", token)
        return value

    def ram(self, index: int) -> Ram:
        """Return the memory that an argument names, which the configuration must have."""
        text = self.word(index, "memory").lower()
        if text not in words.MEMORIES:
            allowed = ", ".join(words.MEMORIES)
            raise self.error(f"memory must be one of {allowed}, not {shown(text)}", self.command.arguments[index])
        ram = words.MEMORIES[text]
        if ram is Ram.CVSRAM and not self.config.secondary_memif_enable:
            raise self.unsupported(f"{self.config.name} has no secondary memory ({text})")
        return ram

    def address(self, index: int) -> int:
        """Return a byte address that the configuration's memory port can reach."""
        return self.number(index, "address", 1 << self.config.memif_address_width_bits)

    def check_reach(self, address: int, nbytes: int) -> None:
        """Refuse a range that ends after the configuration's address space."""
        width = self.config.memif_address_width_bits
        if address + nbytes > 1 << width:
            raise self.error(
                f"{self.command.name} must end within the {width}-bit addresses of {self.config.name}, "
                f"not at {address + nbytes:#x}"
            )

    def unit(self, index: int, name: str) -> str:
        """Return a unit with registers, which the configuration must have."""
        unit = words.unit_name(self.word(index, name))
        self.check_unit(unit, name)
        return unit

    def check_unit(self, unit: str, name: str) -> None:
        """Refuse a unit that does not exist, or not in this configuration."""
        units = RegisterMap.of(self.config).units
        if unit in units:
            return
        if unit in words.all_units():
            raise self.unsupported(f"{self.config.name} has no unit {unit}")
        raise self.error(f"{name} must be one of {', '.join(units)}, not {unit}")

    def register(self, index: int) -> Register:
        """Return a register given by name or by byte address, which the configuration must have."""
        text = self.word(index, "register")
        token = self.command.arguments[index]
        if words.number(text) is not None:
            return self._register_at(self.number(index, "register address", words.ADDRESS_LIMIT), token)
        unit, dot, name = text.partition(".")
        if not dot:
            raise self.error(f"register must be spelt UNIT.NAME or be a byte address, not {shown(text)}", token)
        self.check_unit(words.unit_name(unit), "unit")
        try:
            return words.find_register(RegisterMap.of(self.config), words.unit_name(unit), name)
        except RegisterError as error:
            raise self.error(str(error), token) from error

    def _register_at(self, address: int, token: Token) -> Register:
        """Look a byte address up.

        Register addresses are byte addresses here, as in every published register map; only the CSB
        pins carry the word address. Both readings of most words would name some register, so the
        reading is fixed rather than guessed.
        """
        if address % 4:
            raise self.error(f"register address must be a multiple of 4 bytes, not {token.text}", token)
        registers = RegisterMap.of(self.config)
        register = registers.at(address)
        if register is None and self.note.unmapped:
            return registers.parse(f"{address:#x}")
        if register is None:
            raise self.error(f"{self.config.name} has no register at byte address {token.text}", token)
        return register
