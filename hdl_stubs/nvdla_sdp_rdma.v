// SDP_RDMA: read streams of one layer, the cube (M, unless it comes on the fly) and
// the operands of X1 (B) and X2 (N). The E stream has no user in nv_small.
//
// A per-channel operand is a continuous 1x1xC run, so its surfaces follow each
// other directly and the operand strides do not apply. The same holds for the
// cube and for per-element operands when the cube is 1x1 in width and height
// (both measured on the public nv_small RTL).
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_sdp_rdma #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8
) (
    input  wire                                             clk,
    input  wire                                             rst_n,
    input  wire                                             start,
    input  wire                                             flying,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`SDP_RDMA_WORDS-`SDP_RDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    output wire                                             idle,
    // Memory clients M, B, N from bit 0 up
    output wire [                                      2:0] rd_req_valid,
    input  wire [                                      2:0] rd_req_ready,
    output wire [                         3*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [                                      2:0] rd_rsp_valid,
    input  wire [                         8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                                             m_valid,
    input  wire                                             m_ready,
    output wire [                         8*ATOM_BYTES-1:0] m_data,
    // Operand atoms: B in index 0, N in index 1
    output wire [                                      1:0] operand_on,
    output wire [                                      1:0] operand_per_element,
    output wire [                                      1:0] operand_valid,
    input  wire [                                      1:0] operand_next,
    output wire [                      2*16*ATOM_BYTES-1:0] operand_alu,
    output wire [                      2*16*ATOM_BYTES-1:0] operand_mul
);
  localparam W = 8 * ATOM_BYTES;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam [ADDR_WIDTH-1:0] CUBE_ATOM = ATOM_BYTES[ADDR_WIDTH-1:0];
  // Words from one operand's registers to the next one's: BRDMA_CFG to NRDMA_CFG
  localparam OPERAND_WORDS = `SDP_RDMA_D_NRDMA_CFG - `SDP_RDMA_D_BRDMA_CFG;

  wire [12:0] width = cfg[32*(`SDP_RDMA_D_DATA_CUBE_WIDTH-`SDP_RDMA_OP_ENABLE)+:13];
  wire [12:0] height = cfg[32*(`SDP_RDMA_D_DATA_CUBE_HEIGHT-`SDP_RDMA_OP_ENABLE)+:13];
  wire [12:0] surfaces = cfg[32*(`SDP_RDMA_D_DATA_CUBE_CHANNEL-`SDP_RDMA_OP_ENABLE)+:13] >> LOG2_ATOM;

  `NVDLA_BUG(sdp_src_line_stride)
  `NVDLA_BUG(sdp_src_surface_stride)
  `NVDLA_BUG(sdp_src_base)
  `NVDLA_BUG(sdp_operand_base)
  `NVDLA_BUG(sdp_operand_line_stride)
  `NVDLA_BUG(sdp_operand_surface_stride)
  `NVDLA_BUG(sdp_operand_per_channel)
  wire [ADDR_WIDTH-1:0] src_surface_stride =
      cfg[32*(`SDP_RDMA_D_SRC_SURFACE_STRIDE-`SDP_RDMA_OP_ENABLE)+:ADDR_WIDTH] +
      (bug_sdp_src_surface_stride ? CUBE_ATOM : 0);
  wire [ADDR_WIDTH-1:0] packed_line = ({{(ADDR_WIDTH - 13) {1'b0}}, width} + 1'b1) << LOG2_ATOM;
  wire [ADDR_WIDTH-1:0] src_line_stride = bug_sdp_src_line_stride ? packed_line :
      cfg[32*(`SDP_RDMA_D_SRC_LINE_STRIDE-`SDP_RDMA_OP_ENABLE)+:ADDR_WIDTH];
  wire one_column = (width == 13'd0) && (height == 13'd0);

  wire m_walking, m_step, m_idle;
  wire [ADDR_WIDTH-1:0] m_addr;
  wire [1:0] operand_idle;

  assign idle = !m_walking && m_idle && (operand_idle == 2'b11);

  nvdla_cube_walker #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) m_walker (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (start && !flying),
      .base          (cfg[32*(`SDP_RDMA_D_SRC_BASE_ADDR_LOW-`SDP_RDMA_OP_ENABLE)+:ADDR_WIDTH] +
                       (bug_sdp_src_base ? src_line_stride : 0)),
      .width         (width),
      .height        (height),
      .surfaces      (surfaces),
      .beats         (2'd0),
      .line_stride   (src_line_stride),
      .surface_stride(one_column ? CUBE_ATOM : src_surface_stride),
      .valid         (m_walking),
      .ready         (m_step),
      .addr          (m_addr)
  );

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(W)
  ) m_read (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(m_walking),
      .addr_ready(m_step),
      .addr      (m_addr),
      .req_valid (rd_req_valid[0]),
      .req_ready (rd_req_ready[0]),
      .req_addr  (rd_req_addr[ADDR_WIDTH-1:0]),
      .rsp_valid (rd_rsp_valid[0]),
      .rsp_data  (rd_rsp_data),
      .data_valid(m_valid),
      .data_ready(m_ready),
      .data      (m_data),
      .idle      (m_idle)
  );

  genvar g;
  generate
    for (g = 0; g < 2; g = g + 1) begin : operand
      localparam FIRST = 32 * (`SDP_RDMA_D_BRDMA_CFG - `SDP_RDMA_OP_ENABLE + g * OPERAND_WORDS);

      wire off = cfg[FIRST];
      wire per_element = cfg[FIRST+4] && !bug_sdp_operand_per_channel;
      wire [1:0] beats;
      wire walking, step, words_idle, word_valid, word_ready;
      wire [ADDR_WIDTH-1:0] addr;
      wire [W-1:0] word_data;
      wire [ADDR_WIDTH-1:0] atom_bytes = ({{(ADDR_WIDTH - 2) {1'b0}}, beats} + 1'b1) << LOG2_ATOM;

      assign operand_on[g]          = !off;
      assign operand_per_element[g] = per_element;
      assign operand_idle[g]        = !walking && words_idle;

      nvdla_cube_walker #(
          .ADDR_WIDTH(ADDR_WIDTH),
          .ATOM_BYTES(ATOM_BYTES)
      ) walker (
          .clk           (clk),
          .rst_n         (rst_n),
          .start         (start && !off),
          .base          (cfg[FIRST+32+:ADDR_WIDTH] + (bug_sdp_operand_base ? atom_bytes : 0)),
          .width         (per_element ? width : 13'd0),
          .height        (per_element ? height : 13'd0),
          .surfaces      (surfaces),
          .beats         (beats),
          .line_stride   (cfg[FIRST+96+:ADDR_WIDTH] + (bug_sdp_operand_line_stride ? atom_bytes : 0)),
          .surface_stride((per_element && !one_column) ?
                          cfg[FIRST+128+:ADDR_WIDTH] + (bug_sdp_operand_surface_stride ? atom_bytes : 0) : atom_bytes),
          .valid         (walking),
          .ready         (step),
          .addr          (addr)
      );

      nvdla_dma_read #(
          .ADDR_WIDTH(ADDR_WIDTH),
          .DATA_WIDTH(W)
      ) read (
          .clk       (clk),
          .rst_n     (rst_n),
          .addr_valid(walking),
          .addr_ready(step),
          .addr      (addr),
          .req_valid (rd_req_valid[1+g]),
          .req_ready (rd_req_ready[1+g]),
          .req_addr  (rd_req_addr[(1+g)*ADDR_WIDTH+:ADDR_WIDTH]),
          .rsp_valid (rd_rsp_valid[1+g]),
          .rsp_data  (rd_rsp_data),
          .data_valid(word_valid),
          .data_ready(word_ready),
          .data      (word_data),
          .idle      (words_idle)
      );

      nvdla_sdp_operand #(
          .ATOM_BYTES(ATOM_BYTES)
      ) collect (
          .clk     (clk),
          .rst_n   (rst_n),
          .data_use(cfg[FIRST+1+:2]),
          .two_byte(cfg[FIRST+3]),
          .half_atom(1'b0),
          .beats   (beats),
          .in_valid(word_valid),
          .in_ready(word_ready),
          .in_data (word_data),
          .valid   (operand_valid[g]),
          .next    (operand_next[g]),
          .alu     (operand_alu[16*ATOM_BYTES*g+:16*ATOM_BYTES]),
          .mul     (operand_mul[16*ATOM_BYTES*g+:16*ATOM_BYTES])
      );
    end
  endgenerate
endmodule
