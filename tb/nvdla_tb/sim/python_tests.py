"""The module that cocotb loads for a test in Python: it has what the user's has, and notes what that raises."""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from nvdla_tb.sim.raised import RaisedNote
from nvdla_tb.stimulus.exchange import RAISED_FILE, Request

_request = Request.from_env()
assert _request.module is not None
assert _request.result is not None
_found = find_spec(_request.module)
_note = RaisedNote(Path(_request.result).with_name(RAISED_FILE), str(_found and _found.origin))
logging.getLogger("cocotb").addHandler(_note)
try:
    _tests = import_module(_request.module)
except Exception as error:
    _note.leave(error)
    raise
globals().update({name: value for name, value in vars(_tests).items() if not name.startswith("_")})
