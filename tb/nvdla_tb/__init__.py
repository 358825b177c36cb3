"""The NVDLA testbench; everything outside ``nvdla_tb.sim`` runs without a simulator.

A test imports its names from here, as in ``from nvdla_tb import Bench, Conv``:

    ``Bench``                            the DUT with its memories and the judge
    ``Conv``, ``Sdp``, ``Pdp``, ``Cdp``  layers of the compute engines
    ``WidthSplit``                       sizes of the parts that ``Pdp`` cuts a width into
    ``Rubik``, ``Bdma``                  layers that move data
    ``Precision``, ``Ram``, ``Check``    data types, memory ports, and kinds of findings
    ``BenchSettings``, ``PortSettings``  latency, stalls and strictness
    ``HwConfig``, ``MemoryImage``, ``InputError``

Agents for a test bench of one's own, bound to its pins:

    ``CsbBus``, ``CsbMaster``, ``CsbMonitor``       the register port
    ``DbbBus``, ``DbbMemory``, ``DbbMonitor``       a memory port
    ``InterruptAgent``, ``InterruptMonitor``        the interrupt line
    ``PortJudge``                                   the judge, fed by monitors

``help(nvdla_tb.Conv)`` shows the arguments of each. They are imported on first use, because every command and every
pytest run in an environment with the testbench imports this package.
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

    def __dir__() -> list[str]:
        """Return the public names, for completion in a shell or an editor."""
        own = {name for name in globals() if name.startswith("__")}
        return sorted(own | set(import_module(f"{__name__}.api").__all__))
