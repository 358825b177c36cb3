// The memory port of NVDLA on an AXI4 bus of twice its width, one read and one write at a time.
//
// A burst becomes one of whole wide words. Reads take from each the halves that were asked for; writes collect halves
// and set the strobes of those alone.
module nvdla_axi4_wide #(
    parameter ADDRESS_BITS = 32,
    parameter DATA_BITS = 64,
    parameter ID_BITS = 4
) (
    input  wire                     clk,
    input  wire                     rst_n,
    input  wire                     dbb_awvalid,
    output wire                     dbb_awready,
    input  wire [              7:0] dbb_awid,
    input  wire [              3:0] dbb_awlen,
    input  wire [ ADDRESS_BITS-1:0] dbb_awaddr,
    input  wire                     dbb_wvalid,
    output wire                     dbb_wready,
    input  wire [    DATA_BITS-1:0] dbb_wdata,
    input  wire [  DATA_BITS/8-1:0] dbb_wstrb,
    output wire                     dbb_bvalid,
    input  wire                     dbb_bready,
    output wire [              7:0] dbb_bid,
    input  wire                     dbb_arvalid,
    output wire                     dbb_arready,
    input  wire [              7:0] dbb_arid,
    input  wire [              3:0] dbb_arlen,
    input  wire [ ADDRESS_BITS-1:0] dbb_araddr,
    output wire                     dbb_rvalid,
    input  wire                     dbb_rready,
    output wire [              7:0] dbb_rid,
    output wire                     dbb_rlast,
    output wire [    DATA_BITS-1:0] dbb_rdata,
    output wire                     awvalid,
    input  wire                     awready,
    output wire [      ID_BITS-1:0] awid,
    output wire [ ADDRESS_BITS-1:0] awaddr,
    output wire [              7:0] awlen,
    output reg                      wvalid,
    input  wire                     wready,
    output reg  [  2*DATA_BITS-1:0] wdata,
    output reg  [2*DATA_BITS/8-1:0] wstrb,
    output reg                      wlast,
    input  wire                     bvalid,
    output wire                     bready,
    output wire                     arvalid,
    input  wire                     arready,
    output wire [      ID_BITS-1:0] arid,
    output wire [ ADDRESS_BITS-1:0] araddr,
    output wire [              7:0] arlen,
    input  wire                     rvalid,
    output wire                     rready,
    input  wire [  2*DATA_BITS-1:0] rdata
);
  localparam HALF = $clog2(DATA_BITS / 8);
  localparam STROBES = DATA_BITS / 8;

  function [ADDRESS_BITS-1:0] aligned(input [ADDRESS_BITS-1:0] address);
    aligned = (address >> (HALF + 1)) << (HALF + 1);
  endfunction

  // Reads
  reg reading;
  reg r_half;
  reg [3:0] r_left;
  reg [7:0] r_id;

  assign arvalid = dbb_arvalid && !reading;
  assign dbb_arready = arready && !reading;
  assign arid = dbb_arid[ID_BITS-1:0];
  assign araddr = aligned(dbb_araddr);
  assign arlen = ({4'd0, dbb_arlen} + dbb_araddr[HALF]) >> 1;
  assign dbb_rvalid = reading && rvalid;
  assign dbb_rid = r_id;
  assign dbb_rlast = r_left == 4'd0;
  assign dbb_rdata = r_half ? rdata[2*DATA_BITS-1:DATA_BITS] : rdata[DATA_BITS-1:0];
  assign rready = reading && dbb_rready && (r_half || dbb_rlast);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      {reading, r_half, r_left, r_id} <= 14'd0;
    end else if (arvalid && arready) begin
      reading <= 1'b1;
      r_half <= dbb_araddr[HALF];
      r_left <= dbb_arlen;
      r_id <= dbb_arid;
    end else if (dbb_rvalid && dbb_rready) begin
      r_half <= !r_half;
      r_left <= r_left - 4'd1;
      if (dbb_rlast) reading <= 1'b0;
    end

  // Writes
  reg writing, all;
  reg w_half;
  reg [3:0] w_left;
  reg [7:0] w_id;
  wire take = dbb_wvalid && dbb_wready;

  assign awvalid = dbb_awvalid && !writing;
  assign dbb_awready = awready && !writing;
  assign awid = dbb_awid[ID_BITS-1:0];
  assign awaddr = aligned(dbb_awaddr);
  assign awlen = ({4'd0, dbb_awlen} + dbb_awaddr[HALF]) >> 1;
  assign dbb_wready = writing && !all && !wvalid;
  assign dbb_bvalid = bvalid;
  assign dbb_bid = w_id;
  assign bready = dbb_bready;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      {writing, all, w_half, w_left, w_id, wvalid, wlast} <= 17'd0;
      wdata <= {2 * DATA_BITS{1'b0}};
      wstrb <= {2 * STROBES{1'b0}};
    end else begin
      if (awvalid && awready) begin
        writing <= 1'b1;
        all <= 1'b0;
        w_half <= dbb_awaddr[HALF];
        w_left <= dbb_awlen;
        w_id <= dbb_awid;
      end
      if (take) begin
        if (w_half) begin
          wdata[2*DATA_BITS-1:DATA_BITS] <= dbb_wdata;
          wstrb[2*STROBES-1:STROBES] <= dbb_wstrb;
        end else begin
          wdata[DATA_BITS-1:0] <= dbb_wdata;
          wstrb[STROBES-1:0] <= dbb_wstrb;
        end
        w_half <= !w_half;
        w_left <= w_left - 4'd1;
        wvalid <= w_half || w_left == 4'd0;
        wlast <= w_left == 4'd0;
        all <= w_left == 4'd0;
      end
      if (wvalid && wready) begin
        wvalid <= 1'b0;
        wstrb  <= {2 * STROBES{1'b0}};
      end
      if (bvalid && bready) writing <= 1'b0;
    end
endmodule
