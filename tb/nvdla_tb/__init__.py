"""The NVDLA testbench; everything outside ``nvdla_tb.sim`` runs without a simulator.

``from nvdla_tb import Bench, Conv`` is its front door: the names of ``api``. They are imported when one of them is
asked for: each command, and each pytest run in an environment with the testbench, imports this package, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nvdla_tb.api import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """Return a public name of ``api``."""
        if not name.startswith("_"):
            api = import_module(f"{__name__}.api")
            if name in api.__all__:
                return getattr(api, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
