"""Jobs: what a simulator process is started with."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.config import HwConfig
from tb.launch.build import BuildSpec, Built
from tb.regress.jobs import lean_environment

BUILT = Built(
    BuildSpec(HwConfig.load("nv_small")), Path("/builds/model"), Path("/builds/model/build.log"), None, 0.0, True
)


def test_bytecode_lies_beside_the_sources_unless_that_is_unwanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    plain = lean_environment(BUILT)
    assert plain["COCOTB_REWRITE_ASSERTION_FILES"] == ""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    moved = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": "/builds/bytecode"}
    assert lean_environment(BUILT) == {**plain, **moved}
