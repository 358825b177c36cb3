"""Compiled models of the tiny RTL, each built once per test run, whichever process of it comes first."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from tests.repository import UNOPTIMISED
from tests.unit.run.compile.tiny import CONFIG, write_rtl

HAS_ICARUS = shutil.which("iverilog") is not None
needs_icarus = pytest.mark.skipif(not HAS_ICARUS, reason="Icarus is not installed: apt-get install iverilog")


@pytest.fixture(autouse=True)
def unoptimised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile for tests of a few cycles."""
    monkeypatch.setenv("MAKEFLAGS", UNOPTIMISED)


def _model(factory: pytest.TempPathFactory, simulator: str, **options: bool) -> Built:
    # Processes of pytest-xdist have folders beside each other.
    base = factory.getbasetemp()
    builds = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tiny_builds"
    filelist = write_rtl(factory.mktemp(simulator) / "rtl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAKEFLAGS", UNOPTIMISED)
        return build(BuildSpec(CONFIG, simulator, filelist=filelist, **options), builds)


@pytest.fixture(scope="session")
def model_of_verilator(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The tiny RTL, compiled by Verilator with only the top ports visible."""
    return _model(tmp_path_factory, "verilator")


@pytest.fixture(scope="session")
def debug_model_of_verilator(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The tiny RTL, compiled by Verilator with everything visible and waves."""
    return _model(tmp_path_factory, "verilator", debug=True, waves=True)


@pytest.fixture(scope="session")
def wave_model_of_verilator(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The tiny RTL, compiled by Verilator with waves, but with only the top ports and the bench's scope visible."""
    return _model(tmp_path_factory, "verilator", waves=True)


@pytest.fixture(scope="session")
def model_of_icarus(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The tiny RTL, compiled by Icarus with waves."""
    return _model(tmp_path_factory, "icarus", waves=True)


@pytest.fixture
def rtl(tmp_path: Path) -> Path:
    """Filelist of a fresh copy of the tiny RTL that a test may change."""
    return write_rtl(tmp_path / "rtl")
