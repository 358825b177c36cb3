"""JSON schemas of files: what they allow is what the files of the testbench hold, and nothing beside it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dlhdl_tb.config import PLAN as DLHDL_PLAN
from nvdla_tb.cli.schema import FILES
from nvdla_tb.paths import HDL, PLANS
from tests.unit.conftest import Run

PYTHON = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def wrong(value: Any, schema: dict[str, Any], parts: dict[str, Any], path: str = "$") -> list[str]:
    """Return the paths of what a schema does not allow; of its words, just those that ours have."""
    if "$ref" in schema:
        merged = {**parts[schema["$ref"].rpartition("/")[2]], **{k: v for k, v in schema.items() if k != "$ref"}}
        return wrong(value, merged, parts, path)
    if "anyOf" in schema:
        found = [wrong(value, one, parts, path) for one in schema["anyOf"]]
        return [] if [] in found else min(found, key=len)
    if "enum" in schema or "const" in schema:
        return [] if value in schema.get("enum", [schema.get("const")]) else [path]
    kind = schema.get("type")
    if kind in ("integer", "number"):
        is_number = isinstance(value, int if kind == "integer" else (int, float)) and not isinstance(value, bool)
        fits = is_number and schema.get("minimum", value) <= value <= schema.get("maximum", value)
        return [] if fits else [path]
    if kind is not None and not isinstance(value, PYTHON[kind]):
        return [path]
    if isinstance(value, list):
        kinds = [*schema.get("prefixItems", []), *[schema.get("items") or {}] * len(value)]
        return [bad for n, each in enumerate(value) for bad in wrong(each, kinds[n], parts, f"{path}[{n}]")]
    if isinstance(value, dict):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", {})
        bad = [f"{path}.{key}" for key in schema.get("required", []) if key not in value]
        for key, each in value.items():
            if key not in properties and more is False:
                bad.append(f"{path}.{key}")
            else:
                bad += wrong(each, properties.get(key, more or {}), parts, f"{path}.{key}")
        return bad
    return []


def problems(text: str, kind: str, config: str = "nv_small") -> list[str]:
    schema = FILES[kind](config)
    return wrong(tomllib.loads(text), schema, schema["$defs"])


SHIPPED = [
    *((path, "plan", "nv_small") for path in sorted(PLANS.glob("nv_*.toml"))),
    (DLHDL_PLAN, "plan", "dlhdl_int8_4"),
    (PLANS / "features.toml", "features", "nv_small"),
    *((path, "ports", "nv_small") for path in sorted((HDL / "wrapped").glob("*.toml"))),
]


@pytest.mark.parametrize(("path", "kind", "config"), SHIPPED, ids=lambda value: getattr(value, "name", value))
def test_files_of_the_testbench_are_what_their_schema_allows(path: Path, kind: str, config: str) -> None:
    assert problems(path.read_text(encoding="utf-8"), kind, config) == []


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("scenario = []\n", "plan", ["$.config"]),
        ('config = "c"\n[[scenario]]\nname = "a"\nlayer = [{ engine = "PDP", krenel = [1, 2] }]\n', "plan", None),
        ('config = "c"\n[[scenario]]\nname = "a"\nsettings = { port = { ready_stall = -1 } }\n', "plan", None),
        ('config = "c"\n[[scenario]]\nname = "a"\nlayer = [{ each = { shpae = [[1, 1, 1]] } }]\n', "plan", None),
        ('[csb]\nkind = "apc"\n', "ports", None),
        ('rlt = "a"\n', "project", ["$.rlt"]),
    ],
)
def test_what_no_file_may_hold_is_marked_in_editors(text: str, kind: str, expected: list[str] | None) -> None:
    found = problems(text, kind)
    assert found
    assert expected in (None, found)


def test_each_key_says_what_it_is(tb: Run) -> None:
    parts = json.loads(tb("schema plan").out)["$defs"]
    for name in ("SdpEntry", "ConvEntry", "PdpEntry", "CdpEntry", "RubikEntry", "BdmaEntry", "ScenarioEntry"):
        keys = parts[name]["properties"]
        silent = [key for key, one in keys.items() if "description" not in one]
        assert set(silent) <= {"engine", "each", "times", "name", "about", "markers", *AS_OTHERS}, name


AS_OTHERS = ("shape", "precision", "src_gaps", "numbers", "carry", "pool")
"""Keys of PDP that are those of all layers."""
