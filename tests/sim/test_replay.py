"""A failure of an altered device leaves a bundle that fails the same way elsewhere, and not on the sound device."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nvdla_models.config import BUILTIN_DIR
from nvdla_tb.cli.main import main
from nvdla_tb.judge.finding import Check
from nvdla_tb.run.regress import bundle
from tests.repository import ROOT
from tests.sim.conftest import needs_icarus

SCENARIO = "sdp_pass_through_half_atom"


@pytest.fixture(scope="module")
def altered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the filelist of a device whose SDP adds one to every element."""
    folder = tmp_path_factory.mktemp("altered") / "hdl_stubs"
    shutil.copytree(ROOT / "hdl_stubs", folder)
    path = folder / "sdp" / "nvdla_sdp_cvt.v"
    text = path.read_text(encoding="utf-8")
    assert text.count(" : limited;") == 1
    path.write_text(text.replace(" : limited;", " : limited + 32'sd1;"), encoding="utf-8")
    return folder / "nv_small.f"


@needs_icarus
def test_a_bundle_is_replayed(altered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "mine.toml"
    shutil.copyfile(BUILTIN_DIR / "nv_small.toml", own)
    options = ("--sim", "icarus", "--rtl", str(altered), "--jobs", "1", "--results", str(tmp_path / "results"))
    assert main(["regress", "plan", "--only", SCENARIO, "--config", str(own), *options]) == 1
    own.unlink()
    (left,) = (tmp_path / "results" / "0001").glob(f"{SCENARIO}.*")
    assert (left / "sim.log").is_file()
    assert (left / "waves.fst").stat().st_size > 1000
    moved = tmp_path / "elsewhere"
    shutil.move(left, moved)
    assert bundle.load(moved).result.verdict.findings[0].check is Check.VALUE
    assert f"nvdla-tb replay {left} --rtl {altered} --waves" in (moved / "failure.html").read_text(encoding="utf-8")
    assert main(["explain", str(moved)]) == 1
    capsys.readouterr()
    assert main(["replay", str(moved), "--rtl", str(altered)]) == 0
    out = capsys.readouterr().out
    assert "\n    why   1. " in out
    assert out.endswith("\nreproduced\n")
    assert main(["replay", str(moved), "--rtl", str(ROOT / "hdl_stubs" / "nv_small.f")]) == 1
    assert "not reproduced:\n  ended as passed, not mismatch\n" in capsys.readouterr().out
