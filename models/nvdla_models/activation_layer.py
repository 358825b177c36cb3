"""A layer that computes a function of one element by tables, and how far it is from the function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import cdp, sdp
from nvdla_models.activation import Floats, Function, Tables, tables
from nvdla_models.cdp import CdpParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_models.fixed_point import OPERAND_MOST, multipliers
from nvdla_models.lut import LutUnit
from nvdla_models.precision import Precision
from nvdla_models.sdp import Operands, SdpParams, SdpStage, YStage, output_converter


@dataclass(frozen=True, eq=False)
class FunctionLayer:
    """A function over a range, from integers to integers; both sides are symmetric, their zero is 0.

    Example::

        layer = FunctionLayer.of(FUNCTIONS["sigmoid"], -8, 8, Precision.INT8, LutUnit.SDP)
        print(layer.accuracy().worst)

    Attributes:
        function: The function.
        range: Where it begins and ends.
        precision: Of input and output.
        unit: The unit that computes it: Y of SDP, or CDP.
        tables: Both tables, with the steps of their input and result.
        src_scale: The real number that an integer 1 of the input stands for.
        dst_scale: Likewise of the output.
        scale: Multiplier before the tables, and its right shift: X1 of SDP.
        convert: Multiplier behind the tables, and its right shift: the output converter.
    """

    function: Function
    range: tuple[float, float]
    precision: Precision
    unit: LutUnit
    tables: Tables
    src_scale: float
    dst_scale: float
    scale: tuple[int, int]
    convert: tuple[int, int]

    @classmethod
    def of(cls, function: Function, low: float, high: float, precision: Precision, unit: LutUnit) -> FunctionLayer:
        """Return the layer whose integers just hold the range and the results.

        Raises:
            InputError: for FP16, a range that does not go up, and a function that is not finite in it.
        """
        if precision is Precision.FP16:
            raise InputError("precision must be INT8 or INT16: tables of FP16 are not made")
        most = precision.limits[1]
        src_scale = max(-low, high) / most
        if unit is LutUnit.SDP:
            found = tables(function, low, high, least_step=src_scale / OPERAND_MOST)
        else:
            found = tables(function, low, high, step=src_scale, unit=unit)
        with np.errstate(all="ignore"):
            dst_scale = (float(np.abs(function(np.linspace(low, high, 1 << 12))).max()) or 1.0) / most
        scale, shift = multipliers(np.full(1, src_scale / found.step))
        after, after_shift = multipliers(np.full(1, found.unit / dst_scale))
        steps = (int(scale[0]), shift), (int(after[0]), after_shift)
        return cls(function, (low, high), precision, unit, found, src_scale, dst_scale, *steps)

    @property
    def params(self) -> SdpParams | CdpParams:
        """What the unit does; the multiplier of X1 is ``scale[0]``."""
        if self.unit is LutUnit.CDP:
            neutral = Converter(0, 1, 0, ConverterEncoding.CDP_INPUT)
            output = Converter(0, *self.convert, ConverterEncoding.CDP_OUTPUT)
            return CdpParams(None, False, neutral, output, self.tables.lut, self.precision)
        x1 = SdpStage(None, 0, True, False, self.scale[1], False)
        y = YStage(alu=None, mul=False, lut=self.tables.lut)
        return SdpParams(x1, None, output_converter(0, *self.convert), self.precision, self.precision, y)

    def computed(self, integers: NDArray[Any]) -> NDArray[Any]:
        """Return what the model of the unit makes of some integers, (N,), bit by bit."""
        cube, params = integers.astype(self.precision.dtype).reshape(-1, 1, 1), self.params
        if isinstance(params, CdpParams):
            return cdp.run(params, cube, len(cube)).ravel()
        operands = Operands(None, np.array(self.scale[0])), None, Operands(None, None)
        return sdp.run(params, cube, *operands).ravel()

    def accuracy(self) -> Accuracy:
        """Return how far every integer of the input that lies in the range is from the function."""
        low, high = (value / self.src_scale for value in self.range)
        integers = np.arange(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
        if not len(integers):
            raise InputError(f"range must hold integers of {self.precision.name}")
        x = integers.astype(np.float64) * self.src_scale
        exact = self.function(np.clip(x, *self.range))
        computed = self.computed(integers).astype(np.float64) * self.dst_scale
        return Accuracy(x, exact, computed, self.dst_scale)


@dataclass(frozen=True, eq=False)
class Accuracy:
    """The result of tables beside the function.

    Attributes:
        x: Every input, (N,).
        exact: The function of it.
        computed: What the hardware makes of it, as a real number.
        step: The real number that an integer 1 of the result stands for; rounding alone errs by half of it.
    """

    x: Floats
    exact: Floats
    computed: Floats
    step: float

    @property
    def errors(self) -> Floats:
        """The magnitude of each difference."""
        return np.asarray(np.abs(self.computed - self.exact))

    @property
    def worst(self) -> float:
        """The largest difference."""
        return float(self.errors.max())

    @property
    def mean(self) -> float:
        """The mean difference."""
        return float(self.errors.mean())
