"""Source mutants: what is changed, what is left alone, and that a seed always chooses the same."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from nvdla_models.errors import InputError
from nvdla_score.mutate import Mutant, choose, mutants_of
from nvdla_score.operators import KINDS, Family
from nvdla_tb.run.compile.filelist import parse
from tests.repository import ROOT

TEXT = """\
// a + b in a comment
`define SUM a + b
module adder #(parameter W = 4) (
  input wire [W-1:0] a, // 4'd7 + 1
  input wire rst_n,
  output reg [W-1:0] y
);
  localparam [3:0] STEP = 4'd3 + 4'd1;
  wire [W-1:0] sum = a[W-2:0] + b;
  wire less = sum < limit && a == b;
  wire [7:0] both = {high[3:0], low};
`ifdef ASSERT_ON
  wire checked = a != b;
`else
  wire chosen = a || b;
`endif
`ifndef SYNTHESIS
  wire shown = a > b;
`endif
`ifdef SYNTHESIS
  wire built = 1'b1;
`else
  wire simulated = a > b;
`endif
  // synopsys translate_off
  wire noted = a > b; // synthesis as in the words below
  // synopsys translate_on
  /* pragma translate_off */
  wire noted_too = a > b;
  /* pragma translate_on */
  always @(posedge clk)
    if (!rst_n) y <= 4'd0;
    else if (less && y <= 4'd9) y <= both[3:0] - 4'd2;
endmodule
"""
SOURCES = parse(ROOT / "hdl_stubs" / "nv_small.f").sources


@pytest.fixture
def adder(tmp_path: Path) -> Path:
    """The file of the text."""
    path = tmp_path / "adder.v"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("kind", "expressions"),
    [
        ("- for +", ["a[W-2:0] - b"]),
        ("+ for -", ["both[3:0] + 4'd2"]),
        ("<= for <", ["sum <= limit && a == b"]),
        (">= for >", []),
        ("|| for &&", ["sum < limit || a == b", "less || y <= 4'd9"]),
        ("&& for ||", ["a && b"]),
        ("!= for ==", ["sum < limit && a != b"]),
        ("== for !=", []),
        ("constant + 1", ["less && y <= 4'd10", "both[3:0] - 4'd3"]),
        ("swapped concatenation", ["{low, high[3:0]}"]),
        ("dropped term", ["a[W-2:0]", "b", "a", "b"]),
        ("inverted condition", ["!(less && y <= 4'd9)"]),
    ],
)  # fmt: skip
def test_only_expressions_of_the_design_are_changed(adder: Path, kind: str, expressions: list[str]) -> None:
    changed = [mutant.expression(TEXT).strip() for mutant in mutants_of(adder) if mutant.kind == kind]
    assert changed == expressions


def test_every_kind_but_two_occurs_in_the_embedded_device() -> None:
    absent = {"other group", "mask removed"}
    assert {mutant.kind for path in SOURCES for mutant in mutants_of(path)} == set(KINDS) - absent


def test_a_seed_always_chooses_the_same_and_another_one_something_else() -> None:
    first = choose(SOURCES, 20, 3, "nvdla_sdp*")
    assert first == choose(SOURCES, 20, 3, "nvdla_sdp*")
    assert first != choose(SOURCES, 20, 4, "nvdla_sdp*")
    assert len(set(first)) == 20
    assert all(mutant.module.startswith("nvdla_sdp") for mutant in first)


def test_a_sample_is_spread_over_families_and_modules() -> None:
    chosen = choose(SOURCES, 90, 1)
    families = Counter(mutant.family for mutant in chosen)
    modules = Counter(mutant.module for mutant in chosen)
    assert set(families) == set(Family) - {Family.MASK}
    assert max(families.values()) <= 25
    assert max(modules.values()) <= 5
    assert len(modules) >= 35


def test_modules_that_the_design_lacks_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "two.v").write_text(TEXT + TEXT.replace("module adder", "module dead"))
    found = {mutant.module for mutant in mutants_of(tmp_path / "two.v", "*", {"adder"})}
    assert found == {"adder"}
    assert not list(mutants_of(tmp_path / "two.v", "*", {"other"}))


def test_code_that_the_macros_leave_out_is_left_alone(adder: Path) -> None:
    def lines(*defines: str) -> set[str]:
        return {TEXT.splitlines()[mutant.line - 1].split()[1] for mutant in mutants_of(adder, defines=defines)}

    assert {"checked", "chosen", "shown", "built", "simulated"} & lines() == {"chosen"}
    assert {"checked", "chosen", "shown", "built", "simulated"} & lines("ASSERT_ON", "SYNTHESIS") == {"checked"}


@pytest.mark.parametrize(("defines", "compiled"), [((), "d"), (("A",), "a"), (("B",), "b"), (("A", "B"), "a")])
def test_of_several_branches_one_is_compiled(tmp_path: Path, defines: tuple[str, ...], compiled: str) -> None:
    path = tmp_path / "branches.v"
    branches = "`ifdef A\nassign a = x + y;\n`elsif B\nassign b = x + y;\n`else\nassign d = x + y;\n`endif\n"
    path.write_text(f"module branches ();\n{branches}endmodule\n")
    lines = path.read_text().splitlines()
    assert {lines[mutant.line - 1].split()[1] for mutant in mutants_of(path, defines=defines)} == {compiled}


def test_modules_without_a_match_and_a_count_below_one_are_refused(adder: Path) -> None:
    with pytest.raises(InputError, match=r"^modules must match a module with expressions, not other\*$"):
        choose([adder], 3, 1, "other*")
    with pytest.raises(InputError, match=r"^count must be at least 1, not 0$"):
        choose([], 0, 1)


def test_a_mutant_of_another_text_is_refused() -> None:
    mutant = Mutant(Path("adder.v"), "adder", 1, "- for +", 2, "+", "-", (0, 5), False)
    with pytest.raises(InputError, match=re.escape("adder.v must hold '+' at 2, not 'x'")):
        mutant.expression("a x b")
