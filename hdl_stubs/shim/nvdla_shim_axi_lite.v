// CSB on one side, the AXI4-Lite pins of a wrapped NVDLA on the other: one transaction for each request.
//
// A request is accepted before its transaction begins, so that whoever watches CSB hears of a write before the device
// does. Answers are taken one cycle after they came, so that they must stay. A bit of `broken` is high at every edge
// at which that rule of AXI_LITE_RULES (tb/nvdla_tb/judge/wrapped_rules.py) is broken.
module nvdla_shim_axi_lite #(
  parameter ADDRESS_BITS = 32,
  parameter [63:0] BASE = 64'd0
) (
  input  wire                    clk,
  input  wire                    reset_n,
  input  wire                    csb2nvdla_valid,
  output wire                    csb2nvdla_ready,
  input  wire [            15:0] csb2nvdla_addr,
  input  wire [            31:0] csb2nvdla_wdat,
  input  wire                    csb2nvdla_write,
  input  wire                    csb2nvdla_nposted,
  output reg                     nvdla2csb_valid,
  output reg  [            31:0] nvdla2csb_data,
  output reg                     nvdla2csb_wr_complete,
  output reg                     awvalid,
  input  wire                    awready,
  output wire [ADDRESS_BITS-1:0] awaddr,
  output wire [             2:0] awprot,
  output reg                     wvalid,
  input  wire                    wready,
  output reg  [            31:0] wdata,
  output wire [             3:0] wstrb,
  input  wire                    bvalid,
  output reg                     bready,
  input  wire [             1:0] bresp,
  output reg                     arvalid,
  input  wire                    arready,
  output wire [ADDRESS_BITS-1:0] araddr,
  output wire [             2:0] arprot,
  input  wire                    rvalid,
  output reg                     rready,
  input  wire [            31:0] rdata,
  input  wire [             1:0] rresp,
  output wire [             9:0] broken
);
  // Edges in reset after which outputs must rest, as for CSB.
  localparam [3:0] RESTING = 4'd15;

  reg [ADDRESS_BITS-1:0] address;
  reg writing, reading, nposted;
  reg b_waits, r_waits;
  reg [ 1:0] b_held;
  reg [33:0] r_held;
  reg [ 3:0] resting;

  // Whether everything that an answer needs has been accepted by this edge.
  wire write_asked = writing && (!awvalid || awready) && (!wvalid || wready);
  wire read_asked = reading && (!arvalid || arready);
  wire write_ends = write_asked && bvalid && bready;
  wire read_ends = read_asked && rvalid && rready;
  wire unknown = (awvalid && (awready ^ awready) !== 1'b0) || (wvalid && (wready ^ wready) !== 1'b0) ||
      (arvalid && (arready ^ arready) !== 1'b0) || ((bvalid ^ rvalid) ^ (bvalid ^ rvalid)) !== 1'b0;

  assign csb2nvdla_ready = !writing && !reading;
  assign awaddr = address;
  assign araddr = address;
  assign awprot = 3'd0;
  assign arprot = 3'd0;
  assign wstrb = 4'hf;

  assign broken[0] = reset_n && bvalid === 1'b1 && !write_asked;
  assign broken[1] = reset_n && rvalid === 1'b1 && !read_asked;
  assign broken[2] = reset_n && b_waits && bvalid === 1'b0;
  assign broken[3] = reset_n && b_waits && bvalid === 1'b1 && bresp !== b_held;
  assign broken[4] = reset_n && r_waits && rvalid === 1'b0;
  assign broken[5] = reset_n && r_waits && rvalid === 1'b1 && {rresp, rdata} !== r_held;
  assign broken[6] = reset_n && write_ends && bresp !== 2'b00;
  assign broken[7] = reset_n && read_ends && rresp !== 2'b00;
  assign broken[8] = !reset_n && resting == RESTING && (bvalid !== 1'b0 || rvalid !== 1'b0);
  assign broken[9] = reset_n && unknown;

  always @(posedge clk)
    if (reset_n) resting <= 4'd0;
    else if (resting != RESTING) resting <= resting + 4'd1;
  initial resting = 4'd0;

  always @(posedge clk or negedge reset_n)
    if (!reset_n) begin
      {writing, reading, nposted} <= 3'd0;
      {awvalid, wvalid, bready, arvalid, rready} <= 5'd0;
      {b_waits, r_waits} <= 2'd0;
      b_held <= 2'd0;
      r_held <= 34'd0;
      address <= {ADDRESS_BITS{1'b0}};
      wdata <= 32'd0;
      nvdla2csb_valid <= 1'b0;
      nvdla2csb_data <= 32'd0;
      nvdla2csb_wr_complete <= 1'b0;
    end else begin
      nvdla2csb_valid <= read_ends;
      nvdla2csb_wr_complete <= write_ends && nposted;
      if (read_ends) nvdla2csb_data <= rdata;
      b_waits <= bvalid === 1'b1 && !bready;
      r_waits <= rvalid === 1'b1 && !rready;
      b_held <= bresp;
      r_held <= {rresp, rdata};
      bready <= write_asked && bvalid && !bready;
      rready <= read_asked && rvalid && !rready;
      if (awready) awvalid <= 1'b0;
      if (wready) wvalid <= 1'b0;
      if (arready) arvalid <= 1'b0;
      if (write_ends) writing <= 1'b0;
      if (read_ends) reading <= 1'b0;
      if (csb2nvdla_ready && csb2nvdla_valid) begin
        {writing, awvalid, wvalid} <= {3{csb2nvdla_write}};
        {reading, arvalid} <= {2{!csb2nvdla_write}};
        address <= BASE + {46'd0, csb2nvdla_addr, 2'b00};
        wdata <= csb2nvdla_wdat;
        nposted <= csb2nvdla_nposted;
      end
    end
endmodule
