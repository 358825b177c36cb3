"""Mutants in one model: each is chosen by its number, none of them by default."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nvdla_models.errors import InputError
from nvdla_score.mutate import Mutant, mutants_of
from nvdla_score.sources import PLUSARG, switched, write_mutants
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run import jobs
from nvdla_tb.run.compile.filelist import parse
from nvdla_tb.run.simulate import SimResult
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.run.regress.tasks import DUT
from tests.unit.score.processes import PASSED, FakeProcess, answered

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

SIGNED = """\
module multiplier (input clk, input [3:0] a, input [3:0] b, output reg [7:0] product);
  always @(posedge clk)
    product <= $signed(a) * $signed(b);
endmodule
module bench;
  reg clk;
  reg [3:0] a, b;
  wire [7:0] product;
  multiplier m (clk, a, b, product);
  initial begin
    clk = 0; a = 4'd3; b = 4'd2;
    #1 clk = 1;
    #1 clk = 0; a = 4'd13; b = 4'd6;
    #1 $display("%0d", product);
    #1 clk = 1;
    #1 $display("%0d", product);
    clk = 0; a = 4'd2; b = 4'd9;
    #1 clk = 1;
    #1 $display("%0d", product);
    $finish;
  end
endmodule
"""


needs_icarus = pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus")


def every_mutant(path: Path) -> list[Mutant]:
    """Return all mutants of the module under test."""
    path.write_text(CHAIN)
    return list(mutants_of(path, "chain"))


def as_alone(source: str, mutants: Sequence[Mutant], folder: Path) -> str:
    """Assert that every mutant of a source acts as it would alone; return what the source prints with none of them."""
    together = switched(source, list(enumerate(mutants, 1)), PLUSARG)
    for number, mutant in enumerate(mutants, 1):
        start, end = mutant.span
        alone = source[:start] + mutant.expression(source) + source[end:]
        expected = run(alone, folder / "alone")
        assert run(together, folder / "together", f"+mutant={number}") == expected, str(mutant)
    without = run(source, folder / "alone")
    assert run(together, folder / "together") == without
    return without


def run(source: str, folder: Path, *arguments: str) -> str:
    """Return what a simulation of a source prints."""
    folder.mkdir(exist_ok=True)
    (folder / "x.v").write_text(source)
    subprocess.run(["iverilog", "-g2012", "-s", "bench", "-o", "x.vvp", "x.v"], cwd=folder, check=True)
    ended = subprocess.run(["vvp", "x.vvp", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return ended.stdout


@needs_icarus
def test_every_number_chooses_the_change_that_it_stands_for(tmp_path: Path) -> None:
    mutants = every_mutant(tmp_path / "chain.v")
    assert len({mutant.kind for mutant in mutants}) >= 10
    assert as_alone(CHAIN, mutants, tmp_path) == "12 3\n10 5\n"


@needs_icarus
def test_no_mutant_takes_the_sign_of_others(tmp_path: Path) -> None:
    (tmp_path / "multiplier.v").write_text(SIGNED)
    mutants = list(mutants_of(tmp_path / "multiplier.v", "multiplier"))
    assert {"unsigned", "value kept"} <= {mutant.kind for mutant in mutants}
    assert as_alone(SIGNED, mutants, tmp_path) == "6\n238\n242\n"


def test_sources_are_written_beside_a_filelist_that_takes_them_instead(tmp_path: Path) -> None:
    mutants = every_mutant(tmp_path / "chain.v")
    (tmp_path / "other.v").write_text("module other; endmodule\n")
    (tmp_path / "rtl.f").write_text("+define+WIDTH=4 chain.v other.v\n")
    files = parse(tmp_path / "rtl.f")
    written = parse(write_mutants(mutants, files, tmp_path / "mutants"))
    assert written.sources == (tmp_path / "mutants" / "chain.v", tmp_path / "other.v")
    assert written.defines == files.defines
    assert written.include_dirs == (tmp_path,)
    assert (tmp_path / "mutants" / "chain.v").read_text() == switched(CHAIN, list(enumerate(mutants, 1)), PLUSARG)
    assert (tmp_path / "chain.v").read_text() == CHAIN


def test_a_filelist_of_mutants_has_all_that_the_one_of_the_sources_has(tmp_path: Path) -> None:
    """Sources of one name, folders with blanks, Verilator's control files, libraries and macros with blanks."""
    rtl = tmp_path / "my rtl"
    for folder in ("a", "b", "c", "library", "include"):
        (rtl / folder).mkdir(parents=True)
    for folder in ("a", "b", "c"):
        (rtl / folder / "chain.v").write_text(CHAIN.replace("module chain", f"module chain_{folder}"))
    (rtl / "library" / "cell.v").write_text("module cell; endmodule\n")
    (rtl / "blocks.vlt").write_text("`verilator_config\n")
    (rtl / "rtl.f").write_text(
        "a/chain.v b/chain.v c/chain.v blocks.vlt +incdir+include -y library +libext+.vlib -v library/cell.v\n"
        r'+define+X=1 "+define+TEXT=\"two words\""'
    )
    files = parse(rtl / "rtl.f")
    mutants = [next(mutants_of(rtl / folder / "chain.v")) for folder in ("a", "b", "c")]
    written = parse(write_mutants(mutants, files, tmp_path / "all mutants"))
    assert [path.read_text() for path in written.sources] == [
        switched((rtl / folder / "chain.v").read_text(), [(number, mutant)], PLUSARG)
        for number, (folder, mutant) in enumerate(zip("abc", mutants, strict=True), 1)
    ]
    assert written.defines == files.defines == (("X", "1"), ("TEXT", '"two words"'))
    assert written.controls == files.controls == (rtl / "blocks.vlt",)
    assert (written.library_dirs, written.library_files) == (files.library_dirs, files.library_files)
    assert written.library_extensions == files.library_extensions
    assert written.include_dirs == (rtl / "include", rtl / "a", rtl / "b", rtl / "c")


