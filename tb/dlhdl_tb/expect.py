"""The bytes that the core must write: those of each layer of each frame, and the bound of singles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlhdl_models.layout import ModuleDataLayout
from dlhdl_models.single import Bounded
from dlhdl_tb.explain.engine import DlhdlRun, Operands, Source
from dlhdl_tb.network import Layer, Tensor, Value
from dlhdl_tb.program import Program
from nvdla_models.layout import Element
from nvdla_tb.explain.build import OtherLayer
from nvdla_tb.explain.engines import Run
from nvdla_tb.explain.walk import Walk
from nvdla_tb.judge.expected import Expected
from nvdla_tb.judge.layer_id import Started
from nvdla_tb.judge.verdict import Margin
from nvdla_tb.nvdla.memory import Ram

MODULE = "Deep Learning HDL"
RULE = "bound of this testbench for single, as the vendor publishes none"


@dataclass(frozen=True, eq=False)
class PlayedLayer(OtherLayer):
    """A layer of a program, by its number, as it is played for one frame."""

    program: Program
    number: int
    frame: int

    @property
    def layer(self) -> Layer:
        """What it computes."""
        return self.program.network.layers[self.number]

    @property
    def tensor(self) -> Tensor:
        """Its result."""
        return self.program.network.tensors[self.number]

    @property
    def address(self) -> int:
        """Where its result lies."""
        return self.program.address(self.number, self.frame)

    @property
    def layout(self) -> ModuleDataLayout:
        """The layout of its result."""
        return self.tensor.layout

    def engine(self) -> DlhdlRun:
        """Return what the core should have computed."""
        program, layer = self.program, self.layer
        network = program.network
        threads = network.config.threads
        sources = [
            Source(program.source_address(number, self.frame), network.tensor(number).layout, threads)
            for number in layer.sources
        ]
        exponents = [network.tensor(number).exponent for number in (layer.sources[0], layer.sources[-1])]
        return DlhdlRun(
            layer.kind,
            sources[0],
            sources[1] if len(sources) > 1 else None,
            Operands(*program.operands(self.number)) if layer.kind.has_weights else None,
            self.tensor.layout,
            layer.window,
            (exponents[0], exponents[1], layer.weight_exponent, self.tensor.exponent),
            layer.relu,
            threads,
        )

    def run(self) -> Run:
        """Return the run that the core should have made of it."""
        return Run(self.engine(), Walk.of(self.layout, self.address))


@dataclass(frozen=True, eq=False)
class LayerExpectation(Expected):
    """The result of one layer for one frame; padding lanes are 0, and singles those nearest to the value."""

    layout: ModuleDataLayout
    value: Value

    @property
    def slack(self) -> float:
        """The largest bound of an element; 0 for int8."""
        return float(self.value.bound.max()) if isinstance(self.value, Bounded) else 0.0

    @property
    def element_bytes(self) -> int:
        """Bytes of one element."""
        return self.layout.data_type.dtype.itemsize

    def meter(self) -> BoundedResult | None:
        """Return what judges a result in single; int8 is compared to the bit."""
        return BoundedResult(self, self.value) if isinstance(self.value, Bounded) else None

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the element that a byte belongs to, or None in a padding lane."""
        return self.layout.element_at(offset_bytes)


def expectations(program: Program, values: list[Value], frame: int, first: int) -> list[LayerExpectation]:
    """Return what the core must write for a frame, in its order.

    ``values`` are the results of its layers, ``first`` is the index of the first one among all layers of the run.
    """
    found = []
    for number, value in enumerate(values):
        played = PlayedLayer(program, number, frame)
        layout = played.tensor.layout
        data = layout.pack(value.value.astype(np.float32) if isinstance(value, Bounded) else value)
        must_write = np.ones(len(data), dtype=np.bool_)
        started = started_layer(played, first + number)
        found.append(LayerExpectation(started, Ram.ACTIVATION, played.address, layout, data, must_write, value))
    return found


def started_layer(played: PlayedLayer, index: int) -> Started[PlayedLayer]:
    """Return a layer with its identity; ``index`` counts all layers of a run, and registers have one group."""
    return Started(index, played.layer.kind.name, 0, played, frame=played.frame)


class BoundedResult:
    """The bytes that the core wrote of a result in single, each element judged when it is whole."""

    def __init__(self, expectation: LayerExpectation, value: Bounded) -> None:
        """Start with nothing written."""
        self.bytes: NDArray[np.uint8] = np.zeros(len(expectation.data), dtype=np.uint8)
        self._written = np.zeros(len(expectation.data), dtype=np.bool_)
        self._expectation = expectation
        self._layout = expectation.layout
        self._width = expectation.element_bytes
        # The number of the value in each lane: numbers are packed like the values, and 0 is padding.
        order = np.arange(1, value.value.size + 1, dtype="<u4").view("<f4").reshape(value.value.shape)
        self._places = self._layout.pack(order).view("<u4").astype(np.int64) - 1
        self._is_padding = self._places < 0
        self._flat = (value.value.reshape(-1), value.bound.reshape(-1))
        self._used = np.full(len(self._places), np.nan)

    def write(self, offsets: NDArray[np.int64], values: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Take bytes and judge the elements that they complete; padding lanes must be +0.

        Returns:
            For each byte, whether its element became whole with this call and is wrong.
        """
        self.bytes[offsets] = values
        self._written[offsets] = True
        whole = self._written.reshape(-1, self._width).all(axis=1)
        fresh = whole & np.isnan(self._used)
        self._used[fresh] = self._parts(fresh)
        marked: NDArray[np.bool_] = (fresh & (self._used > 1.0))[offsets // self._width]
        return marked

    def explain(self, element: Element) -> str:
        """Return the value of a wrong element, the expected one, and the bound."""
        layout = self._layout
        lane = layout.offset(*element[: len(layout.shape)]) // self._width
        got = self.bytes.view(np.float32)[lane]
        value, bound = (float(part[self._places[lane]]) for part in self._flat)
        return f"{got:.9g} instead of {value:.9g} within {bound:.3g}, {RULE}"

    @property
    def margin(self) -> Margin | None:
        """The largest part of a bound used so far, or None before the first whole element."""
        judged = ~np.isnan(self._used) & ~self._is_padding
        if not judged.any():
            return None
        worst = int(np.argmax(np.where(judged, self._used, -1.0)))
        element = self._expectation.element_at(worst * self._width)
        assert element is not None
        part = float(self._used[worst])
        name = self._expectation.id.name
        return Margin(name, MODULE, RULE, int(judged.sum()), part if np.isfinite(part) else None, element)

    def _parts(self, fresh: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the part of its bound that each fresh element uses; more than 1 is wrong."""
        got = self.bytes.view(np.float32)[fresh].astype(np.float64)
        raw = self.bytes.view(np.uint32)[fresh]
        places = self._places[fresh]
        value, bound = self._flat[0][places], self._flat[1][places]
        with np.errstate(invalid="ignore", divide="ignore"):
            distance = np.abs(got - value)
            part = np.where(distance == 0, 0.0, distance / bound)
        part = np.where(np.isnan(part), np.inf, part)
        result: NDArray[np.float64] = np.where(self._is_padding[fresh], np.where(raw == 0, 0.0, np.inf), part)
        return result
