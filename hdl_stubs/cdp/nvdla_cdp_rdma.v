// CDP_RDMA: reads the cube column by column, all surfaces of one position after
// each other, because the normalisation reaches across surfaces.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_cdp_rdma #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`CDP_RDMA_WORDS-`CDP_RDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [            12:0] surfaces,      // minus one
    output wire                    idle,
    output wire                    rd_req_valid,
    input  wire                    rd_req_ready,
    output wire [  ADDR_WIDTH-1:0] rd_req_addr,
    input  wire                    rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                    data_valid,
    input  wire                    data_ready,
    output wire [8*ATOM_BYTES-1:0] data
);
  `NVDLA_BUG(cdp_src_line_stride)
  `NVDLA_BUG(cdp_src_surface_stride)
  `NVDLA_BUG(cdp_src_base)
  localparam [ADDR_WIDTH-1:0] ATOM = {{(ADDR_WIDTH - 8) {1'b0}}, ATOM_BYTES[7:0]};

  wire walking, step, reads_idle;
  wire [ADDR_WIDTH-1:0] addr;

  assign idle = !walking && reads_idle;

  nvdla_walker #(
      .ADDR_WIDTH(ADDR_WIDTH)
  ) walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (start),
      .base   (cfg[32*(`CDP_RDMA_D_SRC_BASE_ADDR_LOW-`CDP_RDMA_OP_ENABLE)+:ADDR_WIDTH] + (bug_cdp_src_base ? ATOM : 0)),
      .last   ({
        13'd0,
        cfg[32*(`CDP_RDMA_D_DATA_CUBE_HEIGHT-`CDP_RDMA_OP_ENABLE)+:13],
        cfg[32*(`CDP_RDMA_D_DATA_CUBE_WIDTH-`CDP_RDMA_OP_ENABLE)+:13],
        surfaces
      }),
      .strides({
        32'd0,
        cfg[32*(`CDP_RDMA_D_SRC_LINE_STRIDE-`CDP_RDMA_OP_ENABLE)+:32] +
            (bug_cdp_src_line_stride ? ATOM_BYTES[31:0] : 32'd0),
        ATOM_BYTES[31:0],
        cfg[32*(`CDP_RDMA_D_SRC_SURFACE_STRIDE-`CDP_RDMA_OP_ENABLE)+:32] -
            (bug_cdp_src_surface_stride ? ATOM_BYTES[31:0] : 32'd0)
      }),
      .valid  (walking),
      .ready  (step),
      .addr   (addr)
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
