"""How the bench treats the device, at random: the more work a scenario is, the tamer."""

from __future__ import annotations

from typing import Any

import numpy as np

from nvdla_tb.stimulus.generate.draw.numbers import Description
from nvdla_tb.stimulus.generate.draw.sizes import Work, draw_reaching
from nvdla_tb.stimulus.settings import CHANNELS

_LATENCIES = (0, 1, 5, 50, 300, 1200)
_LATENCY_SHARES = (0.12, 0.12, 0.3, 0.36, 0.08, 0.02)
_JITTER, _JITTER_LIMIT = 0.4, 100
_STALL, _LEAST_USUAL_STALL, _MOST_USUAL_STALL = 0.3, 0.1, 0.8
_REORDER = 0.4
"""How often a port is not the tamest, and how far it then goes: extremes come on top."""

_EXTREME = 0.12
_MOST_LATENCY = 8192
_MOST_STALL = 0.99
_MOST_CSB_STALL = 0.97
_LEAST_SLOWDOWN, _MOST_SLOWDOWN = 1 << 12, 1 << 17
"""Cycles that an extreme setting may cost, likewise as often between two powers of two as between any others."""

_CSB_STALL, _USUAL_CSB_STALL = 0.3, 0.4
_EXTREME_CSB_STALL, _LEAST_EXTREME_CSB_STALL = 0.05, 0.5
"""How often CSB stalls, and how much."""

_PAUSING = 0.3
_LATE_WRITES = 0.1
_SHORTEST_PAUSE, _LONGEST_PAUSE = 3, 12
"""Powers of two, in cycles."""

_LEAST_MOVING, _MOST_MOVING = 0.3, 1.2
"""Cycles for which channels move, in those for which they stood still."""

_UNDER_WAY = 48
"""Accesses that wait for their answers at a time, about."""

_REPLIES = 12
"""Times that layers wait for a single answer, about."""


def draw_settings(rng: np.random.Generator, work: Work) -> Description:
    """Draw the settings of a scenario; extremes must not make too long what its layers ask of the device."""
    port: Description = {
        "latency_cycles": int(rng.choice(_LATENCIES, p=_LATENCY_SHARES)),
        "jitter_cycles": int(_sometimes(rng, _JITTER, int(rng.integers(1, _JITTER_LIMIT)), 0)),
        "ready_stall": _sometimes(rng, _STALL, _usual_stall(rng), 0.0),
        "valid_stall": _sometimes(rng, _STALL, _usual_stall(rng), 0.0),
        "reorder": bool(rng.random() < _REORDER),
    }
    slowdown = 2 ** rng.uniform(np.log2(_LEAST_SLOWDOWN), np.log2(_MOST_SLOWDOWN))
    latency = round(slowdown / (_REPLIES + work.accesses / _UNDER_WAY))
    stall = min(round(1 - work.accesses / slowdown, 2), _MOST_STALL)
    extremes = {
        "latency_cycles": draw_reaching(rng, min(max(latency, 1), _MOST_LATENCY)),
        "jitter_cycles": draw_reaching(rng, min(max(latency, 1), _MOST_LATENCY)),
        "ready_stall": stall,
        "valid_stall": stall,
    }
    for name, value in extremes.items():
        if rng.random() < _EXTREME:
            port[name] = max(value, 0)
    if rng.random() < _EXTREME_CSB_STALL:
        csb_stall = round(float(rng.uniform(_LEAST_EXTREME_CSB_STALL, _MOST_CSB_STALL)), 2)
    else:
        csb_stall = float(_sometimes(rng, _CSB_STALL, _USUAL_CSB_STALL, 0.0))
    return {"csb_stall": csb_stall, "port": port}


def draw_pauses(rng: np.random.Generator) -> Description:
    """Draw pauses of the port's channels, and a latency of write answers alone, now and then."""
    port: Description = {}
    if rng.random() < _PAUSING:
        pause = round(2 ** rng.uniform(_SHORTEST_PAUSE, _LONGEST_PAUSE))
        port["pause_cycles"] = pause
        port["pause_period_cycles"] = pause + round(pause * rng.uniform(_LEAST_MOVING, _MOST_MOVING)) + 1
        if rng.random() < 0.5:
            port["pause_channels"] = " ".join(rng.permutation(CHANNELS)[: int(rng.integers(1, 3))])
    if rng.random() < _LATE_WRITES:
        port["write_latency_cycles"] = round(2 ** rng.uniform(_SHORTEST_PAUSE, _LONGEST_PAUSE))
    return port


def _usual_stall(rng: np.random.Generator) -> float:
    return round(float(rng.uniform(_LEAST_USUAL_STALL, _MOST_USUAL_STALL)), 2)


def _sometimes(rng: np.random.Generator, probability: float, value: Any, otherwise: Any) -> Any:
    return value if rng.random() < probability else otherwise
