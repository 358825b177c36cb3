"""Start cocotb without pytest, a quarter of its start: cocotb imports it only for tests that use ``pytest.raises``.

``PYGPI_USERS=tb.sim.lean:load`` makes this the first Python that a simulator runs.
"""

import os
import sys
from types import ModuleType, SimpleNamespace

import pygpi.entry


class _NeverRaised(BaseException):
    """In the place of the exception with which ``pytest.raises`` fails a test."""


def load() -> None:
    """Stand in for what cocotb takes from pytest, and load cocotb as usual."""
    _stand_in("pytest", raises=SimpleNamespace(Exception=_NeverRaised))
    # Only imported: COCOTB_REWRITE_ASSERTION_FILES="" says that assertions stay as they are.
    _stand_in("_pytest")
    _stand_in("_pytest.assertion", install_importhook=None)
    _stand_in("_pytest.config", Config=None)
    del os.environ["PYGPI_USERS"]
    pygpi.entry.load_entry()


def _stand_in(name: str, **attributes: object) -> None:
    module = ModuleType(name)
    vars(module).update(attributes)
    sys.modules[name] = module
