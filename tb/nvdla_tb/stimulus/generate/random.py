"""Random scenarios: descriptions drawn from everything that a plan can say, weighted towards corners."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.nvdla import engines as hardware
from nvdla_tb.stimulus.generate.draw.edges import Found, draw_edge
from nvdla_tb.stimulus.generate.draw.numbers import Cube, Description, one_of
from nvdla_tb.stimulus.generate.draw.pdp import draw_pooled, may_be_pooled
from nvdla_tb.stimulus.generate.draw.reuse import draw_followers, may_be_followed
from nvdla_tb.stimulus.generate.draw.rings import draw_rings
from nvdla_tb.stimulus.generate.draw.settings import draw_pauses, draw_settings
from nvdla_tb.stimulus.generate.draw.sizes import MOST_WEIGHTS, Drawn, Work, weights_of, work_of
from nvdla_tb.stimulus.generate.draw.together import draw_short, draw_together
from nvdla_tb.stimulus.generate.draw.wide import widened
from nvdla_tb.stimulus.generate.engines import GENERATORS, draw_far
from nvdla_tb.stimulus.generate.layers.workshop import LEAST_CARRY
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.settings import MOST_CSB_OUTSTANDING

ENGINES = tuple(GENERATORS)

_BASES = (0, 0x8000_0000, 0x8000_0000, 0xFE00_0000)
_CARRYING = 0.4

_FAR = 0.25
_FEWEST_CYCLES, _MOST_CYCLES = 1 << 12, 1 << 18
"""Of the layers that reach limits, in a scenario; as often between two powers of two as between any others."""

_ANSWERED = 0.25
"""Of the scenarios of layers: those in which writes wait for their answers, and reads stand between them."""

_PRESET = 0.25
"""Of the scenarios: those that program the memory interface."""

_MOST_WAITING = 1 << 19
"""Cycles that all accesses of such a scenario may wait for their answers, about."""

_RESET = 0.08
_EARLIEST_RESET, _LATEST_RESET = 1 << 9, 1 << 15
"""How often all is done anew after a reset, in cycles; as often between two powers of two as between any others."""

_WEIGHTS = ("CFG_RD_WEIGHT_0", "CFG_RD_WEIGHT_1", "CFG_RD_WEIGHT_2", "CFG_WR_WEIGHT_0", "CFG_WR_WEIGHT_1")

_MOST_LAYERS = 7
_CHAINED = 0.5
_COUNTED = 0.5
"""Of the scenarios whose layers run one after the other."""

_POOLED = 0.33
_FOLLOWED = 0.22
"""Of the convolutions that may leave something in the buffer: those that others take it from."""

_WIDE = 0.25
"""Of the layers of scenarios that reach no limits: those with wide gaps in one cube, at most one layer a scenario."""

_SAME_TABLES = 0.5
"""Of the layers of CDP after another one: those that keep its tables, so that both groups may wait."""

_RINGS = 0.14
_TOGETHER = 0.18
_CROSSED = 0.08
"""Of the scenarios: those of short layers that meet, and those that clear interrupts while others come; of the rest,
those that use banks of the convolution buffer up to their end."""

_EDGES = 0.5
"""Of the layers of scenarios that reach no limits: those at an edge of what units and their numbers hold. Such layers
are pooled and followed as any other, so that edges and reuse meet and neither displaces the other."""

_SHORT_ACCESSES = 60
_WITH_EVENTS = ("SDP", "PDP", "CDP", "CONV")

_WRITES = ("all", "changed", "twice")
_WRITES_SHARES = (0.5, 0.3, 0.2)
"""How often programs leave out registers that have their value, or write all of them twice."""

_IGNORED = 0.35
"""Of the scenarios whose layers follow each other: those in which fields that a layer does not use hold anything."""


def random_entry(config: HwConfig, seed: int, engines: tuple[str, ...]) -> PlanEntry:
    """Return a scenario's description; the same seed gives the same one.

    Args:
        config: Configuration that must be able to run it.
        seed: Any non-negative integer.
        engines: Names of the engines to draw from; those that the build lacks are passed over.

    Raises:
        InputError: when the build has none of them.
    """
    engines = tuple(engine for engine in engines if engine in engines_of(config))
    if not engines:
        raise InputError(f"engines must be of {', '.join(engines_of(config))} for {config.name}")
    rng = np.random.default_rng([seed, 0x5EED])
    form = rng.random()
    work = Work(0, 0)
    if form < _CROSSED and (names := [engine for engine in engines if engine in _WITH_EVENTS]):
        data = _crossed(rng, config, names)
    else:
        drawn: list[Drawn] = []
        port: Description = {}
        order = None
        if form < _CROSSED + _TOGETHER:
            drawn, port = draw_together(rng, config, {engine: GENERATORS[engine].draw for engine in engines})
            order = "back_to_back"
        if drawn:
            layers, work = _described(rng, config, drawn)
        else:
            layers, work, port = _layers(rng, np.random.default_rng([seed, 0x71DE]), config, engines)
        data = _sequenced(rng, layers, work, order if drawn else None)
        data["settings"]["port"] |= port
    data["base"] = one_of(rng, _BASES) + 8 * int(rng.integers(0, 1 << 13))
    if rng.random() < _CARRYING:
        data["carries"] = _carries(rng, config)
    if rng.random() < _PRESET:
        port = data["settings"]["port"]
        latency = max(port["latency_cycles"], port.get("write_latency_cycles", 0)) + port.get("jitter_cycles", 0)
        data["preset"] = _memory_interface(rng, min(work.accesses * latency // _MOST_WAITING, 255))
    if "interrupts" not in data and np.random.default_rng([seed, 0x16E0]).random() < _IGNORED:
        data["ignored"] = "any"
    if "interrupts" not in data and rng.random() < _ANSWERED:
        data["non_posted"] = round(float(rng.uniform(0, 1)), 2)
        # Statistics are of the group whose pointer was written last, and that must not be the next one meanwhile.
        if not data["counters"]:
            data["settings"]["csb_outstanding"] = int(rng.integers(1, MOST_CSB_OUTSTANDING + 1))
    return PlanEntry("random", "drawn from the seed", config.name, data)


def _sequenced(rng: np.random.Generator, layers: list[Description], work: Work, order: str | None) -> Description:
    """Draw all of a scenario whose layers follow each other but their places: in this order, or any."""
    data: Description = {
        "order": order or one_of(rng, ["in_turn", "back_to_back"]),
        "writes": str(rng.choice(_WRITES, p=_WRITES_SHARES)),
        "settings": draw_settings(rng, work),
        "layer": layers,
    }
    data["counters"] = data["order"] == "in_turn" and bool(rng.random() < _COUNTED)
    data["settings"]["port"] |= draw_pauses(rng)
    if rng.random() < _RESET:
        cycle = 2 ** rng.uniform(math.log2(_EARLIEST_RESET), math.log2(_LATEST_RESET))
        data["settings"]["reset_cycle"] = round(cycle)
    return data


def _crossed(rng: np.random.Generator, config: HwConfig, engines: Sequence[str]) -> Description:
    """Draw short layers at whose ends interrupts of others are cleared."""
    layers: list[Description] = []
    while not layers:
        count = int(rng.integers(1, 3))
        names = [one_of(rng, engines) for _ in range(count)]
        found = [draw_short(rng, config, GENERATORS[name].draw, _SHORT_ACCESSES) for name in names]
        layers = [each.layer for each in found if each is not None]
    for layer in layers:
        if layer["engine"] == "CONV":
            # It runs several times in the same banks: nothing may stay in front of the next weights.
            layer.pop("zero_percent", None)
            layer["tight_weights"] = True
    port = {"latency_cycles": one_of(rng, [0, 1, 5, 50]), "reorder": bool(rng.random() < 0.5)}
    return {"interrupts": "crossed", "settings": {"port": port}, "layer": layers}


def _described(rng: np.random.Generator, config: HwConfig, drawn: Sequence[Drawn]) -> tuple[list[Description], Work]:
    """Return layers that were drawn together, and how much work they are."""
    layers, work = [], Work(0, 0)
    tables: Precision | None = None
    for each in drawn:
        layer, tables = _with_tables(rng, each.layer, each.src, tables)
        layers.append(layer)
        work += work_of(config, layer, each.src, each.dst)
    return layers, work


def _with_tables(
    rng: np.random.Generator, layer: Description, src: Cube, tables: Precision | None
) -> tuple[Description, Precision | None]:
    """Return a layer, which may keep the tables of the layer of CDP before it, and whose tables there are then."""
    if layer["engine"] != "CDP":
        return layer, tables
    if tables is src.precision and rng.random() < _SAME_TABLES:
        layer = {key: value for key, value in layer.items() if key != "lut"} | {"same_lut": True}
    return layer, src.precision


def _memory_interface(rng: np.random.Generator, least: int) -> dict[str, int]:
    """Draw weights of all clients from 1 to 255, small ones as often as large ones, and limits of what may wait.

    The limits are at least so many: with late answers few accesses at a time take minutes.
    """
    words = {}
    for register in _WEIGHTS:
        weights = np.floor(2 ** rng.uniform(0, 8, 4)).astype(int)
        words[f"MCIF.{register}"] = int.from_bytes(bytes(weights.tolist()), "little")
    limits = np.maximum(np.floor(2 ** rng.uniform(0, 8, 2)).astype(int), least)
    words["MCIF.CFG_OUTSTANDING_CNT"] = int.from_bytes(bytes(limits.tolist()), "little")
    return words


def _carries(rng: np.random.Generator, config: HwConfig) -> list[int]:
    """Draw which address bits cubes carry into: any, or one."""
    highest = config.memif_address_width_bits - 1
    bit = int(rng.integers(LEAST_CARRY, highest + 1))
    return [LEAST_CARRY, highest] if rng.random() < 0.5 else [bit, bit]


def engines_of(config: HwConfig) -> tuple[str, ...]:
    """Return the names of the engines that a build has."""
    return tuple(engine.name for engine in hardware.engines_of(config))


def _layers(
    rng: np.random.Generator, wide: np.random.Generator, config: HwConfig, engines: tuple[str, ...]
) -> tuple[list[Description], Work, Description]:
    """Draw layers, and return with them about how much work they are, and settings of the port for them.

    Some are at edges, and some read what the one before them wrote. Now and then the first ones reach limits of their
    fields; fewer others follow then. ``wide`` draws strides of many bits for one of the others.
    """
    layers: list[Description] = []
    port: Description = {}
    work = Work(0, 0)
    written: Cube | None = None
    weights = 0
    tables: Precision | None = None
    count = int(rng.integers(1, _MOST_LAYERS + 1))
    for reaching in _reaching(rng, config, engines):
        layers.append(reaching.layer)
        work += work_of(config, reaching.layer, reaching.src, reaching.dst)
        weights += weights_of(reaching.layer, reaching.src)
        tables = reaching.src.precision if reaching.layer["engine"] == "CDP" else tables
    reaches, is_wide = bool(layers), False
    count = len(layers) + int(rng.integers(0, 2)) if reaches else count
    # A convolution at an edge may fill the buffer with its weights, if it is the only one.
    while len(layers) < count and weights <= MOST_WEIGHTS:
        at_edge = not reaches and rng.random() < _EDGES
        found, settings = draw_edge(rng, config, engines) if at_edge else _usual(rng, config, engines, written)
        if found is None:
            continue
        layer, src, dst = found
        of_it = weights_of(layer, src)
        if of_it and weights + of_it > MOST_WEIGHTS and (weights or not at_edge):
            continue
        port |= settings
        weights += of_it
        layer, tables = _with_tables(rng, layer, dst or src, tables)
        work += work_of(config, layer, src, dst or src)
        written = dst
        if not reaches and weights <= MOST_WEIGHTS and may_be_followed(layer) and rng.random() < _FOLLOWED:
            followers = draw_followers(rng, config, layer)
            more = sum(weights_of(each.layer, each.src) for each in followers)
            if followers and weights + more <= MOST_WEIGHTS:
                weights += more
                for each in followers:
                    layers.append(layer)
                    layer, written = each.layer, each.dst
                    work += work_of(config, layer, each.src, each.dst)
        if written is not None and "PDP" in engines and may_be_pooled(layer) and rng.random() < _POOLED:
            layer, written = draw_pooled(rng, layer, written)
        if not reaches and not is_wide and layer["engine"] in _WITH_EVENTS and wide.random() < _WIDE:
            layer, written = widened(wide, config, layer, written)
            is_wide = True
        layers.append(layer)
    return layers, work, port


def _usual(
    rng: np.random.Generator, config: HwConfig, engines: Sequence[str], written: Cube | None
) -> tuple[Found | None, Description]:
    """Draw a layer of any engine, which may read what was written, or nothing; any port goes with it."""
    before = written if rng.random() < _CHAINED else None
    drawn = GENERATORS[one_of(rng, engines)].draw(rng, config, before)
    return drawn and (drawn[0], before or Cube(drawn[0].get("shape", (1, 1, 1))), drawn[1]), {}


def _reaching(rng: np.random.Generator, config: HwConfig, engines: tuple[str, ...]) -> list[Drawn]:
    """Draw, now and then, layers that reach ends of the convolution buffer or limits of their fields."""
    if rng.random() < _RINGS and "CONV" in engines:
        return draw_rings(rng, config)
    if rng.random() >= _FAR:
        return []
    cycles = round(2 ** rng.uniform(math.log2(_FEWEST_CYCLES), math.log2(_MOST_CYCLES)))
    return draw_far(rng, config, one_of(rng, engines), cycles)
