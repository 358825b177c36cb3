"""What results are evidence of: contents and options, and neither names nor places."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_models.config import BUILTIN_DIR, HwConfig
from nvdla_tb.run import evidence
from nvdla_tb.run.compile import build as building
from nvdla_tb.run.compile.recipe import Recipe
from nvdla_tb.run.compile.spec import BuildSpec
from nvdla_tb.run.errors import BuildError, LaunchError
from nvdla_tb.run.evidence import check_unchanged, evidence_of, with_evidence
from nvdla_tb.stimulus.result import Dut


@pytest.fixture
def dut(tmp_path: Path) -> Dut:
    """RTL of the user's own: a filelist, a source and a file that it includes."""
    return made(tmp_path / "rtl")


def made(folder: Path) -> Dut:
    folder.mkdir()
    (folder / "top.f").write_text("+incdir+.\ntop.v\n", encoding="utf-8")
    (folder / "top.v").write_text('`include "width.vh"\nmodule NV_nvdla; endmodule\n', encoding="utf-8")
    (folder / "width.vh").write_text("`define WIDTH 8\n", encoding="utf-8")
    (folder / "mine.toml").write_text((BUILTIN_DIR / "nv_small.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return Dut(str(folder / "mine.toml"), "verilator", str(folder / "top.f"))


@pytest.mark.parametrize("name", ["top.f", "top.v", "width.vh", "mine.toml"])
def test_a_change_of_any_file_ends_what_it_is_evidence_of(dut: Dut, tmp_path: Path, name: str) -> None:
    known = with_evidence(dut, ())
    check_unchanged(known, ())
    path = tmp_path / "rtl" / name
    text = path.read_text(encoding="utf-8")
    changes = {
        "top.f": ("top.v", "+define+MORE\ntop.v"),
        "mine.toml": ("cbuf_bank_depth = 512", "cbuf_bank_depth = 256"),
    }
    old, new = changes.get(name, ("\n", " // changed\n"))
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    message = f"{dut.rtl}, its configuration, ports or the testbench has changed since the run was started"
    with pytest.raises(LaunchError, match=rf"^{re.escape(message)}$"):
        check_unchanged(known, ())
    check_unchanged(dut, ())


def test_simulator_top_and_arguments_count_and_back_end_and_powered_up_states_do_not(dut: Dut) -> None:
    plain = evidence_of(dut, ())
    others = [
        evidence_of(replace(dut, simulator="icarus"), ()),
        evidence_of(replace(dut, top="other"), ()),
        evidence_of(dut, ("+bug=sdp_dst_base",)),
    ]
    assert len({plain, *others}) == 4
    same = replace(dut, backend="native", debug=True, coverage="line")
    assert evidence_of(same, ("+verilator+rand+reset+2", "+verilator+seed+1")) == plain


def test_where_files_lie_does_not_count(dut: Dut, tmp_path: Path) -> None:
    assert evidence_of(made(tmp_path / "elsewhere"), ()) == evidence_of(dut, ())


def test_another_testbench_gives_other_evidence(dut: Dut, monkeypatch: pytest.MonkeyPatch) -> None:
    before = evidence_of(dut, ())
    monkeypatch.setattr(evidence, "_code_key", lambda: "older")
    assert evidence_of(dut, ()) != before


def test_sources_that_change_while_they_are_built_leave_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dut = made(tmp_path / "rtl")

    def compiled(recipe: Recipe, *_: object) -> None:
        recipe.directory.mkdir()
        (tmp_path / "rtl" / "top.v").write_text("module NV_nvdla; wire more; endmodule\n", encoding="utf-8")

    monkeypatch.setattr(building, "_compile", compiled)
    spec = BuildSpec(HwConfig.load("nv_small"), filelist=Path(str(dut.rtl)))
    with pytest.raises(
        BuildError, match=r"^the sources of NV_nvdla must not change while it is built: build it again$"
    ):
        building.build(spec, tmp_path / "models")
    assert not list((tmp_path / "models").rglob("built.json"))
