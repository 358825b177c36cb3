// The memory port of NVDLA as AXI4 of the same width: bursts of whole words, with ids of two more bits.
module nvdla_axi4_port #(
    parameter ADDRESS_BITS = 32,
    parameter DATA_BITS = 64
) (
    input  wire                    dbb_awvalid,
    output wire                    dbb_awready,
    input  wire [             7:0] dbb_awid,
    input  wire [             3:0] dbb_awlen,
    input  wire [ADDRESS_BITS-1:0] dbb_awaddr,
    input  wire                    dbb_arvalid,
    output wire                    dbb_arready,
    input  wire [             7:0] dbb_arid,
    input  wire [             3:0] dbb_arlen,
    input  wire [ADDRESS_BITS-1:0] dbb_araddr,
    output wire [             7:0] dbb_bid,
    output wire [             7:0] dbb_rid,
    output wire                    awvalid,
    input  wire                    awready,
    output wire [             9:0] awid,
    output wire [ADDRESS_BITS-1:0] awaddr,
    output wire [             7:0] awlen,
    output wire [             2:0] awsize,
    output wire [             1:0] awburst,
    output wire                    arvalid,
    input  wire                    arready,
    output wire [             9:0] arid,
    output wire [ADDRESS_BITS-1:0] araddr,
    output wire [             7:0] arlen,
    output wire [             2:0] arsize,
    output wire [             1:0] arburst,
    input  wire [             9:0] bid,
    input  wire [             9:0] rid
);
  localparam [2:0] SIZE = $clog2(DATA_BITS / 8);
  localparam [1:0] INCR = 2'b01, TAG = 2'b10;

  assign awvalid = dbb_awvalid;
  assign dbb_awready = awready;
  assign awid = {TAG, dbb_awid};
  assign awaddr = dbb_awaddr;
  assign awlen = {4'd0, dbb_awlen};
  assign awsize = SIZE;
  assign awburst = INCR;
  assign arvalid = dbb_arvalid;
  assign dbb_arready = arready;
  assign arid = {TAG, dbb_arid};
  assign araddr = dbb_araddr;
  assign arlen = {4'd0, dbb_arlen};
  assign arsize = SIZE;
  assign arburst = INCR;
  assign dbb_bid = bid[7:0];
  assign dbb_rid = rid[7:0];
endmodule
