"""What a program loads into memory, and before which of its layers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.writers import SeenLayer
from nvdla_tb.nvdla.engines import CHAINS
from nvdla_tb.nvdla.program.ops import MemInit, MemLoad, Op, RegWrite

_ENABLE = ".D_OP_ENABLE"
_DONE_UNITS = {chain.name: chain.done_unit for chain in CHAINS}


def with_loads(seen: Seen, ops: Iterable[Op]) -> tuple[Seen, list[Patch]]:
    """Return a run whose layers know what was loaded right before them, and what was loaded before all.

    ::

        seen, initial = with_loads(seen, ops)
        evidence = list(seen.evidence(initial))

    A layer begins where the program enables the unit that ends it. Where that is not known, as of layers that a test
    enables by itself, all is taken for loaded before the first.
    """
    loads: list[tuple[int, Patch]] = []
    enables: dict[str, list[int]] = {}
    for at, op in enumerate(ops):
        loads += [(at, patch) for patch in _loaded(op)]
        if isinstance(op, RegWrite) and op.register.endswith(_ENABLE) and op.value:
            enables.setdefault(op.register.removesuffix(_ENABLE), []).append(at)
    begins = _begins(seen.layers, enables)
    if begins is None:
        return seen, [patch for _, patch in loads]
    given: list[list[Patch]] = [[] for _ in begins]
    for at, patch in loads:
        # The first layer in order that is enabled after it; what comes after all is nobody's.
        number = bisect_right(begins, at)
        if number < len(given):
            given[number].append(patch)
    first, *others = given
    if not any(others):
        return seen, first
    layers = [replace(layer, given=tuple(own)) for layer, own in zip(seen.layers[1:], others, strict=True)]
    return replace(seen, layers=(seen.layers[0], *layers)), first


def _begins(layers: Sequence[SeenLayer], enables: Mapping[str, Sequence[int]]) -> list[int] | None:
    """Return where in the program each layer begins, or one before it that begins later; None where it is not known."""
    if not layers or layers[0].started.index:
        return None
    taken: Counter[str] = Counter()
    begins: list[int] = []
    for layer in layers:
        if layer.started.cube:
            begins.append(begins[-1])
            continue
        unit = _DONE_UNITS.get(layer.started.engine, "")
        places = enables.get(unit, ())
        if taken[unit] == len(places):
            return None
        begins.append(max([places[taken[unit]], *begins[-1:]]))
        taken[unit] += 1
    return begins


def _loaded(op: Op) -> Iterator[Patch]:
    """Yield the data that an operation loads into memory."""
    if isinstance(op, MemInit):
        yield Patch(op.address, np.full(op.nbytes, op.value, dtype=np.uint8), np.ones(op.nbytes, dtype=np.bool_))
    elif isinstance(op, MemLoad):
        for offset, chunk in op.chunks:
            data = np.frombuffer(chunk, dtype=np.uint8)
            yield Patch(op.address + offset, data, np.ones(len(data), dtype=np.bool_))
