from __future__ import annotations

import re

import pytest

from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.ports import check_ports, top_text
from nvdla_tb.cli.main import main
from nvdla_tb.run.compile.ports import Port
from nvdla_tb.run.errors import PortError

CORE = DlhdlConfig.load("dlhdl_int8_4")
READ = {"ARADDR": 32, "ARLEN": 8, "ARSIZE": 3, "ARBURST": 2, "ARVALID": 1, "RREADY": 1}
WRITE = {"AWADDR": 32, "AWLEN": 8, "AWSIZE": 3, "AWBURST": 2, "AWVALID": 1, "WDATA": 32, "WSTRB": 2, "WLAST": 1}
WRITE |= {"WVALID": 1, "BREADY": 1}
INPUTS = {"Rd": {"ARREADY": 1, "RDATA": 32, "RVALID": 1}, "Wr": {"AWREADY": 1, "WREADY": 1, "BVALID": 1}}


def ports() -> list[Port]:
    found = [Port(name, "input", 1) for name in ("IPCORE_CLK", "IPCORE_RESETN", "AXI4_ACLK", "AXI4_ARESETN")]
    for master in ("Activation_Data", "Weight_Data", "Debug"):
        for half, outputs in (("Rd", READ), ("Wr", WRITE)):
            prefix = f"AXI4_Master_{master}_{half}_"
            found += [Port(prefix + name, "output", width) for name, width in outputs.items()]
            found += [Port(prefix + name, "input", width) for name, width in INPUTS[half].items()]
    return found


def test_a_core_with_all_ports_is_wrapped_with_one_clock_and_its_parameters() -> None:
    check_ports(CORE, "core", ports())
    text = top_text(CORE, "core", ports(), embedded=True, dump=False)
    assert "core #(.CONV_THREAD_NUMBER(4), .DATA_TYPE(0)) dut (" in text
    assert ".IPCORE_CLK(clk)" in text
    assert ".AXI4_ARESETN(reset_n)" in text
    assert "  output wire [1:0] AXI4_Master_Activation_Data_Wr_WSTRB" in text
    assert "  core dut (" in top_text(CORE, "core", ports(), embedded=False, dump=False)


def test_ports_that_differ_are_listed() -> None:
    wrong = [port for port in ports() if port.name != "AXI4_ACLK"]
    wrong = [Port(p.name, p.direction, 4) if p.name.endswith("Activation_Data_Wr_WSTRB") else p for p in wrong]
    wrong = [Port(p.name, "input", p.width) if p.name.endswith("Debug_Rd_ARLEN") else p for p in wrong]
    lines = (
        "ports of core differ from dlhdl_int8_4 in 3 places:",
        "  missing input AXI4_ACLK",
        "  AXI4_Master_Debug_Rd_ARLEN must be output, not input",
        "  AXI4_Master_Activation_Data_Wr_WSTRB must have 2 bits, not 4",
    )
    with pytest.raises(PortError) as error:
        check_ports(CORE, "core", wrong)
    assert sorted(str(error.value).splitlines()) == sorted(lines)


def test_the_plan_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--config", "dlhdl", "--list", "--only", "stream_*"]) == 0
    assert re.search(r"^stream_stop +endless, and InputStop after five frames$", capsys.readouterr().out, re.M)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--exact"], "--exact must be left out for dlhdl"),
        (["--backend", "native"], "--backend must be coroutine for dlhdl, not native"),
        (["--rtl", "x.f"], "--config must name a file that describes the core of --rtl, not dlhdl"),
        (["--only", "none"], " matches none; see nvdla-tb run --list"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--config", "dlhdl", *options]) != 0
    assert message in capsys.readouterr().err
