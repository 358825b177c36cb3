"""Short layers that meet: ends of one unit, writes of several, and a unit between two layers of another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.draw.numbers import Cube, Description, draw_kind, draw_precision, one_of
from nvdla_tb.stimulus.generate.draw.pdp import draw_pooled, may_be_pooled
from nvdla_tb.stimulus.generate.draw.sizes import Drawn, atoms_of, work_of

Draw = Callable[[np.random.Generator, HwConfig, Cube | None], tuple[Description, Cube | None] | None]

_TRIES = 60
_MOST_ACCESSES = (20, 60, 200)
_MOST_CYCLES = 3000
_MOST_ENDS = 6
_LATENCIES = (0, 1, 5, 50)
_LATEST_WRITES = (5, 9)
_HELD_WRITES = (4, 8)
_FULL = (6, 10)
"""Powers of two, in cycles."""

_MOST_WAITING = 600
"""Accesses of a layer that fills all buffers on its way."""

_AGAIN = 24
"""Layers of which the next one begins while the answer to the one before is on its way."""

_MOST_PENDING = 300
_PENDING_JITTER = (1, 3, 15, 100, 200)
_LEAST, _LEAST_ATOMS = 0.5, 2
_POOLED = 0.4
"""Of the layers that come again and again: those of which PDP pools every other one on the fly, if it can."""


def draw_together(
    rng: np.random.Generator, config: HwConfig, draws: Mapping[str, Draw]
) -> tuple[list[Drawn], Description]:
    """Draw short layers for the order ``back_to_back``, and settings of the port with which they meet.

    Args:
        rng: Randomness.
        config: The build.
        draws: How layers of each engine are drawn, by its name.

    Returns:
        The layers, perhaps none, and the settings. Either layers of one unit, whose last writes are answered after
        several of them have ended; or one unit between layers of another one while answers are late and change places;
        or several units whose writes are answered one right after the other; or layers that come again and again, so
        that the answer to one falls into requests, or the end, of the next; or several units that read while nothing
        is written, until all of them are full of answers.
    """
    kinds = [_ends, _between, _answers, _pending, _full] if len(draws) > 1 else [_ends, _pending]
    kind = kinds[int(rng.integers(len(kinds)))]
    names, port = kind(rng, list(draws))
    most = one_of(rng, _MOST_ACCESSES) if kind is not _full else _MOST_WAITING
    # Of a layer with a single write the last one is the first: it is answered right beside that of another unit.
    is_least = kind in (_ends, _answers) and rng.random() < _LEAST
    if kind is _pending:
        # The same layer again ends after as many cycles as before, while answers take any number of them.
        return _again(rng, config, draws, names), {"reorder": False, **port}
    found = [
        _draw_least(rng, config, draws[name]) if is_least else draw_short(rng, config, draws[name], most)
        for name in names
    ]
    return [each for each in found if each is not None], {"reorder": False, **port}


def _again(rng: np.random.Generator, config: HwConfig, draws: Mapping[str, Draw], names: Sequence[str]) -> list[Drawn]:
    """Draw one layer for each name; now and then, PDP pools every other one of it on the fly."""
    alike: dict[str, list[Drawn]] = {}
    for name in dict.fromkeys(names):
        drawn = _draw_least(rng, config, draws[name])
        alike[name] = [] if drawn is None else [drawn]
        if drawn is not None and "PDP" in draws and may_be_pooled(drawn.layer) and rng.random() < _POOLED:
            layer, dst = draw_pooled(rng, drawn.layer, drawn.dst)
            alike[name].append(Drawn(layer, drawn.src, dst))
    return [alike[name][turn // len(alike) % len(alike[name])] for turn, name in enumerate(names) if alike[name]]


def draw_short(rng: np.random.Generator, config: HwConfig, draw: Draw, accesses: int) -> Drawn | None:
    """Draw a layer of at most so many accesses of the memory; None where none that is tried is."""
    for _ in range(_TRIES):
        drawn = draw(rng, config, None)
        if drawn is None:
            continue
        layer, dst = drawn
        src = Cube(layer.get("shape", (1, 1, 1)), precision=dst.precision if dst else Precision.INT8)
        work = work_of(config, layer, src, dst or src)
        if work.accesses <= accesses and work.cycles <= _MOST_CYCLES:
            return Drawn(layer, src, dst or src)
    return None


def _draw_least(rng: np.random.Generator, config: HwConfig, draw: Draw) -> Drawn | None:
    """Draw a layer that reads and writes an atom or two; None where none that is tried does."""
    for _ in range(_TRIES):
        precision = draw_precision(rng, config, None)
        src = Cube((int(rng.integers(1, config.atom_elements(precision) + 1)), 1, 1), precision=precision)
        drawn = draw(rng, config, src)
        if drawn is None:
            continue
        layer, dst = drawn
        own = {"shape": list(src.shape), **draw_kind(rng, precision)}
        found = Drawn({key: value for key, value in layer.items() if key != "chain"} | own, src, dst or src)
        if atoms_of(config, found.dst) <= _LEAST_ATOMS:
            return found
    return None


def _ends(rng: np.random.Generator, names: list[str]) -> tuple[list[str], Description]:
    one = one_of(rng, names)
    late = round(2 ** rng.uniform(*_LATEST_WRITES))
    return [one] * int(rng.integers(3, _MOST_ENDS + 1)), {**_quick(rng), "write_latency_cycles": late}


def _between(rng: np.random.Generator, names: list[str]) -> tuple[list[str], Description]:
    one, other = (str(name) for name in rng.permutation(names)[:2])
    count = int(rng.integers(3, 6))
    jitter = int(rng.integers(1, 100))
    port = {"latency_cycles": one_of(rng, [20, 50, 100]), "jitter_cycles": jitter, "reorder": True}
    return [one if turn % 2 == 0 else other for turn in range(count)], port


def _answers(rng: np.random.Generator, names: list[str]) -> tuple[list[str], Description]:
    some = [str(name) for name in rng.permutation(names)[: int(rng.integers(2, 4))]]
    pause = round(2 ** rng.uniform(*_HELD_WRITES))
    moving = int(rng.integers(4, 24))
    port = {"pause_cycles": pause, "pause_period_cycles": pause + moving, "pause_channels": "b"}
    return some * int(rng.integers(1, 3)), {**_quick(rng), **port, "reorder": bool(rng.random() < 0.5)}


def _pending(rng: np.random.Generator, names: list[str]) -> tuple[list[str], Description]:
    some = [str(name) for name in rng.permutation(names)[: int(rng.integers(1, 3))]]
    late = int(rng.integers(0, _MOST_PENDING))
    port = {"write_latency_cycles": late, "jitter_cycles": one_of(rng, _PENDING_JITTER)}
    return some * (_AGAIN // len(some)), {**_quick(rng), **port, "reorder": bool(rng.random() < 0.5)}


def _full(rng: np.random.Generator, names: list[str]) -> tuple[list[str], Description]:
    some = [str(name) for name in rng.permutation(names)[: int(rng.integers(2, 4))]]
    pause = round(2 ** rng.uniform(*_FULL))
    port = {"pause_cycles": pause, "pause_period_cycles": pause + int(rng.integers(1, 40)), "pause_channels": "w"}
    if rng.random() < 0.5:
        port["pause_channels"] = "aw w"
    return some, {**_quick(rng), **port, "reorder": bool(rng.random() < 0.5)}


def _quick(rng: np.random.Generator) -> Description:
    return {"latency_cycles": one_of(rng, _LATENCIES), "ready_stall": 0.0, "valid_stall": 0.0}
