"""Register words of SDP and PDP that decide which units run a layer together."""

from __future__ import annotations

from collections.abc import Mapping

from tb.nvdla.registers import RegisterMap


def is_flying(unit: str, words: Mapping[str, int], registers: RegisterMap) -> bool:
    """Return whether the words of SDP or SDP_RDMA say that the input comes from the convolution core."""
    field = registers.register(unit, "D_FEATURE_MODE_CFG").field("flying_mode")
    return bool(field.extract(words["D_FEATURE_MODE_CFG"]))


def fetches_nothing(words: Mapping[str, int], registers: RegisterMap) -> bool:
    """Return whether the words of SDP_RDMA leave it nothing to do: it is done as soon as it is enabled.

    Source: measured on the public nv_small RTL.
    """
    return is_flying("SDP_RDMA", words, registers) and all(
        registers.register("SDP_RDMA", f"D_{name.upper()}_CFG")
        .field(f"{name}_disable")
        .extract(words[f"D_{name.upper()}_CFG"])
        for name in ("brdma", "nrdma", "erdma")
    )


def takes_operands(words: Mapping[str, int], registers: RegisterMap) -> bool:
    """Return whether the words of SDP say that a stage takes an operand from memory."""

    def on(register: str, field: str) -> bool:
        return bool(registers.register("SDP", register).field(field).extract(words[register]))

    return any(
        not on(f"D_DP_{name}_CFG", f"{low}_bypass")
        and not on(f"D_DP_{name}_CFG", f"{low}_{part}_bypass")
        and on(f"D_DP_{name}_{part.upper()}_CFG", f"{low}_{part}_src")
        for name, low in (("BS", "bs"), ("BN", "bn"), ("EW", "ew"))
        for part in ("alu", "mul")
    )


def takes_from_sdp(words: Mapping[str, int], registers: RegisterMap) -> bool:
    """Return whether the words of PDP say that its input comes from SDP."""
    field = registers.register("PDP", "D_OPERATION_MODE_CFG").field("flying_mode")
    return field.extract(words["D_OPERATION_MODE_CFG"]) == 0


def hands_on(words: Mapping[str, int], registers: RegisterMap) -> bool:
    """Return whether the words of SDP say that its output goes to PDP."""
    field = registers.register("SDP", "D_FEATURE_MODE_CFG").field("output_dst")
    return field.extract(words["D_FEATURE_MODE_CFG"]) == 1
