"""Scenarios as the text of a plan file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from nvdla_tb.stimulus.generate.draw.numbers import Description

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def plan_text(
    config: str, scenarios: Iterable[tuple[str, str, Description]], about: str = "", seed: int | None = None
) -> str:
    """Return a plan.

    ::

        plan_text("nv_small", [("one", "a layer of SDP", {"layer": [{"engine": "SDP", "shape": [8, 1, 1]}]})])

    Args:
        config: configuration of the plan.
        scenarios: name, purpose and keys of each.
        about: comment at the top.
        seed: the seed with which they are played unless a command names another.

    Raises:
        TypeError: for a value that no plan holds.
    """
    head = f"# {about}\n" if about else ""
    own = "" if seed is None else f"seed = {_value(seed)}\n"
    return "\n".join([f"{head}config = {_value(config)}\n{own}", *(scenario_text(*each) for each in scenarios)])


def scenario_text(name: str, about: str, data: Description) -> str:
    """Return one scenario of a plan: a line for each key, and for each layer."""
    lines = ["[[scenario]]", f"name = {_value(name)}", f"about = {_value(about)}"]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in data.items() if key != "layer"]
    if "layer" in data:
        lines += ["layer = [", *(f"    {_value(layer)}," for layer in data["layer"]), "]"]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            # The escapes of JSON are those of TOML, but for DEL, which TOML wants escaped as well.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return f"{{ {', '.join(f'{_key(key)} = {_value(each)}' for key, each in value.items())} }}"
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case int() | float():
            return repr(value)
    raise TypeError(f"a plan holds tables, lists, texts and numbers, not {type(value).__name__}")
