"""Which modules a design consists of: neither dead files nor libraries that nothing uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_score.instantiated import design_of
from nvdla_tb.run.compile.filelist import parse
from nvdla_tb.run.errors import BuildError

TOP = """\
`include "width.vh"
module top (input [`WIDTH-1:0] a, output [`WIDTH-1:0] y);
  wire [`WIDTH-1:0] m;
  used u_used (.a(a), .y(m));
  sized #(.W(`WIDTH)) u_sized (.a(m), .y(y));
  generate if (0) dead u_dead (.a(a), .y(y)); endgenerate
endmodule
"""


def test_a_design_consists_of_what_is_instantiated(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "top.v").write_text(TOP)
    (tmp_path / "width.vh").write_text("`define WIDTH 4\n")
    for name in ("used", "dead", "unused"):
        text = f"module {name} (input [3:0] a, output [3:0] y); assign y = a + 4'd1; endmodule\n"
        (tmp_path / "library" / f"{name}.v").write_text(text)
    sized = "module sized #(parameter W = 2) (input [W-1:0] a, output [W-1:0] y); assign y = ~a; endmodule\n"
    (tmp_path / "beside.v").write_text(sized + "module nobody (output z); assign z = 1'b0; endmodule\n")
    (tmp_path / "rtl.f").write_text("+incdir+. -y library top.v beside.v\n")
    design = design_of(parse(tmp_path / "rtl.f"), "top", tmp_path / "design.log")
    assert {"top", "used", "sized"} <= design.modules
    assert not {"dead", "unused", "nobody"} & design.modules
    assert design.parametrised == {"sized"}
    assert design.parents == {"used": {"top"}, "sized": {"top"}}
    assert {"top.v", "width.vh", "used.v", "beside.v"} <= {path.name for path in design.files}
    assert "unused.v" not in {path.name for path in design.files}


def test_rtl_that_cannot_be_elaborated_is_refused(tmp_path: Path) -> None:
    (tmp_path / "top.v").write_text("module top; missing u_missing (); endmodule\n")
    (tmp_path / "rtl.f").write_text("top.v\n")
    with pytest.raises(BuildError, match=r"^Verilator cannot elaborate top:"):
        design_of(parse(tmp_path / "rtl.f"), "top", tmp_path / "design.log")
