// PDP_RDMA: reads the cube of a pooling layer, band by band.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_pdp_rdma #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8
) (
    input  wire                                             clk,
    input  wire                                             rst_n,
    input  wire                                             start,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`PDP_RDMA_WORDS-`PDP_RDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [                                     12:0] surfaces,  // minus one
    output wire                                             idle,
    output wire                                             rd_req_valid,
    input  wire                                             rd_req_ready,
    output wire [                           ADDR_WIDTH-1:0] rd_req_addr,
    input  wire                                             rd_rsp_valid,
    input  wire [                         8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                                             data_valid,
    input  wire                                             data_ready,
    output wire [                         8*ATOM_BYTES-1:0] data
);
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam [ADDR_WIDTH-1:0] ATOM = {{(ADDR_WIDTH - 8) {1'b0}}, ATOM_BYTES[7:0]};

  `NVDLA_BUG(pdp_src_line_stride)
  `NVDLA_BUG(pdp_src_surface_stride)
  `NVDLA_BUG(pdp_src_base)
  // One band: SELECT starts the walker on it, WALK ends with its last address.
  localparam [1:0] DONE = 2'd0, SELECT = 2'd1, WALK = 2'd2;

  reg [1:0] state;
  wire unused_is_first, is_last, walking, step, reads_idle;
  wire [12:0] in_start, in_width, unused_out_start, unused_out_width;
  wire [ADDR_WIDTH-1:0] addr;
  wire [ADDR_WIDTH-1:0] base = cfg[32*(`PDP_RDMA_D_SRC_BASE_ADDR_LOW-`PDP_RDMA_OP_ENABLE)+:ADDR_WIDTH];
  wire band_ends = (state == WALK) && !walking;

  assign idle = (state == DONE) && reads_idle;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) state <= DONE;
    else if (start) state <= SELECT;
    else if (state == SELECT) state <= WALK;
    else if (band_ends) state <= is_last ? DONE : SELECT;

  nvdla_pdp_bands bands (
      .clk        (clk),
      .rst_n      (rst_n),
      .start      (start),
      .next       (band_ends && !is_last),
      .split_num  (cfg[32*(`PDP_RDMA_D_OPERATION_MODE_CFG-`PDP_RDMA_OP_ENABLE)+:8]),
      .kernel     (cfg[32*(`PDP_RDMA_D_POOLING_KERNEL_CFG-`PDP_RDMA_OP_ENABLE)+:4]),
      .stride     (cfg[32*(`PDP_RDMA_D_POOLING_KERNEL_CFG-`PDP_RDMA_OP_ENABLE)+4+:4]),
      .full_in    (cfg[32*(`PDP_RDMA_D_DATA_CUBE_IN_WIDTH-`PDP_RDMA_OP_ENABLE)+:13]),
      .full_out   (13'd0),
      .partial_in (cfg[32*(`PDP_RDMA_D_PARTIAL_WIDTH_IN-`PDP_RDMA_OP_ENABLE)+:30]),
      .partial_out(30'd0),
      .is_first   (unused_is_first),
      .is_last    (is_last),
      .in_start   (in_start),
      .in_width   (in_width),
      .out_start  (unused_out_start),
      .out_width  (unused_out_width)
  );

  /* verilator lint_off UNUSEDSIGNAL */
  wire [127:0] strides = {  // surface and line, as wide as an address may be
    32'd0,
    cfg[32*(`PDP_RDMA_D_SRC_SURFACE_STRIDE-`PDP_RDMA_OP_ENABLE)+:32],
    32'd0,
    cfg[32*(`PDP_RDMA_D_SRC_LINE_STRIDE-`PDP_RDMA_OP_ENABLE)+:32]
  };
  /* verilator lint_on UNUSEDSIGNAL */

  nvdla_cube_walker #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) walker (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (state == SELECT),
      .base          (base + (bug_pdp_src_base ? ATOM : 0) + ({{(ADDR_WIDTH - 13) {1'b0}}, in_start} << LOG2_ATOM)),
      .width         (in_width),
      .height        (cfg[32*(`PDP_RDMA_D_DATA_CUBE_IN_HEIGHT-`PDP_RDMA_OP_ENABLE)+:13]),
      .surfaces      (surfaces),
      .beats         (2'd0),
      .line_stride   (strides[ADDR_WIDTH-1:0] - (bug_pdp_src_line_stride ? ATOM : 0)),
      .surface_stride(strides[64+:ADDR_WIDTH] + (bug_pdp_src_surface_stride ? strides[ADDR_WIDTH-1:0] : 0)),
      .valid         (walking),
      .ready         (step),
      .addr          (addr)
  );

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(8 * ATOM_BYTES)
  ) reads (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(walking),
      .addr_ready(step),
      .addr      (addr),
      .req_valid (rd_req_valid),
      .req_ready (rd_req_ready),
      .req_addr  (rd_req_addr),
      .rsp_valid (rd_rsp_valid),
      .rsp_data  (rd_rsp_data),
      .data_valid(data_valid),
      .data_ready(data_ready),
      .data      (data),
      .idle      (reads_idle)
  );
endmodule
