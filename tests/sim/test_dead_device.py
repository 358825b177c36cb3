"""A device that takes no requests any more, or that ends the simulation, is at fault itself, not the bench."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import Hang, NoAnswer
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.ports import expected_ports
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.result import Result
from nvdla_tb.run.simulate import SharedProcess
from tests.sim.conftest import SMALL_DEVICES, planned, played

CONFIG = HwConfig.load("nv_small")
SCENARIO = planned("sdp_pass_through_full_atom")
DRIVEN = {
    # The first requests are taken; ``+deaf`` takes none after them.
    "csb2nvdla_ready": 'taken < 4 || !$test$plusargs("deaf")',
    "dla_intr": 'taken > 2 && $test$plusargs("rings")',
    "nvdla_core2dbb_ar_arvalid": 'taken > 2 && $test$plusargs("reads")',
    "nvdla_core2dbb_ar_arid": "1",
    "nvdla_core2dbb_ar_araddr": "32'h80000100",
    "nvdla_core2dbb_r_rready": "1",
    "nvdla_core2dbb_aw_awvalid": 'taken > 2 && $test$plusargs("writes")',
    "nvdla_core2dbb_aw_awid": "1",
    "nvdla_core2dbb_aw_awaddr": "32'h80000100",
    "nvdla_core2dbb_w_wvalid": 'taken > 2 && $test$plusargs("writes")',
    "nvdla_core2dbb_w_wlast": "1",
    "nvdla_core2dbb_b_bready": "1",
}
CODE = """
  reg [31:0] taken = 0;
  always @(posedge dla_csb_clk) begin
    if (csb2nvdla_valid && csb2nvdla_ready) taken <= taken + 1;
    if (taken == 2 && $test$plusargs("finishes")) $finish;
    if (taken == 2 && $test$plusargs("stops")) $fatal(1, "the device gives up");
  end
"""


@pytest.fixture(scope="module", params=SMALL_DEVICES)
def device(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A device that only takes requests, which plusargs make fail."""
    simulator, backend = request.param
    folder = tmp_path_factory.mktemp("device")
    ports = expected_ports(CONFIG)
    names = ",\n".join(f"  {port.direction} [{port.width - 1}:0] {port.name}" for port in ports)
    outputs = [port.name for port in ports if port.direction == "output"]
    assigned = "".join(f"  assign {name} = {DRIVEN.get(name, '0')};\n" for name in outputs)
    (folder / "dead.v").write_text(f"module NV_nvdla(\n{names}\n);\n{CODE}{assigned}endmodule\n")
    (folder / "dead.f").write_text("dead.v\n")
    return build(BuildSpec(CONFIG, simulator, filelist=folder / "dead.f", backend=backend), folder / "builds")


def play(device: Built, folder: Path, *plusargs: str, shared: bool = False) -> Result:
    process = SharedProcess(device, folder / "process", plusargs) if shared else None
    return played(device, folder / "it", SCENARIO, *plusargs, process=process)


def test_a_device_that_takes_no_requests_hangs(device: Built, tmp_path: Path) -> None:
    result = play(device, tmp_path, "+deaf")
    assert result.ending is Ending.HANG, result
    assert complaints(result.verdict)[0].startswith("CSB did not accept the write of ")
    assert result.verdict.cycles > 0


def test_a_device_whose_interrupt_cannot_be_served_hangs(device: Built, tmp_path: Path) -> None:
    result = play(device, tmp_path, "+rings", "+deaf")
    assert result.ending is Ending.HANG, result
    assert complaints(result.verdict)[0].startswith("CSB did not ")
    lost = [found for found in result.verdict.findings if isinstance(found.detail, NoAnswer)]
    assert [found.check for found in lost] == [Check.HANG]


@pytest.mark.parametrize("plusargs", [("+reads",), ("+reads", "+writes")], ids=["reads", "reads and writes"])
def test_a_device_that_moves_memory_without_end_hangs(device: Built, tmp_path: Path, plusargs: tuple[str, ...]) -> None:
    result = play(device, tmp_path, *plusargs)
    assert result.ending is Ending.HANG, result
    (hang,) = [found.detail for found in result.verdict.findings if isinstance(found.detail, Hang)]
    assert 16384 < hang.in_vain <= 3 * hang.quiet_cycles
    said = [line for line in complaints(result.verdict) if line.startswith("hang: ")]
    assert said[0].startswith(
        f"hang: {hang.in_vain} requests and beats of memory in vain for {hang.quiet_cycles} cycles"
    )


@pytest.mark.parametrize("plusarg", ["+finishes", "+stops"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_device_that_ends_the_simulation_crashes(device: Built, tmp_path: Path, plusarg: str, shared: bool) -> None:
    if shared and not device.spec.native:
        pytest.skip("only the native back end shares processes")
    result = play(device, tmp_path, plusarg, shared=shared)
    assert result.ending is Ending.CRASH, result
    said = ("the device ended the simulation", "the device gives up", "$stop")
    assert any(word in line for word in said for line in complaints(result.verdict)), result
