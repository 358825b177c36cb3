"""A device that takes no requests, ends the simulation, answers anything or writes what it has not read fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import Hang, NoAnswer, NothingRead
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.ports import expected_ports
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.simulate import SharedProcess
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.result import Result
from tests.sim.conftest import SMALL_DEVICES, planned, played

CONFIG = HwConfig.load("nv_small")
PLANNED = planned("sdp_pass_through_full_atom")
SCENARIO = replace(PLANNED, settings=replace(PLANNED.settings, hang_cycles=8000))
DRIVEN = {
    # The first requests are taken; ``+deaf`` takes none after them.
    "csb2nvdla_ready": 'taken < 4 || !$test$plusargs("deaf")',
    "nvdla2csb_valid": 'answers && $test$plusargs("answers")',
    "nvdla2csb_data": "answer",
    "nvdla2csb_wr_complete": 'completes && $test$plusargs("answers")',
    "dla_intr": 'taken > 2 && $test$plusargs("rings") || done',
    "nvdla_core2dbb_ar_arvalid": 'taken > 2 && $test$plusargs("reads")',
    "nvdla_core2dbb_ar_arid": "1",
    "nvdla_core2dbb_ar_araddr": "32'h80000100",
    "nvdla_core2dbb_r_rready": "1",
    "nvdla_core2dbb_aw_awvalid": 'taken > 2 && $test$plusargs("writes") || writes_address',
    "nvdla_core2dbb_aw_awid": "1",
    "nvdla_core2dbb_aw_awaddr": "copies ? address : 32'h80000100",
    "nvdla_core2dbb_w_wvalid": 'taken > 2 && $test$plusargs("writes") || writes_data',
    "nvdla_core2dbb_w_wdata": "data",
    "nvdla_core2dbb_w_wstrb": "copies ? 8'hff : 8'h0",
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

  // Reads are answered with 0 or with ones, but for that of S_INTR_STATUS of a device that copies.
  wire copies = $test$plusargs("copies");
  wire request = csb2nvdla_valid && csb2nvdla_ready;
  wire of_status = csb2nvdla_addr == 16'h%(status)04x >> 2;
  reg answers = 0, completes = 0, done = 0;
  reg [31:0] answer = 0;
  always @(posedge dla_csb_clk) begin
    answers <= request && !csb2nvdla_write;
    completes <= request && csb2nvdla_write && csb2nvdla_nposted;
    answer <= copies ? {31'd0, of_status && done} : {32{$test$plusargs("ones")}};
    if (request && csb2nvdla_write && of_status) done <= 0;
    if (answered == ATOMS && !was_done) done <= 1;
    was_done <= answered == ATOMS;
  end

  // A device that knows what the layer writes and reads nothing: it writes one atom after the other.
  localparam ATOMS = %(atoms)d;
  reg was_done = 0, runs = 0, address_taken = 0, data_taken = 0;
  reg [31:0] atom = 0, answered = 0;
  reg [63:0] content [0:ATOMS - 1];
  initial begin
%(content)s
  end
  wire [31:0] address = 32'h%(address)08x + 8 * atom;
  wire [63:0] data = content[atom];
  wire writes = runs && atom < ATOMS;
  wire writes_address = writes && !address_taken, writes_data = writes && !data_taken;
  wire address_now = address_taken || nvdla_core2dbb_aw_awready, data_now = data_taken || nvdla_core2dbb_w_wready;
  always @(posedge dla_core_clk) begin
    if (copies && request && csb2nvdla_write && csb2nvdla_addr == 16'h%(enable)04x >> 2) runs <= 1;
    if (writes) begin
      address_taken <= address_now && !data_now;
      data_taken <= data_now && !address_now;
      if (address_now && data_now) atom <= atom + 1;
    end
    if (copies && nvdla_core2dbb_b_bvalid) answered <= answered + 1;
  end
"""


def code() -> str:
    """Return the device's code, which knows what the scenario's layer writes."""
    (expectation,) = play_model(SCENARIO, CONFIG).expectations
    assert expectation.must_write.all()
    atoms = expectation.data.reshape(-1, 8)
    content = "\n".join(f"    content[{n}] = 64'h{bytes(atom)[::-1].hex()};" for n, atom in enumerate(atoms))
    registers = RegisterMap.of(CONFIG)
    status, enable = (registers.address(registers.parse(name)) for name in ("GLB.S_INTR_STATUS", "SDP.D_OP_ENABLE"))
    where = {"status": status, "enable": enable, "address": expectation.address}
    return CODE % {**where, "atoms": len(atoms), "content": content}


def write_device(folder: Path) -> Path:
    """Write the device into a folder and return its filelist."""
    ports = expected_ports(CONFIG)
    names = ",\n".join(f"  {port.direction} [{port.width - 1}:0] {port.name}" for port in ports)
    outputs = [port.name for port in ports if port.direction == "output"]
    assigned = "".join(f"  assign {name} = {DRIVEN.get(name, '0')};\n" for name in outputs)
    (folder / "dead.v").write_text(f"module NV_nvdla(\n{names}\n);\n{code()}{assigned}endmodule\n")
    (folder / "dead.f").write_text("dead.v\n")
    return folder / "dead.f"


@pytest.fixture(scope="module", params=SMALL_DEVICES)
def device(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A device that only takes requests, which plusargs make fail."""
    simulator, backend = request.param
    folder = tmp_path_factory.mktemp("device")
    filelist = write_device(folder)
    return build(BuildSpec(CONFIG, simulator, filelist=filelist, backend=backend), folder / "builds")


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


def hang_of(result: Result) -> Hang:
    """Require a hang, and return it."""
    assert result.ending is Ending.HANG, result
    (hang,) = [found.detail for found in result.verdict.findings if isinstance(found.detail, Hang)]
    return hang


def test_a_device_that_takes_everything_and_answers_nothing_hangs(device: Built, tmp_path: Path) -> None:
    assert hang_of(play(device, tmp_path)).waiting_for == ("SDP_0",)


def test_a_device_that_answers_0_and_rings_hangs_and_the_wait_is_named(device: Built, tmp_path: Path) -> None:
    hang = hang_of(play(device, tmp_path, "+answers", "+rings"))
    assert (hang.waiting_for, hang.interrupt_status, hang.in_vain) == (("SDP_0",), 0, 0)
    assert SCENARIO.settings.hang_cycles <= hang.quiet_cycles <= 2 * SCENARIO.settings.hang_cycles


def test_a_device_that_answers_0_and_never_rings_hangs(device: Built, tmp_path: Path) -> None:
    hang = hang_of(play(device, tmp_path, "+answers"))
    assert (hang.waiting_for, hang.interrupt_status) == (("SDP_0",), None)


def test_a_device_that_answers_ones_and_rings_owes_the_bytes(device: Built, tmp_path: Path) -> None:
    result = play(device, tmp_path, "+answers", "+rings", "+ones")
    assert result.ending is Ending.MISMATCH, result
    checks = [found.check for found in result.verdict.findings]
    assert Check.MISSING in checks
    assert len(checks) < 100


def test_a_device_that_writes_right_bytes_without_reading_is_found(device: Built, tmp_path: Path) -> None:
    result = play(device, tmp_path, "+answers", "+copies")
    assert result.ending is Ending.PROTOCOL, result
    assert [(found.check, found.detail) for found in result.verdict.findings] == [(Check.MEMORY, NothingRead())]
    assert result.verdict.judged_bytes > 0
