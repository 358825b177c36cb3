// SDP_RDMA: read streams of one layer, the cube (M, unless it comes on the fly) and the
// operands of X1 (B), X2 (N) and, of FULL, Y (E), in groups of channels as
// nvdla_sdp_core wants them.
//
// A per-channel operand is a continuous 1x1xC run, so its surfaces follow each
// other directly and the operand strides do not apply. The same holds for the
// cube and for per-element operands when the cube is 1x1 in width and height
// (both measured on the public nv_small RTL). All cubes of a layer use the operands of
// the first one (measured on the public nv_full RTL), and their batch strides do not
// apply; those per element are read once for each cube.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_sdp_rdma #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter OPERANDS = 2
) (
    input  wire                              clk,
    input  wire                              rst_n,
    input  wire                              start,
    input  wire                              flying,        // the cube is not read
    input  wire                              winograd,      // positions in squares of 2x2
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`SDP_RDMA_WORDS-`SDP_RDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [                      12:0] groups,        // minus one
    input  wire [                       4:0] cubes,         // minus one
    input  wire                              wide,          // groups of ATOM_BYTES channels, else of half as many
    input  wire                              in_bytes,      // INT8 is read
    output wire                              idle,
    // Memory clients M, B, N, E from bit 0 up
    output wire [                OPERANDS:0] rd_req_valid,
    input  wire [                OPERANDS:0] rd_req_ready,
    output wire [                OPERANDS:0] rd_req_mc,     // DBB, else CVSRAM
    output wire [(OPERANDS+1)*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [                OPERANDS:0] rd_rsp_valid,
    input  wire [          8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                              m_valid,
    input  wire                              m_ready,
    output wire [          8*ATOM_BYTES-1:0] m_data,
    // Operands of a group, B lowest
    output wire [              OPERANDS-1:0] operand_on,
    output wire [              OPERANDS-1:0] operand_per_element,
    output wire [              OPERANDS-1:0] operand_valid,
    input  wire [              OPERANDS-1:0] operand_next,
    output wire [OPERANDS*16*ATOM_BYTES-1:0] operand_alu,
    output wire [OPERANDS*16*ATOM_BYTES-1:0] operand_mul
);
  localparam W = 8 * ATOM_BYTES;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam [31:0] ATOM = ATOM_BYTES;
  // Words from one operand's registers to the next one's: BRDMA_CFG to NRDMA_CFG
  localparam OPERAND_WORDS = `SDP_RDMA_D_NRDMA_CFG - `SDP_RDMA_D_BRDMA_CFG;

  wire [12:0] width = cfg[32*(`SDP_RDMA_D_DATA_CUBE_WIDTH-`SDP_RDMA_OP_ENABLE)+:13];
  wire [12:0] height = cfg[32*(`SDP_RDMA_D_DATA_CUBE_HEIGHT-`SDP_RDMA_OP_ENABLE)+:13];

  `NVDLA_BUG(sdp_src_line_stride)
  `NVDLA_BUG(sdp_src_surface_stride)
  `NVDLA_BUG(sdp_src_base)
  `NVDLA_BUG(sdp_operand_base)
  `NVDLA_BUG(sdp_operand_line_stride)
  `NVDLA_BUG(sdp_operand_surface_stride)
  `NVDLA_BUG(sdp_operand_per_channel)
  `NVDLA_BUG(sdp_operand_per_cube)
  wire one_column = (width == 13'd0) && (height == 13'd0);
  wire two_parts = wide && !in_bytes;
  wire [31:0] src_line_stride = cfg[32*(`SDP_RDMA_D_SRC_LINE_STRIDE-`SDP_RDMA_OP_ENABLE)+:32];
  wire [31:0] packed_line = ({19'd0, width} + 32'd1) << LOG2_ATOM;
  wire [31:0] line_stride = bug_sdp_src_line_stride ? packed_line : src_line_stride;
  wire [31:0] src_surface_stride = cfg[32*(`SDP_RDMA_D_SRC_SURFACE_STRIDE-`SDP_RDMA_OP_ENABLE)+:32];
  wire [31:0] surface_stride = one_column ? ATOM : src_surface_stride + (bug_sdp_src_surface_stride ? ATOM : 32'd0);
  wire [ADDR_WIDTH-1:0] src_base = cfg[32*(`SDP_RDMA_D_SRC_BASE_ADDR_LOW-`SDP_RDMA_OP_ENABLE)+:ADDR_WIDTH];

  wire m_walking, m_step, m_idle;
  wire [ADDR_WIDTH-1:0] m_addr;
  wire [OPERANDS-1:0] operand_idle;

  assign idle         = !m_walking && m_idle && (&operand_idle);
  assign rd_req_mc[0] = cfg[32*(`SDP_RDMA_D_SRC_DMA_CFG-`SDP_RDMA_OP_ENABLE)];

  nvdla_walker #(
      .ADDR_WIDTH(ADDR_WIDTH)
  ) m_walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (start && !flying),
      .base   (src_base + moved(line_stride, bug_sdp_src_base)),
      .last   ({groups, height, width, 12'd0, two_parts}),
      .strides({
        two_parts ? surface_stride << 1 : surface_stride,
        line_stride,
        ATOM,
        surface_stride
      }),
      .valid  (m_walking),
      .ready  (m_step),
      .addr   (m_addr)
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
    for (g = 0; g < OPERANDS; g = g + 1) begin : operand
      localparam FIRST = 32 * (`SDP_RDMA_D_BRDMA_CFG - `SDP_RDMA_OP_ENABLE + g * OPERAND_WORDS);

      wire off = cfg[FIRST];
      wire per_element = cfg[FIRST+4] && !bug_sdp_operand_per_channel;
      wire [1:0] beats;
      wire walking, step, words_idle, word_valid, word_ready;
      wire [ADDR_WIDTH-1:0] addr;
      wire [W-1:0] word_data;
      wire [31:0] atom_bytes = ({30'd0, beats} + 32'd1) << LOG2_ATOM;

      assign operand_on[g]          = !off;
      assign operand_per_element[g] = per_element;
      assign operand_idle[g]        = !walking && words_idle;
      assign rd_req_mc[1+g]         = cfg[FIRST+5];

      wire [25:0] size = per_element ? {height, width} : 26'd0;
      wire [31:0] own_line_stride = cfg[FIRST+96+:32] + (bug_sdp_operand_line_stride ? atom_bytes : 32'd0);
      wire [31:0] own_surface_stride = cfg[FIRST+128+:32] + (bug_sdp_operand_surface_stride ? atom_bytes : 32'd0);
      wire squares = winograd && per_element;

      nvdla_walker #(
          .ADDR_WIDTH(ADDR_WIDTH),
          .LOOPS     (7)
      ) walker (
          .clk    (clk),
          .rst_n  (rst_n),
          .start  (start && !off),
          .base   (cfg[FIRST+32+:ADDR_WIDTH] + moved(atom_bytes, bug_sdp_operand_base)),
          .last   ({groups, 8'd0, per_element ? cubes : 5'd0, squares ? {height >> 1, width >> 1, 13'd1, 13'd1} : {size, 26'd0}, 11'd0, beats}),
          .strides({
            (per_element && !one_column) ? own_surface_stride : atom_bytes,
            bug_sdp_operand_per_cube ? atom_bytes : 32'd0,
            squares ? {own_line_stride << 1, atom_bytes << 1, own_line_stride, atom_bytes} :
                      {own_line_stride, atom_bytes, 64'd0},
            ATOM
          }),
          .valid  (walking),
          .ready  (step),
          .addr   (addr)
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
          .clk      (clk),
          .rst_n    (rst_n),
          .data_use (cfg[FIRST+1+:2]),
          .two_byte (cfg[FIRST+3]),
          .half_atom(!wide),
          .beats    (beats),
          .in_valid (word_valid),
          .in_ready (word_ready),
          .in_data  (word_data),
          .valid    (operand_valid[g]),
          .next     (operand_next[g]),
          .alu      (operand_alu[16*ATOM_BYTES*g+:16*ATOM_BYTES]),
          .mul      (operand_mul[16*ATOM_BYTES*g+:16*ATOM_BYTES])
      );
    end
  endgenerate

  // How far a seeded bug moves an address
  function automatic [ADDR_WIDTH-1:0] moved(input [31:0] bytes, input bug);
    begin
      moved       = 0;
      moved[31:0] = bug ? bytes : 32'd0;
    end
  endfunction
endmodule
