"""Mutants in one model: each is chosen by its number, none of them by default."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tb.launch.filelist import parse
from tb.score.mutants import likely_first, switched, write_mutants
from tb.score.mutate import Mutant, mutants_of
from tb.score.scenarios import Source

CHAIN = """\
module chain (input [3:0] a, input [3:0] b, output [3:0] sum, output reg [3:0] most);
  assign sum = a + b; // a - b
  always @*
    if (a < b && b != 4'd9)
      most = b;
    else most = a;
endmodule
module bench;
  reg [3:0] a, b;
  wire [3:0] sum, most;
  chain c (a, b, sum, most);
  initial begin
    a = 4'd3; b = 4'd9;
    #1 $display("%0d %0d", sum, most);
    a = 4'd5; b = 4'd5;
    #1 $display("%0d %0d", sum, most);
    $finish;
  end
endmodule
"""


def every_mutant(path: Path) -> list[Mutant]:
    """Return all mutants of the module under test."""
    path.write_text(CHAIN)
    return list(mutants_of(path, "chain"))


def run(source: str, folder: Path, *arguments: str) -> str:
    """Return what a simulation of a source prints."""
    folder.mkdir(exist_ok=True)
    (folder / "x.v").write_text(source)
    subprocess.run(["iverilog", "-g2012", "-s", "bench", "-o", "x.vvp", "x.v"], cwd=folder, check=True)
    ended = subprocess.run(["vvp", "x.vvp", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return ended.stdout


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus")
def test_every_number_chooses_the_change_that_it_stands_for(tmp_path: Path) -> None:
    mutants = every_mutant(tmp_path / "chain.v")
    assert len({mutant.kind for mutant in mutants}) == 7
    together = switched(CHAIN, list(enumerate(mutants, 1)))
    for number, mutant in enumerate(mutants, 1):
        start, end = mutant.span
        alone = CHAIN[:start] + mutant.expression(CHAIN) + CHAIN[end:]
        expected = run(alone, tmp_path / "alone")
        assert run(together, tmp_path / "together", f"+mutant={number}") == expected, str(mutant)
    assert run(together, tmp_path / "together") == run(CHAIN, tmp_path / "alone") == "12 3\n10 5\n"


def test_sources_are_written_beside_a_filelist_that_takes_them_instead(tmp_path: Path) -> None:
    mutants = every_mutant(tmp_path / "chain.v")
    (tmp_path / "other.v").write_text("module other; endmodule\n")
    (tmp_path / "rtl.f").write_text("+define+WIDTH=4 chain.v other.v\n")
    files = parse(tmp_path / "rtl.f")
    written = parse(write_mutants(mutants, files, tmp_path / "mutants"))
    assert written.sources == (tmp_path / "mutants" / "chain.v", tmp_path / "other.v")
    assert written.defines == files.defines
    assert written.include_dirs == (tmp_path,)
    assert (tmp_path / "mutants" / "chain.v").read_text() == switched(CHAIN, list(enumerate(mutants, 1)))
    assert (tmp_path / "chain.v").read_text() == CHAIN


def test_mutants_of_a_file_outside_the_filelist_are_refused(tmp_path: Path) -> None:
    mutants = every_mutant(tmp_path / "chain.v")
    (tmp_path / "other.v").write_text("module other; endmodule\n")
    (tmp_path / "rtl.f").write_text("other.v\n")
    with pytest.raises(ValueError, match=r"^mutants must change sources of the filelist, not .*chain\.v$"):
        write_mutants(mutants, parse(tmp_path / "rtl.f"), tmp_path)


@pytest.mark.parametrize(
    ("module", "first"),
    [("NV_NVDLA_CDMA_wt", "conv_a"), ("nvdla_sdp_x", "sdp_a"), ("NV_NVDLA_CDP_wdma", "cdp_a"), ("MCIF", "pdp_a")],
)
def test_scenarios_of_the_mutated_engine_are_played_first(module: str, first: str) -> None:
    plain = Source("", lambda config, seed: pytest.fail("nothing is built"))
    found = [replace(plain, name=name) for name in ("pdp_a", "cdp_a", "sdp_a", "conv_a")]
    order = [source.name for source in likely_first(module, found)]
    assert order[0] == first
    assert sorted(order) == ["cdp_a", "conv_a", "pdp_a", "sdp_a"]
