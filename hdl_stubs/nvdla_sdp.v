// SDP_RDMA and SDP: registers, layer control, memory clients and data path of
// INT8 layers from memory or from the convolution pipeline (FLYING_MODE) to memory
// or to PDP (OUTPUT_DST).
//
// Batches, Winograd, other precisions, EW and LUT do not exist in nv_small. Of the
// status and performance counters only OUT_SATURATION counts; the others read 0.
//
// Measured on the public nv_small RTL: surfaces of an output cube that is 1x1 in
// width and height follow each other directly, whatever the strides; S_STATUS
// goes IDLE and CONSUMER flips when the last write was handed to the memory
// interface, and the done interrupt alone waits for the last response.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_sdp #(
    parameter [5:0] SLOT_RDMA = 6'd8,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter LANES = 8
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    req_valid,
    input  wire                    req_write,
    input  wire [            15:0] req_addr,
    input  wire [            31:0] req_wdata,
    output wire [            31:0] rdata,
    output wire [             1:0] layer_done,    // one bit per group
    // Read clients: cube, X1 operands, X2 operands from bit 0 up
    output wire [             2:0] rd_req_valid,
    input  wire [             2:0] rd_req_ready,
    output wire [3*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [             2:0] rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                    wr_req_valid,
    input  wire                    wr_req_ready,
    output wire [  ADDR_WIDTH-1:0] wr_req_addr,
    output wire [8*ATOM_BYTES-1:0] wr_req_data,
    input  wire                    wr_rsp_valid,
    // Results of the convolution pipeline, 32 bits per channel
    input  wire                    conv_valid,
    output wire                    conv_ready,
    input  wire [32*ATOM_BYTES-1:0] conv_data,
    input  wire                    conv_last,     // of the layer
    output wire                    pdp_valid,
    input  wire                    pdp_ready,
    output wire [8*ATOM_BYTES-1:0] pdp_data
);
  localparam W = 8 * ATOM_BYTES;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam [ADDR_WIDTH-1:0] OUT_ATOM = ATOM_BYTES[ADDR_WIDTH-1:0];
  localparam [9:0] W_OUT_SATURATION = `SDP_D_PERF_OUT_SATURATION;

  `NVDLA_BUG(sdp_dst_line_stride)
  `NVDLA_BUG(sdp_dst_surface_stride)
  `NVDLA_BUG(sdp_dst_base)
  `NVDLA_BUG(sdp_dst_surfaces_reversed)
  `NVDLA_BUG(sdp_input_unsigned)
  `NVDLA_BUG(sdp_ends_one_surface_early)
  `NVDLA_BUG(sdp_write_repeated)
  `NVDLA_BUG(sdp_interrupt_at_start)
  wire [32*(`SDP_RDMA_WORDS-`SDP_RDMA_OP_ENABLE)-1:0] rdma_cfg;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`SDP_WORDS-`SDP_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  /* verilator lint_on UNUSEDSIGNAL */
  wire [31:0] rdma_rdata, core_rdata;
  wire rdma_enabled, core_enabled, rdma_done, core_done, rdma_load, core_load, rdma_start, start;
  wire producer, consumer, unused_rdma_producer, unused_rdma_consumer;

  // Each group remembers the count of the last layer that it ran.
  reg [31:0] out_saturation_0, out_saturation_1;
  wire [31:0] out_saturation = producer ? out_saturation_1 : out_saturation_0;

  assign rdata = rdma_rdata | core_rdata;

  nvdla_regfile #(
      .SLOT     (SLOT_RDMA),
      .UNIT     (`UNIT_SDP_RDMA),
      .WORDS    (`SDP_RDMA_WORDS),
      .OP_ENABLE(`SDP_RDMA_OP_ENABLE)
  ) rdma_regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdma_rdata),
      .ro_data  (32'd0),
      .producer (unused_rdma_producer),
      .consumer (unused_rdma_consumer),
      .enabled  (rdma_enabled),
      .load     (rdma_load),
      .cfg      (rdma_cfg),
      .done     (rdma_done)
  );

  nvdla_regfile #(
      .SLOT     (SLOT_RDMA + 6'd1),
      .UNIT     (`UNIT_SDP),
      .WORDS    (`SDP_WORDS),
      .OP_ENABLE(`SDP_OP_ENABLE)
  ) core_regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (core_rdata),
      .ro_data  ((req_addr[9:0] == W_OUT_SATURATION) ? out_saturation : 32'd0),
      .producer (producer),
      .consumer (consumer),
      .enabled  (core_enabled),
      .load     (core_load),
      .cfg      (cfg),
      .done     (core_done)
  );

  wire sat_enable = cfg[32*(`SDP_D_PERF_ENABLE-`SDP_OP_ENABLE)+2];  // PERF_SAT_EN
  wire [1:0] feature_mode = cfg[32*(`SDP_D_FEATURE_MODE_CFG-`SDP_OP_ENABLE)+:2];
  wire rdma_flying = rdma_cfg[32*(`SDP_RDMA_D_FEATURE_MODE_CFG-`SDP_RDMA_OP_ENABLE)];
  wire rdma_idle, write_walking, interrupt_room;

  wire flying = feature_mode[0];
  wire paired, needs_operands;
  wire [1:0] operand_on;

  nvdla_sdp_control control (
      .clk                (clk),
      .rst_n              (rst_n),
      .rdma_enabled       (rdma_enabled),
      .core_enabled       (core_enabled),
      .rdma_load          (rdma_load),
      .core_load          (core_load),
      .rdma_flying        (rdma_flying),
      .rdma_reads         (operand_on != 2'b00),
      .core_flying        (flying),
      .core_needs_operands(needs_operands),
      .core_runnable      (1'b1),
      .rdma_start         (rdma_start),
      .core_start         (start),
      .paired             (paired),
      .rdma_idle          (rdma_idle),
      .core_idle          (!write_walking && interrupt_room),
      .rdma_done          (rdma_done),
      .core_done          (core_done)
  );

  // From the start of a layer on the fly to its last atom
  reg streaming;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) streaming <= 1'b0;
    else if (start) streaming <= flying;
    else if (conv_valid && conv_ready && conv_last) streaming <= 1'b0;

  wire m_valid, m_ready;
  wire [W-1:0] m_data;
  wire [1:0] operand_per_element, operand_valid, operand_next;
  wire [4*W-1:0] operand_alu, operand_mul;

  nvdla_sdp_rdma #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) rdma (
      .clk                (clk),
      .rst_n              (rst_n),
      .start              (rdma_start),
      .flying             (rdma_flying),
      .cfg                (rdma_cfg),
      .idle               (rdma_idle),
      .rd_req_valid       (rd_req_valid),
      .rd_req_ready       (rd_req_ready),
      .rd_req_addr        (rd_req_addr),
      .rd_rsp_valid       (rd_rsp_valid),
      .rd_rsp_data        (rd_rsp_data),
      .m_valid            (m_valid),
      .m_ready            (m_ready),
      .m_data             (m_data),
      .operand_on         (operand_on),
      .operand_per_element(operand_per_element),
      .operand_valid      (operand_valid),
      .operand_next       (operand_next),
      .operand_alu        (operand_alu),
      .operand_mul        (operand_mul)
  );

  wire [12:0] width = cfg[32*(`SDP_D_DATA_CUBE_WIDTH-`SDP_OP_ENABLE)+:13];
  wire [12:0] height = cfg[32*(`SDP_D_DATA_CUBE_HEIGHT-`SDP_OP_ENABLE)+:13];
  wire [12:0] surfaces = cfg[32*(`SDP_D_DATA_CUBE_CHANNEL-`SDP_OP_ENABLE)+:13] >> LOG2_ATOM;
  wire [ADDR_WIDTH-1:0] dst_surface_stride = cfg[32*(`SDP_D_DST_SURFACE_STRIDE-`SDP_OP_ENABLE)+:ADDR_WIDTH] +
                                             (bug_sdp_dst_surface_stride ? dst_line_stride : 0);
  wire [ADDR_WIDTH-1:0] surface_step = one_column ? OUT_ATOM : dst_surface_stride;
  wire [ADDR_WIDTH-1:0] last_surface = dst_base + {{(ADDR_WIDTH - 13) {1'b0}}, surfaces} * surface_step;
  wire one_column = (width == 13'd0) && (height == 13'd0);
  wire [ADDR_WIDTH-1:0] dst_line_stride = cfg[32*(`SDP_D_DST_LINE_STRIDE-`SDP_OP_ENABLE)+:ADDR_WIDTH] +
                                          (bug_sdp_dst_line_stride ? OUT_ATOM : 0);
  wire [ADDR_WIDTH-1:0] dst_base = cfg[32*(`SDP_D_DST_BASE_ADDR_LOW-`SDP_OP_ENABLE)+:ADDR_WIDTH] +
                                   (bug_sdp_dst_base ? OUT_ATOM : 0);
  wire out_valid, in_ready;
  wire [31:0] saturations;
  wire [1:0] answered;

  // Elements of the cube, widened
  reg [32*ATOM_BYTES-1:0] m_wide;
  integer i;

  always @* begin
    for (i = 0; i < ATOM_BYTES; i = i + 1)
      m_wide[32*i+:32] = {{24{m_data[8*i+7] && !bug_sdp_input_unsigned}}, m_data[8*i+:8]};
  end

  assign m_ready    = in_ready && !flying;
  assign conv_ready = in_ready && streaming;

  wire to_pdp = feature_mode[1];
  wire taken = to_pdp ? pdp_ready && pdp_valid : wr_req_ready;

  nvdla_sdp_core #(
      .ATOM_BYTES(ATOM_BYTES),
      .LANES     (LANES)
  ) core (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (start),
      .width         (width),
      .height        (height),
      .bs_cfg        (cfg[32*(`SDP_D_DP_BS_CFG-`SDP_OP_ENABLE)+:160]),
      .bn_cfg        (cfg[32*(`SDP_D_DP_BN_CFG-`SDP_OP_ENABLE)+:160]),
      .cvt_offset    (cfg[32*(`SDP_D_CVT_OFFSET-`SDP_OP_ENABLE)+:32]),
      .cvt_scale     (cfg[32*(`SDP_D_CVT_SCALE-`SDP_OP_ENABLE)+:16]),
      .cvt_shift     (cfg[32*(`SDP_D_CVT_SHIFT-`SDP_OP_ENABLE)+:6]),
      .needs_operands(needs_operands),
      .in_valid      (flying ? conv_valid && streaming : m_valid),
      .in_ready      (in_ready),
      .in_data       (flying ? conv_data : m_wide),
      .bs_mem        (operand_on[0] && paired),
      .bs_per_element(operand_per_element[0]),
      .bs_valid      (operand_valid[0]),
      .bs_next       (operand_next[0]),
      .bs_alu        (operand_alu[0+:2*W]),
      .bs_mul        (operand_mul[0+:2*W]),
      .bn_mem        (operand_on[1] && paired),
      .bn_per_element(operand_per_element[1]),
      .bn_valid      (operand_valid[1]),
      .bn_next       (operand_next[1]),
      .bn_alu        (operand_alu[2*W+:2*W]),
      .bn_mul        (operand_mul[2*W+:2*W]),
      .out_valid     (out_valid),
      .out_ready     (taken),
      .out_data      (wr_req_data),
      .saturations   (saturations)
  );

  assign wr_req_valid = out_valid && write_walking && !to_pdp;
  assign pdp_valid    = out_valid && write_walking && to_pdp;
  assign pdp_data     = wr_req_data;

  // The seeded bug sdp_write_repeated leaves the address of one write of a layer to the next one.
  reg repeated;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) repeated <= 1'b0;
    else if (start) repeated <= 1'b0;
    else if (wr_req_valid && taken) repeated <= 1'b1;

  nvdla_cube_walker #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) write_walker (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (start),
      .base          (bug_sdp_dst_surfaces_reversed ? last_surface : dst_base),
      .width         (width),
      .height        (height),
      .surfaces      (surfaces - {12'd0, bug_sdp_ends_one_surface_early && surfaces != 0}),
      .beats         (2'd0),
      .line_stride   (dst_line_stride),
      .surface_stride(bug_sdp_dst_surfaces_reversed ? -surface_step : surface_step),
      .valid         (write_walking),
      .ready         (taken && !(bug_sdp_write_repeated && wr_req_valid && !repeated)),
      .addr          (wr_req_addr)
  );

  nvdla_dma_write writes (
      .clk       (clk),
      .rst_n     (rst_n),
      .accepted  (wr_req_valid && wr_req_ready),
      .rsp_valid (wr_rsp_valid),
      .room      (interrupt_room),
      .layer_end (core_done),
      .group     (consumer),
      .layer_done(answered)
  );

  assign layer_done = bug_sdp_interrupt_at_start ? {start && consumer, start && !consumer} : answered;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      out_saturation_0 <= 32'd0;
      out_saturation_1 <= 32'd0;
    end else if (core_done) begin
      if (consumer) out_saturation_1 <= sat_enable ? saturations : 32'd0;
      else out_saturation_0 <= sat_enable ? saturations : 32'd0;
    end
endmodule
