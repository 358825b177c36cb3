"""The registry of engines: for each, the coding of its layers in registers, its counters, and its speed.

All other parts of an engine lie in rooms above this one; ``docs/extending.md`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.layers import (
    BdmaLayer,
    CdpLayer,
    ConvLayer,
    Layer,
    PdpLayer,
    PooledLayer,
    RubikLayer,
    SdpLayer,
    convolution_of,
)
from nvdla_tb.nvdla.program import bdma, cdp, conv, pdp, pooled, rubik, sdp
from nvdla_tb.nvdla.program.ops import interrupt_of_unit
from nvdla_tb.nvdla.program.table import Flat, Refused, Table, WordsOf, value_of
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.nvdla.timed import TIMED


class Coding(NamedTuple):
    """How the layers of a chain stand in registers.

    Attributes:
        table: Field table of all units.
        flatten: From a layer to its attributes by the names of the table.
        build: From attributes to the layer.
    """

    table: Table
    flatten: Callable[[Any], Flat]
    build: Callable[[HwConfig, Flat], Layer]


@dataclass(frozen=True)
class Chain:
    """Units that run a layer together.

    Attributes:
        name: Name in messages: that of its engine, or of both engines when one hands its result to the other.
        units: All units that must be enabled, in the order that ``encode`` enables them.
        done_unit: The unit whose done interrupt ends the layer.
        layer: The type of its layers.
        coding: How they stand in registers.
        runs: Whether it runs this layer, among the chains for the type.
        fields: Fields of its units with the values that select it, among the chains that share a unit.
        operands: Whether SDP must take operands from memory, or must not; None where that decides nothing.
    """

    name: str
    units: tuple[str, ...]
    done_unit: str
    layer: type[Layer]
    coding: Coding
    runs: Callable[[Any], bool] = lambda layer: True
    fields: Mapping[str, int] = field(default_factory=dict)
    operands: bool | None = None

    @property
    def lut_unit(self) -> str:
        """The unit whose lookup tables it uses, if it uses any."""
        return "SDP" if "SDP" in self.units else self.done_unit

    def is_chosen(self, words_of: WordsOf, registers: RegisterMap) -> bool:
        """Return whether the words of the next groups of its units select it."""
        if any(value_of(name, words_of, registers) != value for name, value in self.fields.items()):
            return False
        return self.operands is None or self.operands == _takes_operands(words_of, registers)


@dataclass(frozen=True)
class Engine:
    """One entry of the registry.

    Attributes:
        name: Name in plans, coverage models and stages.
        chains: All ways in which it ends a layer; the first ones, which have its name, from memory to memory.
        counters: By unit, the statistics registers whose values or bounds are known.
        counting: By unit, the word of ``D_PERF_ENABLE`` that enables those; other units count without being told.
        elements_per_cycle: Of the pipeline that takes a layer's cube; None for an engine without one of its own.
    """

    name: str
    chains: tuple[Chain, ...]
    counters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    counting: Mapping[str, int] = field(default_factory=dict)
    elements_per_cycle: Callable[[HwConfig], int] | None = None

    @property
    def units(self) -> tuple[str, ...]:
        """All units that take part in layers of the engine itself."""
        own = (chain for chain in self.chains if chain.name == self.name)
        return tuple(dict.fromkeys(unit for chain in own for unit in chain.units))

    @property
    def layers(self) -> tuple[type[Layer], ...]:
        """The types of layers that the engine ends."""
        return tuple(dict.fromkeys(chain.layer for chain in self.chains))

    @property
    def interrupt(self) -> str:
        """The done interrupt that ends its layers."""
        return interrupt_of_unit(self.chains[0].done_unit)


def _takes_operands(words_of: WordsOf, registers: RegisterMap) -> bool:
    """Return whether the words of SDP say that a stage takes an operand from memory."""

    def on(field: str) -> bool:
        return bool(value_of(f"SDP.D_DP_{field}", words_of, registers))

    return any(
        not on(f"{name}_CFG.{low}_bypass")
        and not on(f"{name}_CFG.{low}_{part}_bypass")
        and on(f"{name}_{part.upper()}_CFG.{low}_{part}_src")
        for name, low in (("BS", "bs"), ("BN", "bn"), ("EW", "ew"))
        for part in ("alu", "mul")
    )


def _pooled(producer: Coding) -> Coding:
    """Return how layers stand in registers whose result PDP pools on the fly."""
    table, flatten, build = producer
    return Coding(pooled.table(table), partial(pooled.flatten, flatten), partial(pooled.build, build))


def _fetches(layer: Layer) -> bool:
    """Return whether SDP_RDMA takes part in a convolution."""
    conv = convolution_of(layer)
    return conv is not None and any(source and source.memory for source in (conv.x1, conv.x2, conv.y))


def _of_convolutions(
    name: str, units: tuple[str, ...], layer: type[Layer], codings: tuple[Coding, Coding], fields: Mapping[str, int]
) -> tuple[Chain, Chain]:
    """Return chains that begin with a convolution: where SDP takes operands from memory, and where it does not."""
    fetching, others = codings
    fields = {**fields, _FLYING: 1}
    return (
        Chain(name, ("SDP_RDMA", *units), units[0], layer, fetching, runs=_fetches, fields=fields, operands=True),
        Chain(name, units, units[0], layer, others, fields=fields, operands=False),
    )


_FLYING, _OUTPUT = "SDP.D_FEATURE_MODE_CFG.flying_mode", "SDP.D_FEATURE_MODE_CFG.output_dst"
_POOLS_MEMORY = "PDP.D_OPERATION_MODE_CFG.flying_mode"
_TO_PDP = {_OUTPUT: 1, _POOLS_MEMORY: 0}
_SDP = Coding(sdp.TABLE, sdp.flatten, sdp.build)
_PDP = Coding(pdp.TABLE, pdp.flatten, pdp.build)
_CONV = Coding(conv.TABLE, conv.flatten, conv.build)
_CONV_WITH_OPERANDS = Coding(conv.TABLE_WITH_OPERANDS, conv.flatten, conv.build)
_CONV_UNITS = ("SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
_INPUT_COUNTS = tuple(f"D_{what}_INPUT_{of}_NUM" for what in ("NAN", "INF") for of in ("DATA", "WEIGHT"))
_LUT_COUNTS = tuple(f"D_PERF_LUT_{count}" for count in ("UFLOW", "OFLOW", "HYBRID", "LE_HIT", "LO_HIT"))

SDP = Engine(
    "SDP",
    (Chain("SDP", ("SDP_RDMA", "SDP"), "SDP", SdpLayer, _SDP, fields={_OUTPUT: 0, _FLYING: 0}),),
    counters={
        "SDP_RDMA": ("D_STATUS_NAN_INPUT_NUM", "D_STATUS_INF_INPUT_NUM", *TIMED["SDP_RDMA"].registers),
        "SDP": (
            "D_STATUS_NAN_INPUT_NUM",
            "D_STATUS_INF_INPUT_NUM",
            "D_STATUS_NAN_OUTPUT_NUM",
            "D_PERF_OUT_SATURATION",
            *_LUT_COUNTS,
            *TIMED["SDP"].registers,
        ),
    },
    counting={"SDP": 0b1111, "SDP_RDMA": 0b11},
)
PDP = Engine(
    "PDP",
    (
        Chain("PDP", ("PDP_RDMA", "PDP"), "PDP", PdpLayer, _PDP, fields={_POOLS_MEMORY: 1}),
        Chain(
            "SDP-PDP",
            ("SDP_RDMA", "PDP", "SDP"),
            "PDP",
            PooledLayer,
            _pooled(_SDP),
            runs=lambda layer: isinstance(layer.producer, SdpLayer),
            fields={**_TO_PDP, _FLYING: 0},
        ),
        *_of_convolutions(
            "CONV-PDP", ("PDP", *_CONV_UNITS), PooledLayer, (_pooled(_CONV_WITH_OPERANDS), _pooled(_CONV)), _TO_PDP
        ),
    ),
    counters={unit: tuple(TIMED[unit].registers) for unit in ("PDP_RDMA", "PDP")},
    counting={"PDP": 1, "PDP_RDMA": 1},
    elements_per_cycle=lambda config: config.pdp_throughput,
)
CDP = Engine(
    "CDP",
    (Chain("CDP", ("CDP_RDMA", "CDP"), "CDP", CdpLayer, Coding(cdp.TABLE, cdp.flatten, cdp.build)),),
    counters={
        "CDP_RDMA": tuple(TIMED["CDP_RDMA"].registers),
        "CDP": (
            *("D_NAN_INPUT_NUM", "D_INF_INPUT_NUM", "D_NAN_OUTPUT_NUM", "D_OUT_SATURATION"),
            *_LUT_COUNTS,
            *TIMED["CDP"].registers,
        ),
    },
    counting={"CDP": 0b11, "CDP_RDMA": 1},
    elements_per_cycle=lambda config: config.cdp_throughput,
)
CONV = Engine(
    "CONV",
    _of_convolutions("CONV", _CONV_UNITS, ConvLayer, (_CONV_WITH_OPERANDS, _CONV), {_OUTPUT: 0}),
    counters={"CDMA": (*_INPUT_COUNTS, *TIMED["CDMA"].registers), "CACC": ("D_OUT_SATURATION",)},
    counting={"CDMA": 1},
)
RUBIK = Engine("RUBIK", (Chain("RUBIK", ("RBK",), "RBK", RubikLayer, Coding(rubik.TABLE, rubik.flatten, rubik.build)),))
BDMA = Engine("BDMA", (Chain("BDMA", ("BDMA",), "BDMA", BdmaLayer, Coding(bdma.TABLE, bdma.flatten, bdma.build)),))

ENGINES = (SDP, PDP, CDP, CONV, RUBIK, BDMA)
"""All engines. Random scenarios depend on their order."""

CHAINS = tuple(chain for engine in ENGINES for chain in engine.chains)


def engines_of(config: HwConfig) -> tuple[Engine, ...]:
    """Return the engines that a configuration has: those whose units it has."""
    there = RegisterMap.of(config).units
    return tuple(engine for engine in ENGINES if set(engine.units) <= set(there))


def engine_of(layer: Layer) -> Engine:
    """Return the engine that ends a layer."""
    return next(engine for engine in ENGINES if type(layer) in engine.layers)


def chain_of(layer: Layer) -> Chain:
    """Return the chain that runs a layer."""
    return next(chain for chain in CHAINS if isinstance(layer, chain.layer) and chain.runs(layer))


def chosen_chain(unit: str, words_of: WordsOf, registers: RegisterMap) -> Chain | None:
    """Return the chain that a unit takes part in, as register words say, or None when they do not fit together."""
    return next((chain for chain in CHAINS if unit in chain.units and chain.is_chosen(words_of, registers)), None)


def done_unit_of(unit: str) -> str:
    """Return the unit that ends the layers that a unit takes part in, those that are pooled on the fly apart.

    Raises:
        Refused: for a unit without a model.
    """
    for engine in ENGINES:
        if unit in engine.units:
            return engine.chains[0].done_unit
    raise Refused(f"{unit}.D_OP_ENABLE.op_en must stay DISABLE: {unit} is not modelled")
