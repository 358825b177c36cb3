"""The rules that the ports of a wrapped NVDLA must keep besides those of CSB and of the memory port.

The shims in ``hdl_stubs/shim`` judge them edge by edge: each has an output with a bit for each rule, in this order.
"""

from __future__ import annotations

from typing import NamedTuple

from nvdla_tb.judge.csb_rules import CsbRule
from nvdla_tb.judge.port_rules import PortRule
from nvdla_tb.nvdla.memory import Ram

APB_RULES = ("pslverr must be low when an access ends", "pready must be 0 or 1 during an access")
"""Source: AMBA APB protocol specification, "Transfers" and "Error response"; an access to a register of NVDLA cannot
fail.
"""

AXI_LITE_RULES = (
    "bvalid must answer a write whose address and data were accepted, once",
    "rvalid must answer a read that was accepted, once",
    "bvalid must stay until bready",
    "bresp must stay until bready",
    "rvalid must stay until rready",
    "rdata and rresp must stay until rready",
    "bresp must be OKAY",
    "rresp must be OKAY",
    "bvalid and rvalid must be low in reset",
    "awready, wready, arready, bvalid and rvalid must be 0 or 1 when they count",
)
"""Source: AMBA AXI protocol specification, "Handshake process", "Read and write response structure" and "AXI4-Lite"; an
access to a register of NVDLA cannot fail.
"""

AXI4_RULES = tuple(
    rule.format(a=channel)
    for channel in ("ar", "aw")
    for rule in (
        "{a}size must be that of the whole data bus",
        "{a}burst must be INCR",
        "{a}addr and {a}len must not lead across a border of 4 KiB",
        "{a}lock must be 0: memory grants no exclusive access",
        "{a}addr must lie in the address space of the configuration",
        "{a}addr, {a}size, {a}burst, {a}lock, {a}cache, {a}prot and {a}qos must stay until {a}ready",
    )
)
"""The rules of reads, and after them the same rules of writes.

Source: AMBA AXI protocol specification, "Address structure" and "Handshake process". Narrow, fixed and wrapping bursts
    and exclusive accesses are legal there; NVDLA's memory port has none of them, so none can follow from it.
"""


class Broken(NamedTuple):
    """A pin with a bit for each rule that a shim finds broken.

    Attributes:
        ram: The memory port, or None for the registers.
        first: What findings count the first of its rules as.
        rules: How many there are.
    """

    ram: Ram | None
    first: int
    rules: int


BROKEN = {
    "broken_apb": Broken(None, len(CsbRule), len(APB_RULES)),
    "broken_axi_lite": Broken(None, len(CsbRule) + len(APB_RULES), len(AXI_LITE_RULES)),
    "broken_mc": Broken(Ram.MC, len(PortRule), len(AXI4_RULES)),
    "broken_cvsram": Broken(Ram.CVSRAM, len(PortRule), len(AXI4_RULES)),
}
"""The pins of the wrapper around a wrapped NVDLA, by name."""

REGISTER_RULES = (
    *(("CSB", rule.text) for rule in CsbRule),
    *(("APB", rule) for rule in APB_RULES),
    *(("AXI4-Lite", rule) for rule in AXI_LITE_RULES),
)
"""All rules of a register port, with the port's kind, in the order in which findings count them."""

MEMORY_RULES = (*(rule.text for rule in PortRule), *AXI4_RULES)
"""All rules of a memory port, in the order in which findings count them."""
