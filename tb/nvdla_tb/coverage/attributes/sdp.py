"""Attributes of SDP, from memory and on the fly."""

from __future__ import annotations

from nvdla_models.sdp import SdpStage
from nvdla_tb.coverage.attributes.values import (
    Attributes,
    carry,
    converter_attributes,
    gap_attributes,
    size_attributes,
    yes,
)
from nvdla_tb.nvdla.layers import ConvLayer, SdpLayer, StageSource, is_per_channel


def sdp_attributes(layer: SdpLayer) -> Attributes:
    """Return the attributes of an SDP layer from memory to memory."""
    return {
        **size_attributes(layer.src.layout),
        **gap_attributes("src", layer.src),
        **gap_attributes("dst", layer.dst),
        "output": "memory",
        "in_place": yes((layer.src.ram, layer.src.address) == (layer.dst.ram, layer.dst.address)),
        **processing_attributes(layer),
    }


def processing_attributes(layer: SdpLayer | ConvLayer) -> Attributes:
    """Return the attributes of SDP's processing."""
    params = layer.params if isinstance(layer, SdpLayer) else layer.sdp
    active = [name for name in ("x1", "x2", "y") if getattr(params, name) is not None]
    return {
        "input_precision": params.input_precision.name,
        "output_precision": params.output_precision.name,
        "nan_to_zero": yes(params.nan_to_zero),
        "stages": "+".join(active) or "none",
        **_stage("x1", params.x1, layer.x1),
        **_stage("x2", params.x2, layer.x2),
        **converter_attributes("converter", params.converter),
    }


def _stage(name: str, stage: SdpStage | None, source: StageSource | None) -> Attributes:
    """Return the attributes of X1 or X2; all of them are None when it is bypassed."""
    if stage is None:
        return dict.fromkeys(_stage(name, SdpStage(None, 0, False, False, 0, False), None))
    source = source or StageSource()
    memory = None if source.memory is None else source.memory.layout
    per = None if memory is None else "channel" if is_per_channel(memory) else "element"
    works = ("alu" if stage.alu else "") + ("+" if stage.alu and stage.mul else "") + ("mul" if stage.mul else "")
    values: Attributes = {
        "works": works or "neither",
        "alu": None if stage.alu is None else stage.alu.value,
        "alu.from": None if stage.alu is None else per if source.alu is None else "register",
        "alu.register": source.alu,
        "alu.shift": None if stage.alu is None else stage.alu_shift,
        "mul.from": None if not stage.mul else per if source.mul is None else "register",
        "mul.register": source.mul,
        "mul.shift": stage.mul_shift,
        "prelu": yes(stage.mul_prelu) if stage.mul else None,
        "relu": yes(stage.relu),
        "memory": per,
        "memory.holds": None if memory is None else "+".join(memory.components),
        "memory.bytes": None if memory is None else memory.component_bytes,
        "memory.channels": memory.shape[0] if memory is not None and per == "channel" else None,
        "memory.gap": None,
        "memory.carry": None if source.memory is None else carry(source.memory.address, source.memory.layout.nbytes),
    }
    if memory is not None and per == "element" and memory.shape[1] > 1:
        packed = type(memory).packed(
            memory.config, memory.precision, memory.shape, memory.components, memory.component_bytes
        )
        values["memory.gap"] = yes(memory != packed)
    return {f"{name}.{key}": value for key, value in values.items()}
