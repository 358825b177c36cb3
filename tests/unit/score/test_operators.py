"""Mutation operators: every one changes what it should, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_score.mutate import Mutant, mutants_of, vectors
from nvdla_score.operators import KINDS, WEIGHTS, Family

TEXT = """\
module unit (
  input clk, input rst_n, input set, input clr, input go,
  input [7:0] a, input [11:0] b, input signed [7:0] s,
  input [15:0] d0_size, input [15:0] d1_size, input pick,
  output reg [7:0] count, output reg pending, output [11:0] out
);
  localparam LIMIT = 4;
  reg [7:0] memory [0:3];
  wire [11:0] sum = b + a;
  wire [7:0] less = count - 8'd2;
  wire last = count == a;
  wire signed [15:0] wide = {{8{s[7]}}, s};
  wire [7:0] masked = {8{go}} & a;
  wire [7:0] behind = a & {8{go}};
  wire [15:0] size = pick ? d1_size : d0_size;
  wire [7:0] turned = $signed(s) >>> 2;
  wire next = set ? 1'b1 : clr ? 1'b0 : pending;
  assign out = (a <= 8'd9) ? sum[11:0] : b;
  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      count <= 8'd0;
      pending <= 1'b0;
    end else begin
      if (go) count <= count + 8'd1;
      if (set) pending <= 1'b1;
      else if (clr) pending <= 1'b0;
      if ((go) == 1'b1) count <= a;
      else if ((go) == 1'b0) count <= count;
    end
endmodule
"""


@pytest.fixture(name="found")
def mutants(tmp_path: Path) -> list[Mutant]:
    """Return all mutants of the module."""
    path = tmp_path / "unit.v"
    path.write_text(TEXT)
    return list(mutants_of(path))


def of(found: list[Mutant], kind: str) -> list[str]:
    """Return the expressions that mutants of a kind make."""
    return [mutant.expression(TEXT).strip() for mutant in found if mutant.kind == kind]


@pytest.mark.parametrize(
    ("kind", "expressions"),
    [
        (
            "carry dropped",
            [
                *(f"((((b >> {k}) + (a >> {k})) << {k}) | ((b + a) & {{{k}{{1'b1}}}}))" for k in (6, 8, 11)),
                *(f"((((count >> {k}) - (8'd2 >> {k})) << {k}) | ((count - 8'd2) & {{{k}{{1'b1}}}}))" for k in (4, 7)),
                *(f"((((count >> {k}) + (8'd1 >> {k})) << {k}) | ((count + 8'd1) & {{{k}{{1'b1}}}}))" for k in (4, 7)),
            ],
        ),
        ("== n - 1 for == n", ["count == (a - 1'b1)"]),
        ("< for <=", ["(a < 8'd9) ? sum[11:0] : b"]),
        ("enable removed", ["1'b1"] * 4),
        ("event lost", ["1'b0"] * 4),
        ("value kept", ["$signed(count)", "$signed(pending)", "$signed(pending)", "$signed(count)"]),
        ("clear wins", ["(set && !clr) ? 1'b1 : clr ? 1'b0 : pending", "(set) && !(clr)"]),
        ("other group", ["pick ? d0_size : d0_size", "pick ? d1_size : d1_size"]),
        ("mask removed", ["a", "a"]),
        ("sign extension dropped", ["{{8{1'b0}}, s}"]),
        ("swapped branches", ["pick ? d0_size : d1_size", "(a <= 8'd9) ? b : sum[11:0]"]),
        ("unsigned", ["$signed({1'b0, s}) >>> 2"]),
        (">> for >>>", ["$signed(s) >> 2"]),
        ("constant - 1", ["count - 8'd1", "(a <= 8'd8) ? sum[11:0] : b", "count + 8'd0"]),
    ],
)
def test_an_operator_makes_these_changes_and_no_others(found: list[Mutant], kind: str, expressions: list[str]) -> None:
    assert of(found, kind) == expressions


def test_the_top_bit_of_every_unsigned_vector_is_lost_once(found: list[Mutant]) -> None:
    lost = of(found, "top bit lost")
    assert "b + {1'b0, a[6:0]}" in lost
    assert "(a <= 8'd9) ? {1'b0, sum[10:0]} : b" in lost
    assert not any("s[6:0]" in text or "memory[6:0]" in text for text in lost)


def test_of_a_condition_and_its_opposite_none_wins(found: list[Mutant]) -> None:
    assert not any("go" in text for text in of(found, "clear wins"))


def test_a_condition_that_only_x_gets_past_is_left_alone(found: list[Mutant]) -> None:
    line = TEXT[: TEXT.index("(go) == 1'b0")].count("\n") + 1
    assert [mutant.kind for mutant in found if mutant.line == line - 1]
    assert not [mutant for mutant in found if mutant.line == line and "go" in mutant.before]


def test_what_a_reset_loads_is_left_alone(found: list[Mutant]) -> None:
    first = TEXT[: TEXT.index("count <= 8'd0")].count("\n") + 1
    assert not [mutant for mutant in found if mutant.line in (first, first + 1) and mutant.kind == "value kept"]
    assert not [mutant for mutant in found if "rst_n" in mutant.before]


def test_only_unsigned_vectors_that_end_at_bit_0_have_a_known_width() -> None:
    assert vectors(TEXT) == {
        **dict.fromkeys(("a", "count", "less", "masked", "behind", "turned"), 8),
        **dict.fromkeys(("b", "out", "sum"), 12),
        **dict.fromkeys(("d0_size", "d1_size", "size"), 16),
    }
    assert vectors("wire [63-3:0] base, other; reg [4:1] odd; wire [W-1:0] any;") == {"base": 61, "other": 61}


def test_every_family_has_a_weight_and_an_operator() -> None:
    assert set(WEIGHTS) == set(Family) == {kind.family for kind in KINDS.values()}
