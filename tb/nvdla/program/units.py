"""Register words of SDP and PDP that decide which units run a layer together."""

from __future__ import annotations

from collections.abc import Mapping

from tb.nvdla.registers import RegisterMap


def value_of(name: str, words: Mapping[str, int], registers: RegisterMap) -> int:
    """Return the value of ``UNIT.REGISTER.field`` in the register words of its unit."""
    register, field = registers.field(name)
    return field.extract(words[register.name])


def fetches_nothing(words: Mapping[str, int], registers: RegisterMap) -> bool:
    """Return whether the words of SDP_RDMA leave it nothing to do: it is done as soon as it is enabled.

    Source: measured on the public nv_small RTL.
    """
    disabled = (f"D_{name.upper()}_CFG.{name}_disable" for name in ("brdma", "nrdma", "erdma"))
    fields = ("D_FEATURE_MODE_CFG.flying_mode", *disabled)
    return all(value_of(f"SDP_RDMA.{field}", words, registers) for field in fields)


def takes_operands(words: Mapping[str, int], registers: RegisterMap) -> bool:
    """Return whether the words of SDP say that a stage takes an operand from memory."""

    def on(field: str) -> bool:
        return bool(value_of(f"SDP.D_DP_{field}", words, registers))

    return any(
        not on(f"{name}_CFG.{low}_bypass")
        and not on(f"{name}_CFG.{low}_{part}_bypass")
        and on(f"{name}_{part.upper()}_CFG.{low}_{part}_src")
        for name, low in (("BS", "bs"), ("BN", "bn"), ("EW", "ew"))
        for part in ("alu", "mul")
    )
