"""Which expressions of Verilog can be chosen while a simulation runs."""

from __future__ import annotations

import pytest

from nvdla_score.spans import spans


def found(code: str) -> list[str]:
    """Return the expressions that are found."""
    return [code[start:end].strip() for start, end in spans(code, 0, len(code))]


@pytest.mark.parametrize(
    ("code", "expressions"),
    [
        ("assign a = b + c;", ["b + c"]),
        ("wire [3:0] a = b[3:0] == {c, d};", ["b[3:0] == {c, d}"]),
        ("assign {a, b} = c;", ["c"]),
        ("always @(posedge clk or negedge rst) if (en && go) q <= d; else q <= q - 1;", ["en && go", "d", "q - 1"]),
        ("always @* begin if (a <= b) x = c; y = d; end", ["a <= b", "c", "d"]),
        ("always @* case (s) 2'd0: x = a; default: x = b; endcase", ["a", "b"]),
        ("always @* for (i = 0; i < 8; i = i + 1) begin x[i] = a[i]; end", ["a[i]"]),
    ],
)  # fmt: skip
def test_values_and_conditions_are_found(code: str, expressions: list[str]) -> None:
    assert found(code) == expressions


@pytest.mark.parametrize(
    "code",
    [
        "localparam A = 1, B = 2;",
        "parameter [3:0] A = B + 1;",
        "reg [3:0] a = 4'd3;",
        "initial begin a = b; if (c) d = e; end",
        "function [3:0] f; input a; begin if (a) f = a + 1; end endfunction",
        "task t; begin x = y; end endtask",
        "if (WIDTH > 8) begin : wide end",
        "unit #(.W(8)) u (.a(b == c), .d({e, f}));",
        "wire a = b, c = d;",
        "always @(posedge clk) q <= #1 d;",
        "wire a;",
        "assign a = b",
        "assign a = (b;",
    ],
)
def test_what_is_fixed_before_a_run_and_what_is_no_assignment_is_not(code: str) -> None:
    assert found(code) == []


def test_a_generate_condition_behind_a_procedure_is_not_one_of_the_procedure() -> None:
    code = "always @* x = y; if (WIDE) begin : w assign a = b; end always @* if (c) d = e;"
    assert found(code) == ["y", "b", "c", "e"]


def test_a_condition_with_an_else_belongs_to_its_procedure_to_the_end() -> None:
    code = "always @* if (a) begin x = 0; end else if (b) begin x = 1; end if (WIDE) begin : w end"
    assert found(code) == ["a", "0", "b", "1"]
