"""Packages that load a module when one of its names is first asked for.

Python takes a millisecond for nearly every dataclass that it defines, so a simulator that plays one engine does
not load the layouts and layers of all others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def late_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names are loaded late.

    Args:
        package: Its full name.
        modules: For each module, the names that it defines, with spaces between them.

    Source: PEP 562.
    """
    holder = {name: module for module, names in modules.items() for name in names.split()}

    def late(name: str) -> Any:
        if name not in holder:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(holder[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return late
