"""Judges the elements of a surface by their tolerance, each once both of its bytes are written."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.fp16 import FP16
from nvdla_models.layout import Element, FeatureLayout
from nvdla_models.precision import Precision
from nvdla_models.tolerance import Tolerance, integer_parts_used, parts_used
from nvdla_tb.judge.expected import Expected
from nvdla_tb.judge.verdict import Margin

_WHOLE = 0xFFFF


@dataclass(frozen=True, eq=False)
class Tolerated:
    """The measure of the elements of a surface of FP16, or of INT16 made of it, unless bytes are compared exactly.

    Attributes:
        reference: (padded channels, H, W), float64 and not clipped, or uint16 patterns when the rule allows
            no difference. Of INT16, the integers.
        tolerance: the rule, with an allowance for each of these elements.
    """

    reference: NDArray[Any]
    tolerance: Tolerance


class ToleratedSurface:
    """The bytes that the DUT wrote of one surface, and how much of its tolerance every element used."""

    def __init__(self, expectation: Expected, tolerated: Tolerated) -> None:
        """Start with nothing written."""
        layout = expectation.layout
        assert isinstance(layout, FeatureLayout)
        self.bytes: NDArray[np.uint8] = np.zeros(len(expectation.data), dtype=np.uint8)
        self._layer = expectation.id.name
        self._tolerated = tolerated
        self._padded = layout.whole_atoms
        self._shape = self._padded.shape
        self._part: NDArray[np.float64] = np.full(self._shape, np.nan)
        self._written: NDArray[np.uint8] = np.zeros_like(self.bytes)

    def write(self, offsets: NDArray[np.int64], values: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Take bytes and judge the elements that they complete.

        Args:
            offsets: Offsets of the bytes in the surface, each not written before.
            values: The bytes.

        Returns:
            For each byte, whether its element became whole with this call and is wrong.
        """
        self.bytes[offsets] = values
        self._written[offsets] = 0xFF
        fresh = (self._elements(self._written) == _WHOLE) & np.isnan(self._part)
        if not fresh.any():
            return np.zeros(len(offsets), dtype=np.bool_)
        used = self._used(fresh)
        self._part[fresh] = used
        wrong = np.zeros(self._shape, dtype=np.uint16)
        wrong[fresh] = np.where(used > 1.0, _WHOLE, 0)
        marked: NDArray[np.bool_] = self._padded.pack(wrong.view(self._padded.precision.dtype))[offsets] != 0
        return marked

    def _used(self, fresh: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return which part of its allowance each of some elements uses."""
        rule, reference = self._tolerated.tolerance, self._tolerated.reference[fresh]
        elements = self._elements(self.bytes)[fresh]
        allowance = None if rule.allowance is None else rule.allowance[fresh]
        if self._padded.precision is Precision.INT16:
            assert allowance is not None
            return integer_parts_used(reference, elements.view(np.int16), allowance)
        return parts_used(reference, elements, Tolerance(rule.module, rule.rule, allowance))

    def explain(self, element: Element) -> str:
        """Return the value of a wrong element, the expected one, and the rule that it breaks."""
        rule, reference = self._tolerated.tolerance, self._tolerated.reference
        pattern = self._elements(self.bytes)[element][np.newaxis]
        got = pattern.view(np.int16)[0] if self._padded.precision is Precision.INT16 else FP16.decode(pattern)[0]
        if rule.allowance is None:
            expected = FP16.decode(reference[element][np.newaxis])[0]
            return f"{got:.9g} instead of {expected:.9g}, {rule.rule}"
        return f"{got:.9g} instead of {reference[element]:.9g} within {rule.allowance[element]:.3g}, {rule.rule}"

    @property
    def margin(self) -> Margin | None:
        """The largest part of an allowance used so far, or None before the first whole element."""
        judged = ~np.isnan(self._part)
        if not judged.any():
            return None
        worst = int(np.argmax(np.where(judged, self._part, -1.0)))
        c, h, w = (int(value) for value in np.unravel_index(worst, self._shape))
        rule = self._tolerated.tolerance
        return Margin(
            self._layer,
            rule.module.value,
            rule.rule,
            int(np.count_nonzero(judged)),
            float(self._part[c, h, w]) if isfinite(self._part[c, h, w]) else None,
            Element(c, h, w),
        )

    def _elements(self, data: NDArray[np.uint8]) -> NDArray[np.uint16]:
        cube: NDArray[np.uint16] = self._padded.unpack(data).view(np.uint16)
        return cube
