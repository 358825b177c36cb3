"""Causes in FP16 numbers: denormals, infinities, NaN, signs of zero, rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from tb.explain.cause import Cause, Way
from tb.explain.causes import reach
from tb.explain.evidence import Evidence
from tb.explain.run import Run
from tb.explain.walk import Cube

_SIGN, _MAGNITUDE, _INFINITY, _LARGEST, _SMALLEST_NORMAL = 0x8000, 0x7FFF, 0x7C00, 0x7BFF, 0x0400


def _patterns(change: Callable[[Cube], Cube]) -> Callable[[Cube], Cube]:
    """Make a change of bit patterns one of FP16 numbers."""
    return lambda cube: change(np.ascontiguousarray(cube).view("<u2")).astype("<u2").view(cube.dtype)


def _flush(bits: Cube) -> Cube:
    return np.where((bits & _MAGNITUDE) < _SMALLEST_NORMAL, bits & _SIGN, bits)


def _flush_positive(bits: Cube) -> Cube:
    return np.where((bits & _MAGNITUDE) < _SMALLEST_NORMAL, 0, bits)


def _overflow(bits: Cube) -> Cube:
    return np.where((bits & _MAGNITUDE) == _LARGEST, (bits & _SIGN) | _INFINITY, bits)


def _clip(bits: Cube) -> Cube:
    return np.where((bits & _MAGNITUDE) == _INFINITY, (bits & _SIGN) | _LARGEST, bits)


def _is_nan(bits: Cube) -> Cube:
    return (bits & _MAGNITUDE) > _INFINITY


_WAYS: tuple[tuple[str, str, str, Callable[[Cube], Cube]], ...] = (
    ("denormal", "FP16: denormals", "flushed to zero", _flush),
    ("denormal", "FP16: denormals", "flushed to +0", _flush_positive),
    ("infinity", "FP16: infinity", "instead of ±65504", _overflow),
    ("infinity", "FP16: infinity", "clipped to ±65504", _clip),
    ("nan", "FP16: NaN", "replaced by 0", lambda bits: np.where(_is_nan(bits), 0, bits)),
    ("nan", "FP16: NaN", "without payload", lambda bits: np.where(_is_nan(bits), 0x7E00, bits)),
    ("nan", "FP16: NaN", "without sign", lambda bits: np.where(_is_nan(bits), bits & _MAGNITUDE, bits)),
    ("zero", "FP16: sign of zero", "lost", lambda bits: np.where(bits == _SIGN, 0, bits)),
    ("last-place", "FP16: rounding", "last bit cut off", lambda bits: bits & 0xFFFE),
)


def _of(key: str, evidence: Evidence, run: Run) -> Iterator[Way]:
    if run.dst.dtype.kind == "f":
        for kind, _, detail, change in _WAYS:
            if kind == key:
                yield Way(detail, partial(replace, run, values=(*run.values, _patterns(change))))


def _of_inputs(evidence: Evidence, run: Run) -> Iterator[Way]:
    for detail, change in (("flushed to zero", _flush), ("flushed to +0", _flush_positive)):
        for name, walk in (*reach.inputs(run), *reach.operands(run)):
            if walk.value.dtype.kind == "f":
                whose = f"operands of {name}" if name else "input"
                yield Way(f"of the {whose} {detail}", walk.other(twist=_patterns(change)))


CAUSES = (
    *(
        Cause(f"fp16-{key}", about, partial(_of, key))
        for key, about in {kind: about for kind, about, _, _ in _WAYS}.items()
    ),
    Cause("fp16-denormal-inputs", "FP16: denormals", _of_inputs, reruns=True),
)
