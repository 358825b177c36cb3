"""Pieces of Verilog."""

from __future__ import annotations

from collections.abc import Sequence


def instance(module: str, name: str, connections: Sequence[str]) -> str:
    """Return an instance of a module.

    Args:
        module: Its name, and its parameters if it has any.
        name: That of the instance.
        connections: Each as ``.pin(net)``.
    """
    return f"  {module} {name} (\n" + ",\n".join(f"    {line}" for line in connections) + "\n  );\n"


def vector(width: int) -> str:
    """Return the range of a net, or nothing for one of one bit."""
    return f"[{width - 1}:0] " if width > 1 else ""
