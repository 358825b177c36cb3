"""A model that counts leaves what it has counted, and only Verilator builds one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.recipe import recipe_of
from nvdla_tb.run.compile.spec import CODE_COVERAGE, COVERAGE_FILE, BuildSpec, Built
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.regress.code_coverage import coverage_of, read_counts
from tests.unit.run.compile.test_build import run_tiny
from tests.unit.run.compile.tiny import CONFIG, write_rtl

pytestmark = pytest.mark.slow


def test_a_simulation_counts_lines_and_toggles_of_the_device(model_of_verilator: Built, tmp_path: Path) -> None:
    built = build(replace(model_of_verilator.spec, coverage="both"), model_of_verilator.directory.parent)
    assert built.directory != model_of_verilator.directory
    assert run_tiny(built, tmp_path) == ""
    modules = {entry.module: entry for entry in coverage_of(read_counts(tmp_path / COVERAGE_FILE)).modules}
    assert "tiny_increment" in modules
    together = [(sum(e.hit.get(kind, 0) for e in modules.values()), kind) for kind in ("line", "toggle")]
    assert all(hit for hit, _ in together), together
    assert run_tiny(model_of_verilator, tmp_path / "plain") == ""
    assert not (tmp_path / "plain" / COVERAGE_FILE).exists()


def test_a_model_that_counts_otherwise_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = BuildSpec(CONFIG, "verilator", filelist=write_rtl(tmp_path / "rtl"), coverage="line")
    before = recipe_of(spec, tmp_path).key
    monkeypatch.setitem(CODE_COVERAGE, "line", ("--coverage-line", "--coverage-underscore"))
    assert recipe_of(spec, tmp_path).key != before


@pytest.mark.parametrize(
    ("simulator", "coverage", "message"),
    [
        ("icarus", "line", "coverage must be None with icarus, not line: Verilator counts it"),
        ("verilator", "all", "coverage must be one of line, toggle, both, not all"),
    ],
)
def test_coverage_that_nothing_counts_is_refused(simulator: str, coverage: str, message: str) -> None:
    with pytest.raises(LaunchError) as error:
        BuildSpec(CONFIG, simulator, coverage=coverage)
    assert str(error.value) == message
