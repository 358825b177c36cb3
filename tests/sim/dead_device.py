"""A device that does nothing, answers with 0 or with ones, rings without cause, or writes what it has not read.

Plusargs choose what it does, such as looping in zero time, or keeping something beyond a reset; it computes nothing.
All tests of a broken device play on it, so that it is built once a back end.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.run.compile.ports import expected_ports
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.stimulus.model import play_model
from tests.sim.conftest import build_unoptimised, planned

CONFIG = HwConfig.load("nv_small")
PLANNED = planned("sdp_pass_through_full_atom")
SCENARIO = replace(PLANNED, settings=msgspec.structs.replace(PLANNED.settings, hang_cycles=8000))
DRIVEN = {
    # The first requests are taken; ``+deaf`` takes none after them.
    "csb2nvdla_ready": 'taken < 4 || !$test$plusargs("deaf")',
    "nvdla2csb_valid": 'answers && $test$plusargs("answers")',
    "nvdla2csb_data": "answer",
    "nvdla2csb_wr_complete": 'completes && $test$plusargs("answers")',
    "dla_intr": 'taken > 2 && $test$plusargs("rings") || done',
    "nvdla_core2dbb_ar_arvalid": 'taken > 2 && $test$plusargs("reads") || looks',
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
    if (request && csb2nvdla_write && of_status || !dla_reset_rstn) done <= 0;
    else if (answered == ATOMS && !was_done) done <= 1;
    was_done <= answered == ATOMS;
  end

  // A device that knows what the layer writes and reads nothing, or one word: it writes one atom after the other.
  localparam ATOMS = %(atoms)d;
  reg was_done = 0, runs = 0, looked = 0, address_taken = 0, data_taken = 0;
  reg [31:0] atom = 0, answered = 0;
  reg [63:0] content [0:ATOMS - 1];
  initial begin
%(content)s
  end
  wire [31:0] address = 32'h%(address)08x + 8 * atom;
  wire [63:0] data = content[atom] ^ {64{dirty}} ^ {32'd0, unknown};
  wire looks = runs && !looked && $test$plusargs("looks");
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
    if (looks && nvdla_core2dbb_ar_arready) looked <= 1;
    if (!dla_reset_rstn) begin
      {runs, looked, address_taken, data_taken} <= 0;
      atom <= 0;
      answered <= 0;
    end
  end

  // A device in which the layers before a reset make what is written after it wrong.
  reg worked = 0, dirty = 0;
  always @(posedge dla_core_clk) if (dla_intr) worked <= 1;
  always @(negedge dla_reset_rstn) dirty <= worked && $test$plusargs("leaks");

  // A device that assigns X to what it writes.
  reg [31:0] unknown = 0;
  always @(posedge dla_core_clk) unknown <= $test$plusargs("unknown") ? 32'bx : 32'd0;

  // At the tenth rising edge after the reset: a process without delay, or signals that never settle.
  reg [31:0] edges = 0, spun = 0;
  reg begun = 0, flips = 0;
  always @(posedge dla_core_clk) if (dla_reset_rstn) begin
    edges <= edges + 1;
    if (edges == 9 && $test$plusargs("spins")) while (spun != 32'hffffffff) spun = spun ^ csb2nvdla_wdat;
    if (edges == 9 && $test$plusargs("flips")) begun <= 1;
  end
  wire flipped = begun ? ~flips : 1'b0;
  always @(flipped) flips <= flipped;
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


def built_device(folder: Path, simulator: str, backend: str) -> Built:
    """Write the device into a folder and return its model, which is that of all tests."""
    return build_unoptimised(BuildSpec(CONFIG, simulator, filelist=write_device(folder), backend=backend))
