// The pins of CSB and the interrupt line on one side, the player in csb.cpp on the other.
module nvdla_harness_csb (
  input wire clk,
  input wire kick,
  input wire reset_n,
  input wire dla_intr,
  output reg csb2nvdla_valid,
  output reg [15:0] csb2nvdla_addr,
  output reg [31:0] csb2nvdla_wdat,
  output reg csb2nvdla_write,
  output reg csb2nvdla_nposted,
  input wire csb2nvdla_ready,
  input wire nvdla2csb_valid,
  input wire [31:0] nvdla2csb_data,
  input wire nvdla2csb_wr_complete
);
  import "DPI-C" function void harness_csb_edge(
    input int flags, input int answer_data, output int out_flags, output int addr, output int wdat);
  import "DPI-C" function void harness_line_moved();
  import "DPI-C" function void harness_csb_restart(output int out_flags, output int addr, output int wdat);

  // The line is looked at as long as it moves, so that every change is seen.
  reg kick_seen, busy, intr_seen;
  // Edges in reset, up to those after which outputs must rest.
  reg [3:0] resting;
  int flags, addr, wdat;

  initial begin
    kick_seen = 1'b0;
    busy = 1'b0;
    intr_seen = 1'b0;
    resting = '0;
    csb2nvdla_valid = 1'b0;
    csb2nvdla_addr = '0;
    csb2nvdla_wdat = '0;
    csb2nvdla_write = 1'b0;
    csb2nvdla_nposted = 1'b0;
  end

  always @(posedge clk or kick) begin
    if (reset_n) resting <= 4'd0;
    else if (kick == kick_seen && resting != 4'd15) resting <= resting + 4'd1;
    if (kick != kick_seen || busy || dla_intr || intr_seen || nvdla2csb_valid || nvdla2csb_wr_complete) begin
      if (kick != kick_seen)
        harness_csb_restart(flags, addr, wdat);
      else
        harness_csb_edge(
          {26'b0, resting == 4'd15, reset_n, dla_intr, nvdla2csb_wr_complete, nvdla2csb_valid, csb2nvdla_ready}, nvdla2csb_data,
          flags, addr, wdat);
      {busy, csb2nvdla_nposted, csb2nvdla_write, csb2nvdla_valid} <= flags[3:0];
      csb2nvdla_addr <= addr[15:0];
      csb2nvdla_wdat <= wdat;
    end
    if (kick == kick_seen) intr_seen <= dla_intr;
    kick_seen <= kick;
  end

  always @(dla_intr) if (reset_n) harness_line_moved();
endmodule
