"""A few lines of RTL with the ports of nv_small, spread over every kind of filelist entry."""

from __future__ import annotations

from pathlib import Path

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile.ports import Port, expected_ports

CONFIG = HwConfig.load("nv_small")


def write_rtl(folder: Path, ports: tuple[Port, ...] | None = None, extra_code: str = "") -> Path:
    """Write the RTL and return its filelist.

    A word on ``csb2nvdla_wdat`` comes back on ``nvdla2csb_data`` one clock later, plus 3: 1 from
    a header, 1 from a macro of the filelist, 1 from a library cell.

    Args:
        folder: Where to write; made when missing.
        ports: Ports of the top module; those of nv_small if None.
        extra_code: Verilog added to the top module.
    """
    ports = expected_ports(CONFIG) if ports is None else ports
    driven = {"nvdla2csb_data": "sum", "csb2nvdla_ready": "1'b1"}
    names = ",\n".join(f"  {p.direction} [{p.width - 1}:0] {p.name}" for p in ports)
    outputs = "".join(f"  assign {p.name} = {driven.get(p.name, '0')};\n" for p in ports if p.direction == "output")
    files = {
        "include/step.vh": "`define HEADER_STEP 1\n",
        "library/tiny_increment.v": (
            "module tiny_increment(input [31:0] a, output [31:0] y);\n  assign y = a + 1;\nendmodule\n"
        ),
        "NV_nvdla.vlib": (
            '`include "step.vh"\n'
            f"module NV_nvdla(\n{names}\n);\n"
            "  reg [31:0] sum;\n  wire [31:0] incremented;\n"
            "  tiny_increment increment(.a(csb2nvdla_wdat), .y(incremented));\n"
            "  always @(posedge dla_csb_clk) sum <= incremented + `HEADER_STEP + `FILELIST_STEP;\n"
            f"{outputs}{extra_code}endmodule\n"
        ),
        "tiny.f": "+incdir+include +define+FILELIST_STEP=1 -y library NV_nvdla.vlib\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "tiny.f"
