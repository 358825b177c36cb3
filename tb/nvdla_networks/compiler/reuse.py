"""What convolutions leave in the convolution buffer for the next one: weights, and lines of the same value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from nvdla_models.cbuf import bank_bytes
from nvdla_networks.compiler.plan import Layered
from nvdla_tb.nvdla.layers import Layer, PooledLayer, convolution_of


@dataclass(frozen=True)
class Placed:
    """A layer, and the step that it belongs to with its number."""

    number: int
    step: Layered
    layer: Layer


def reusing(layers: Iterable[Placed]) -> list[Placed]:
    """Return all layers of a network, as they run, convolutions with the flags of what they keep and reuse.

    Between two convolutions the buffer changes only by these, whatever other engines do.
    """
    done: list[Placed] = []
    last: int | None = None
    for placed in layers:
        conv = convolution_of(placed.layer)
        if conv is not None and last is not None:
            before = convolution_of(done[last].layer)
            assert before is not None
            # Others may have been at the place of a value, but no other has its name. Images have one user.
            banks = before.cbuf.data_banks == conv.cbuf.data_banks
            data = banks and done[last].step.inputs[0] == placed.step.inputs[0] and before.src == conv.src
            room = bank_bytes(conv.weights.layout.config, conv.cbuf.weight_banks)
            weights = banks and before.weights == conv.weights and conv.weights.layout.nbytes <= room
            if data or weights:
                done[last] = _with(done[last], skip_data_release=data, skip_weight_release=weights)
                placed = _with(placed, reuse_data=data, reuse_weights=weights)
        if conv is not None:
            last = len(done)
        done.append(placed)
    return done


def _with(placed: Placed, **flags: bool) -> Placed:
    layer = placed.layer
    conv = convolution_of(layer)
    assert conv is not None
    conv = replace(conv, cbuf=replace(conv.cbuf, **flags))
    return replace(placed, layer=replace(layer, producer=conv) if isinstance(layer, PooledLayer) else conv)
