"""The rules that a memory port's master must keep, and how a violation is reported."""

from __future__ import annotations

from tb.memory import Ram

RULES = (
    "arvalid must stay until arready",
    "araddr, arid and arlen must stay until arready",
    "awvalid must stay until awready",
    "awaddr, awid and awlen must stay until awready",
    "wvalid must stay until wready",
    "wdata, wstrb and wlast must stay until wready",
    "wlast must be set on the last beat of a burst and on no other",
)
"""Two for each channel, then that of bursts; the compiled harness counts them in this order.

Source: AMBA AXI protocol specification, "Handshake process" and "Write data channel".
"""

CHANNELS = {
    "ar": ("arvalid", "arready", ("araddr", "arid", "arlen")),
    "aw": ("awvalid", "awready", ("awaddr", "awid", "awlen")),
    "w": ("wvalid", "wready", ("wdata", "wstrb", "wlast")),
}
"""Valid, ready and payload of the channels, in the order of the rules."""

DROPPED, CHANGED = 0, 1
LAST = 2 * len(CHANNELS)


def violation(ram: Ram, rule: int, cycle: int) -> str:
    """Return the complaint about the first violation of a rule.

    Args:
        ram: whose port.
        rule: index into ``RULES``.
        cycle: when it was broken.
    """
    return f"protocol: {ram.value}: {RULES[rule]} (broken at cycle {cycle})"
