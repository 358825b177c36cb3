"""What the time of a layer depends on besides its registers: sizes of the hardware, and its memory.

Sizes that no parameter of the configuration states were read off the public nv_small RTL. Cycles that pass in
pipelines and registers were measured on it, with the bench's memory at latencies of 1, 20, 50 and 100 cycles, by layers
of one kind of work each: 1 x 1 convolutions of few outputs (fetches), of many outputs (deliveries) and of one output
(weights), chains of poolings with and without padding, and chains of additions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError

# Read off the RTL of CSC and CACC.
STRIPE = 16
"""Atoms of the output that a weight is kept for."""
SHORT_STRIPE = 8
"""Those of the stripe before the last where a cube leaves from 16 to 31; fewer cycles than this take no weights."""
CREDITS = 16
"""Atoms that CACC keeps for SDP: a stripe ends in the array only when there is room for all of it."""
DELIVERY_GAP_CYCLES = 1
"""After each atom that CACC hands over, an element a cycle."""
FLUSH_CYCLES = 48
"""From CSC's last stripe to its next layer."""

# Read off the RTL of the memory interface: atoms of a cube that a unit has asked for and not received, at most.
READS_IN_FLIGHT = 8

# Measured.
CONV_START_CYCLES = 55
"""From the write that enables the last unit to the first read, and from its answer to CSC."""
ACCUMULATION_CYCLES = 36
"""From the first atom of a stripe in CSC through CMAC and CACC."""
CREDIT_CYCLES = 2
"""From the last element of an atom that SDP takes to CSC's knowledge of it."""
CONV_END_CYCLES = 60
"""From the last element through SDP, without the answer of memory, to the read of the done bit."""
LINE_CYCLES = (0, 1, 2, 2, 2)
"""Of CDMA, after each line of up to four surfaces that it fetches together."""
COLUMN_CYCLES = (0.0, 1.0, 2.0, 3.5, 5.0)
"""Of CDMA, for each column of them: the third and fourth surface take half a cycle more than their beat."""
STREAM_START_CYCLES = 60
"""The same as for convolutions, of SDP, PDP and CDP from memory."""
STREAM_END_CYCLES = {"SDP": 30, "PDP": 24, "CDP": 60}
ROUND_TRIP_CYCLES = {"SDP": 15, "PDP": 16, "CDP": 16}
"""What a read takes in the units and the interface, beside the latency of memory."""
PAD_CYCLES = 2
"""Of PDP, for each column of padding in a line."""

_FACTOR = re.compile(r"(\d+(?:\.\d+)?)x?")


@dataclass(frozen=True)
class WhatIf:
    """Hardware that does not exist: factors of what there is.

    ::

        WhatIf.parse(["memory=2x", "latency=0.5x"])

    Attributes:
        memory: Of the bytes that the port moves in a cycle.
        latency: Of the cycles until memory answers.
        macs: Of the channels that the array multiplies in a cycle; the convolution buffer is as much wider.
    """

    memory: float = 1.0
    latency: float = 1.0
    macs: float = 1.0

    @classmethod
    def parse(cls, words: Sequence[str]) -> WhatIf:
        """Return what words such as ``memory=2x`` ask for.

        Raises:
            InputError: for an unknown name, or a factor that is none.
        """
        known = [field.name for field in fields(cls)]
        factors: dict[str, float] = {}
        for word in words:
            name, _, text = word.partition("=")
            found = _FACTOR.fullmatch(text)
            if name not in known or found is None or not 0.01 <= float(found[1]) <= 100:
                allowed = ", ".join(f"{name}=N" for name in known)
                raise InputError(f"--what-if must be one of {allowed}, N from 0.01 to 100, not {word}")
            factors[name] = float(found[1])
        return cls(**factors)

    def __str__(self) -> str:
        """Return it as words."""
        given = ((field.name, getattr(self, field.name)) for field in fields(self))
        return ", ".join(f"{name} {factor:g}x" for name, factor in given if factor != 1)


@dataclass(frozen=True)
class Machine:
    """Hardware and memory that a prediction is for.

    ::

        machine = Machine.of(HwConfig.load("nv_small"), latency_cycles=50)

    Attributes:
        config: Configuration that the layers are programmed for.
        memory_cycles: From a read that memory accepts to its answer, or from the last beat of a write.
        what_if: Factors of them.
    """

    config: HwConfig
    memory_cycles: float
    what_if: WhatIf = WhatIf()

    @classmethod
    def of(cls, config: HwConfig, latency_cycles: int | None = None, what_if: WhatIf | None = None) -> Machine | None:
        """Return the machine, None for one whose structure was not measured: other sizes than nv_small's.

        Args:
            config: The configuration.
            latency_cycles: Of the memory; None for that of the configuration.
            what_if: Factors, None for the hardware as it is.
        """
        if _structure(config) != _structure(HwConfig.load("nv_small")):
            return None
        what_if = WhatIf() if what_if is None else what_if
        latency = config.primary_memif_latency_cycles if latency_cycles is None else latency_cycles
        return cls(config, latency, what_if)

    @property
    def as_is(self) -> Machine:
        """The hardware without the factors."""
        return replace(self, what_if=WhatIf())

    @property
    def latency_cycles(self) -> float:
        """Cycles until memory answers."""
        return self.memory_cycles * self.what_if.latency

    @property
    def channels(self) -> float:
        """Channels that the array multiplies in a cycle."""
        return self.config.mac_atomic_c_size * self.what_if.macs

    @property
    def beat_cycles(self) -> float:
        """Cycles that the port takes for an atom."""
        beats = self.config.memory_atomic_bytes / self.config.primary_memif_width_bytes
        return beats / self.what_if.memory


def _structure(config: HwConfig) -> tuple[object, ...]:
    """Return the sizes that a prediction depends on in ways that were seen at nv_small's alone."""
    return (
        config.register_map,
        config.feature_data_types,
        config.mac_atomic_c_size,
        config.mac_atomic_k_size,
        config.memory_atomic_bytes,
        config.cbuf_bank_width_bytes,
        config.sdp_bs_throughput,
        config.pdp_throughput,
        config.cdp_throughput,
        config.primary_memif_max_burst_length,
        config.primary_memif_width_bytes,
    )
