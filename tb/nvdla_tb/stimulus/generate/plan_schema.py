"""The JSON schema of plan files: what their types say, with the variants, ``each`` and ``times`` of plans around it."""

from __future__ import annotations

from typing import Any

from nvdla_models.limits import LAYERS
from nvdla_tb.json_schema import DIALECT, schema_parts
from nvdla_tb.stimulus.generate.layers.entries import Entry
from nvdla_tb.stimulus.generate.plan_file import PlanFile


def plan_schema(file: type[PlanFile], scenario: type[Entry]) -> dict[str, Any]:
    """Return the schema of a system's plan files.

    Args:
        file: What the file holds.
        scenario: What it says of a scenario, whose layers are those of the key ``layer``.
    """
    (whole, one), parts = schema_parts(file, scenario)
    described = parts[scenario.__name__]
    text = {"type": "string"}
    # What a scenario lacks may be in a variant, and what a layer lacks below ``each``: a schema cannot tell.
    described |= {"required": [], "properties": {"name": text, "about": text, **described["properties"]}}
    described["properties"]["markers"] = {"type": "array", "items": text}
    for layer in described["properties"]["layer"]["items"]["anyOf"]:
        _with_each(parts[layer["$ref"].rpartition("/")[2]])
    properties = parts[file.__name__]["properties"]
    properties["scenario"]["items"] = {**one, "required": ["name"]}
    properties["variant"]["additionalProperties"] = {**one, "required": ["about"]}
    return {"$schema": DIALECT, **whole, "$defs": parts}


def _with_each(layer: dict[str, Any]) -> None:
    """Let a layer stand for several: one for each of some values, or so many times."""
    properties = layer["properties"]
    each = {key: {"type": "array", "items": kind} for key, kind in properties.items() if "const" not in kind}
    properties["each"] = {"type": "object", "properties": each, "additionalProperties": False}
    properties["times"] = {"type": "integer", "minimum": 1, "maximum": LAYERS}
    layer["required"] = []
