"""What to do about messages that a first build of the public RTL meets."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile.advice import advice
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec
from nvdla_tb.run.errors import BuildError
from tests.unit.run.compile.tiny import write_rtl

MET = [
    ("%Error: fifo.v:1852:23: Unsupported or unknown PLI call: '$RollPLI'", "add +define+SYNTHESIS "),
    ("%Error: In defparam, instance sync_0.first_stage_of_sync never declared", "add +define+SYNTHESIS "),
    ("%Error: Cannot find file containing module: 'DW02_multp'", "add +define+DESIGNWARE_NOEXIST "),
    ("a.v:7: error: Unknown module type: CKLNQD12PO4", "add +define+VLIB_BYPASS_POWER_CG "),
    ("%Error: Cannot find include file: 'simulate_x_tick.vh'", "add +incdir+ with vmod/include and vmod/vlibs "),
    ("%Error: Define or directive not defined: '`x_or_0'", "add +incdir+ with vmod/include and vmod/vlibs "),
    (
        "%Error: Cannot find file containing module: 'NV_BLKBOX_SINK'",
        "name vmod/vlibs of the public RTL ",
    ),
    (
        "%Error: Cannot find file containing module: 'nv_ram_rws_16x64'",
        "name the RAMs of the public RTL ",
    ),
]


@pytest.mark.parametrize(("message", "begins"), MET, ids=[message.split()[-1] for message, _ in MET])
def test_a_message_of_the_public_rtl_gets_a_line_on_what_to_do(message: str, begins: str) -> None:
    (line,) = advice(["%Warning: other", message, message])
    assert line.startswith(begins)


def test_other_messages_get_none() -> None:
    assert advice(["%Error: a.v:1:1: syntax error", "%Error: Cannot find file containing module: 'my_module'"]) == []


def test_a_refused_build_says_first_what_to_do(tmp_path: Path) -> None:
    calls = "  initial begin\n" + 5 * "    $RollPLI;\n" + "  end\n"
    filelist = write_rtl(tmp_path / "rtl", extra_code=calls)
    with pytest.raises(BuildError) as caught:
        build(BuildSpec(HwConfig.load("nv_small"), filelist=filelist), tmp_path / "builds")
    lines = str(caught.value).splitlines()
    assert lines[0] == "Verilator cannot elaborate NV_nvdla:"
    assert lines[1].startswith("add +define+SYNTHESIS to the filelist: ")
    assert [("$RollPLI" in line) for line in lines[2:-1]] == [True] * 3
    assert lines[-1] == f"log: {caught.value.log_path}"
