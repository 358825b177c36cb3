// The pins of one memory port on one side, its slave in port.cpp on the other.
module nvdla_harness_port #(
  parameter int PORT = 0,
  parameter int DATA_BITS = 64,
  parameter int ADDRESS_BITS = 32,
  parameter int ID_BITS = 8,
  parameter int LENGTH_BITS = 4
) (
  input wire clk,
  input wire kick,
  input wire reset_n,
  input wire aw_awvalid,
  output reg aw_awready,
  input wire [ID_BITS-1:0] aw_awid,
  input wire [LENGTH_BITS-1:0] aw_awlen,
  input wire [ADDRESS_BITS-1:0] aw_awaddr,
  input wire w_wvalid,
  output reg w_wready,
  input wire [DATA_BITS-1:0] w_wdata,
  input wire [DATA_BITS/8-1:0] w_wstrb,
  input wire w_wlast,
  output reg b_bvalid,
  input wire b_bready,
  output reg [ID_BITS-1:0] b_bid,
  input wire ar_arvalid,
  output reg ar_arready,
  input wire [ID_BITS-1:0] ar_arid,
  input wire [LENGTH_BITS-1:0] ar_arlen,
  input wire [ADDRESS_BITS-1:0] ar_araddr,
  output reg r_rvalid,
  input wire r_rready,
  output reg [ID_BITS-1:0] r_rid,
  output reg r_rlast,
  output reg [DATA_BITS-1:0] r_rdata
);
  // One signature for every width: as wide as the widest bus of any configuration.
  import "DPI-C" function void harness_port_edge(
    input int port, input int flags, input int ids, input longint unsigned araddr, input longint unsigned awaddr,
    input bit [511:0] wdata, input bit [63:0] wstrb,
    output int out_flags, output int out_ids, output bit [511:0] rdata);
  import "DPI-C" function void harness_port_pins(
    input int port, output int out_flags, output int out_ids, output bit [511:0] rdata);

  reg kick_seen, busy;
  // Edges in reset, up to those after which outputs must rest.
  reg [3:0] resting;
  int flags, ids;
  bit [511:0] rdata;

  initial begin
    if (DATA_BITS > 512 || ADDRESS_BITS > 64) $fatal(1, "memory ports have at most 512 data and 64 address bits");
    if (ID_BITS > 16 || LENGTH_BITS > 8) $fatal(1, "memory ports have at most 16 bits of id and 8 of length");
    kick_seen = 1'b0;
    busy = 1'b0;
    resting = '0;
    {ar_arready, aw_awready, w_wready, r_rvalid, r_rlast, b_bvalid} = 6'b111000;
    r_rid = '0;
    b_bid = '0;
    r_rdata = '0;
  end

  always @(posedge clk or kick) begin
    if (reset_n) resting <= 4'd0;
    else if (kick == kick_seen && resting != 4'd15) resting <= resting + 4'd1;
    if (kick != kick_seen || ar_arvalid || aw_awvalid || w_wvalid || busy) begin
      if (kick != kick_seen)
        harness_port_pins(PORT, flags, ids, rdata);
      else
        harness_port_edge(
          PORT, {8'b0, 8'(aw_awlen), 8'(ar_arlen), resting == 4'd15, reset_n, w_wlast, b_bready, r_rready, w_wvalid, aw_awvalid, ar_arvalid},
          {16'(aw_awid), 16'(ar_arid)}, 64'(ar_araddr), 64'(aw_awaddr), 512'(w_wdata), 64'(w_wstrb),
          flags, ids, rdata);
      {busy, b_bvalid, r_rlast, r_rvalid, w_wready, aw_awready, ar_arready} <= flags[6:0];
      r_rid <= ids[ID_BITS-1:0];
      b_bid <= ids[16+:ID_BITS];
      r_rdata <= rdata[DATA_BITS-1:0];
    end
    kick_seen <= kick;
  end
endmodule