def test_mutants_of_a_file_outside_the_filelist_are_refused(tmp_path: Path) -> None:
    mutants = every_mutant(tmp_path / "chain.v")
    (tmp_path / "other.v").write_text("module other; endmodule\n")
    (tmp_path / "rtl.f").write_text("other.v\n")
    with pytest.raises(InputError, match=r"^mutants must change sources of the filelist, not .*chain\.v$"):
        write_mutants(mutants, parse(tmp_path / "rtl.f"), tmp_path)


def test_a_changed_file_of_a_library_becomes_a_source(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    mutants = every_mutant(tmp_path / "library" / "chain.v")
    (tmp_path / "top.v").write_text("module top; endmodule\n")
    (tmp_path / "rtl.f").write_text("top.v -y library\n")
    files = parse(tmp_path / "rtl.f")
    read = (tmp_path / "top.v", tmp_path / "library" / "chain.v")
    written = parse(write_mutants(mutants, files, tmp_path / "mutants", read=read))
    assert written.sources == (tmp_path / "top.v", tmp_path / "mutants" / "chain.v")
    assert written.library_dirs == (tmp_path / "library",)


def test_a_model_that_notes_asks_with_the_difference_and_takes_the_notes_along(tmp_path: Path) -> None:
    mutants = [mutant for mutant in every_mutant(tmp_path / "chain.v") if mutant.kind == "- for +"]
    (tmp_path / "rtl.f").write_text("chain.v\n")
    written = parse(write_mutants(mutants, parse(tmp_path / "rtl.f"), tmp_path / "mutants", notes=True))
    assert [path.name for path in written.sources] == ["chain.v", "reached.cpp"]
    text = written.sources[0].read_text()
    assert (
        'import "DPI-C" function bit nvdla_mutant(input int number, input bit differs, input longint original' in text
    )
    original, other = "(( a + b) + 64'sd0)", "(( a - b) + 64'sd0)"
    assert f"nvdla_mutant(1, {original} != {other}, {original}, {other}) ? ( a - b) : ( a + b)" in text


@pytest.mark.parametrize("plusargs", [("+mutant=3",), ("+mutant=4",), ()])
def test_a_process_plays_only_what_has_its_own_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plusargs: tuple[str, ...]
) -> None:
    alone: list[Sequence[str]] = []

    def entry(_: Any, __: str, request: Request, work_dir: Path, *, plusargs: Sequence[str], **___: Any) -> SimResult:
        alone.append(plusargs)
        return answered(request, work_dir / "sim.log")

    monkeypatch.setattr(jobs, "run_entry", entry)
    process: Any = FakeProcess(PASSED, plusargs=("+mutant=3",))
    job = jobs.Job("empty", 1, "rerun", lambda: Scenario("empty", "nv_small", (), 1), plusargs=plusargs)
    built: Any = None
    assert jobs.run_job(job, jobs.Setup(built, DUT, 1.0), tmp_path / "work", process).ending is Ending.PASSED
    shared = plusargs == process.plusargs
    assert (len(process.asked), alone) == ((1, []) if shared else (0, [plusargs]))
