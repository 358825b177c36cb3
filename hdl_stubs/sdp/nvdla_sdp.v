// SDP_RDMA and SDP: registers, layer control, memory clients and data path of layers from
// memory or from the convolution pipeline (FLYING_MODE) to memory, or to PDP on the fly
// (OUTPUT_DST): X1, X2 and output converter in INT8. FULL adds INT16 and FP16, Y and its
// lookup tables, Winograd, and several cubes of a convolution.
//
// Of FULL: a layer on the fly has the precision that it is processed in; convolution comes
// position by position, in Winograd mode in squares of 2x2, and operands and results
// follow that order. Each group of channels comes for one cube after the other, with the
// same operands. Not in this design: several cubes or Winograd of layers that do not come
// on the fly or go to PDP, both together, and INT8 on the fly from or to 16 bits; such a
// layer never finishes, nor does one whose number of cubes, mode or precision is not that
// of the convolution. A layer that compares (EQL) writes nothing and leaves its verdict in
// D_STATUS.
`include "nvdla_register_offsets.vh"

module nvdla_sdp #(
    parameter [5:0] SLOT_RDMA = 6'd8,
    parameter FULL = 0,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter LANES = 8,
    parameter OPERANDS = 2  // with the read clients X1, X2 and, of FULL, Y
) (
    input  wire                               clk,
    input  wire                               rst_n,
    input  wire                               req_valid,
    input  wire                               req_write,
    input  wire [                       15:0] req_addr,
    input  wire [                       31:0] req_wdata,
    output wire [                       31:0] rdata,
    output wire [                        1:0] layer_done,    // one bit per group
    // Read clients: cube, X1, X2, Y operands from bit 0 up
    output wire [                 OPERANDS:0] rd_req_valid,
    input  wire [                 OPERANDS:0] rd_req_ready,
    output wire [                 OPERANDS:0] rd_req_mc,     // DBB, else CVSRAM
    output wire [(OPERANDS+1)*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [                 OPERANDS:0] rd_rsp_valid,
    input  wire [           8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                               wr_req_valid,
    input  wire                               wr_req_ready,
    output wire                               wr_req_mc,
    output wire [             ADDR_WIDTH-1:0] wr_req_addr,
    output wire [           8*ATOM_BYTES-1:0] wr_req_data,
    input  wire                               wr_rsp_valid,
    // Results of the convolution pipeline: a channel for each byte of an atom, or half as many
    input  wire [                        7:0] conv_mode,     // {cubes minus one, Winograd, precision}
    input  wire                               conv_valid,
    output wire                               conv_ready,
    input  wire [          32*ATOM_BYTES-1:0] conv_data,
    input  wire                               conv_last,     // of the layer
    output wire                               pdp_valid,
    input  wire                               pdp_ready,
    output wire [           8*ATOM_BYTES-1:0] pdp_data
);
  localparam [1:0] INT8 = 2'd0;
  localparam COUNTERS = 9;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam O = OPERANDS * 16 * ATOM_BYTES;


  wire [32*(`SDP_RDMA_WORDS-`SDP_RDMA_OP_ENABLE)-1:0] rdma_cfg;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`SDP_WORDS-`SDP_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  /* verilator lint_on UNUSEDSIGNAL */
  wire [31:0] rdma_rdata, core_rdata, entry_rdata;
  wire rdma_enabled, core_enabled, rdma_done, core_done, rdma_load, core_load, rdma_start, start;
  wire rdma_producer, producer, rdma_consumer, consumer;
  wire [31:0] rdma_ro, core_ro;

  assign rdata = rdma_rdata | core_rdata;

  nvdla_regfile #(
      .SLOT     (SLOT_RDMA),
      .UNIT     (`UNIT_SDP_RDMA),
      .WORDS    (`SDP_RDMA_WORDS),
      .OP_ENABLE(`SDP_RDMA_OP_ENABLE),
      .FULL     (FULL)
  ) rdma_regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdma_rdata),
      .ro_data  (rdma_ro),
      .producer (rdma_producer),
      .consumer (rdma_consumer),
      .enabled  (rdma_enabled),
      .load     (rdma_load),
      .cfg      (rdma_cfg),
      .done     (rdma_done)
  );

  nvdla_regfile #(
      .SLOT     (SLOT_RDMA + 6'd1),
      .UNIT     (`UNIT_SDP),
      .WORDS    (`SDP_WORDS),
      .OP_ENABLE(`SDP_OP_ENABLE),
      .FULL     (FULL)
  ) core_regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (core_rdata),
      .ro_data  (core_ro | entry_rdata),
      .producer (producer),
      .consumer (consumer),
      .enabled  (core_enabled),
      .load     (core_load),
      .cfg      (cfg),
      .done     (core_done)
  );

  /* verilator lint_off UNUSEDSIGNAL */
  wire [12:0] feature_mode = cfg[32*(`SDP_D_FEATURE_MODE_CFG-`SDP_OP_ENABLE)+:13];
  wire [12:0] rdma_mode = rdma_cfg[32*(`SDP_RDMA_D_FEATURE_MODE_CFG-`SDP_RDMA_OP_ENABLE)+:13];
  wire [3:0] formats = cfg[32*(`SDP_D_DATA_FORMAT-`SDP_OP_ENABLE)+:4];
  wire [6:0] ew_cfg = cfg[32*(`SDP_D_DP_EW_CFG-`SDP_OP_ENABLE)+:7];
  /* verilator lint_on UNUSEDSIGNAL */
  wire flying = feature_mode[0];
  wire to_pdp = feature_mode[1];
  wire compares, winograd, wide, runnable;
  wire [1:0] in_precision, proc_precision, out_precision;
  wire [4:0] cubes, rdma_cubes;

  generate
    if (FULL != 0) begin : all_precisions
      assign compares       = !ew_cfg[0] && !ew_cfg[1] && (ew_cfg[3:2] == 2'd3);
      assign winograd       = feature_mode[2];
      assign in_precision   = flying ? formats[1:0] : rdma_mode[3:2];
      assign proc_precision = formats[1:0];
      assign out_precision  = formats[3:2];
      assign wide           = (in_precision == INT8) || (out_precision == INT8);
      assign cubes          = feature_mode[12:8];
      assign rdma_cubes     = rdma_mode[12:8];
      assign runnable       = !((winograd || cubes != 5'd0) && (!flying || to_pdp)) && !(winograd && cubes != 5'd0) &&
                              !(flying && (in_precision == INT8) != (out_precision == INT8));
    end else begin : int8
      assign compares       = 1'b0;
      assign winograd       = 1'b0;
      assign in_precision   = INT8;
      assign proc_precision = INT8;
      assign out_precision  = INT8;
      assign wide           = 1'b1;
      assign cubes          = 5'd0;
      assign rdma_cubes     = 5'd0;
      assign runnable       = 1'b1;
    end
  endgenerate

  wire rdma_idle, write_walking, interrupt_room;

  wire paired, needs_operands;
  wire [OPERANDS-1:0] operand_on;

  nvdla_sdp_control control (
      .clk                (clk),
      .rst_n              (rst_n),
      .rdma_enabled       (rdma_enabled),
      .core_enabled       (core_enabled),
      .rdma_load          (rdma_load),
      .core_load          (core_load),
      .rdma_flying        (rdma_mode[0]),
      .rdma_reads         (operand_on != 0),
      .core_flying        (flying),
      .core_needs_operands(needs_operands),
      .core_runnable      (runnable),
      .same_cubes         (cubes == rdma_cubes),
      .rdma_start         (rdma_start),
      .core_start         (start),
      .paired             (paired),
      .rdma_idle          (rdma_idle),
      .core_idle          (!write_walking && interrupt_room),
      .rdma_done          (rdma_done),
      .core_done          (core_done)
  );

  // From the start of a layer on the fly to the last result of its convolution
  reg streaming;
  wire conv_fits = streaming && (conv_mode == {cubes, winograd, in_precision});

  always @(posedge clk or negedge rst_n)
    if (!rst_n) streaming <= 1'b0;
    else if (start) streaming <= flying;
    else if (conv_valid && conv_ready && conv_last) streaming <= 1'b0;

  wire [12:0] width = cfg[32*(`SDP_D_DATA_CUBE_WIDTH-`SDP_OP_ENABLE)+:13];
  wire [12:0] height = cfg[32*(`SDP_D_DATA_CUBE_HEIGHT-`SDP_OP_ENABLE)+:13];
  wire [12:0] channels = cfg[32*(`SDP_D_DATA_CUBE_CHANNEL-`SDP_OP_ENABLE)+:13];
  wire [12:0] groups = wide ? channels >> LOG2_ATOM : channels >> (LOG2_ATOM - 1);

  wire m_valid, m_ready;
  wire [8*ATOM_BYTES-1:0] m_data;
  wire [OPERANDS-1:0] operand_per_element, operand_valid, operand_next;
  wire [O-1:0] operand_alu, operand_mul;

  nvdla_sdp_rdma #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES),
      .OPERANDS  (OPERANDS)
  ) rdma (
      .clk                (clk),
      .rst_n              (rst_n),
      .start              (rdma_start),
      .flying             (rdma_mode[0]),
      .winograd           (winograd),
      .cfg                (rdma_cfg),
      .groups             (groups),
      .cubes              (cubes),
      .wide               (wide),
      .in_bytes           (in_precision == INT8),
      .idle               (rdma_idle),
      .rd_req_valid       (rd_req_valid),
      .rd_req_ready       (rd_req_ready),
      .rd_req_mc          (rd_req_mc),
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

  wire [319:0] settings;
  wire [6*LANES-1:0] le_index;
  wire [8*LANES-1:0] lo_index;
  wire [32*LANES-1:0] le_pair, lo_pair;

  generate
    if (FULL != 0) begin : tables
      nvdla_lut #(
          .SLOT          (SLOT_RDMA + 6'd1),
          .SETTINGS_WORDS(10),
          .RUNS_FREE     (1),
          .LANES         (LANES)
      ) lut (
          .clk        (clk),
          .rst_n      (rst_n),
          .req_valid  (req_valid),
          .req_write  (req_write),
          .req_addr   (req_addr),
          .req_wdata  (req_wdata),
          .entry_rdata(entry_rdata),
          .settings   (settings),
          .le_index   (le_index),
          .lo_index   (lo_index),
          .le_pair    (le_pair),
          .lo_pair    (lo_pair)
      );
    end else begin : no_tables
      wire unused_indices = &{1'b0, le_index, lo_index};

      assign entry_rdata = 32'd0;
      assign settings    = 320'd0;
      assign le_pair     = 0;
      assign lo_pair     = 0;
    end
  endgenerate

  wire out_valid, unequal;
  wire [1:0] answered;
  wire [32*COUNTERS-1:0] counters;
  wire out_ready;

  nvdla_sdp_core #(
      .FULL      (FULL),
      .ATOM_BYTES(ATOM_BYTES),
      .LANES     (LANES),
      .OPERANDS  (OPERANDS)
  ) core (
      .clk                (clk),
      .rst_n              (rst_n),
      .start              (start),
      .width              (width),
      .height             (height),
      .cubes              (cubes),
      .wide               (wide),
      .in_precision       (in_precision),
      .proc_precision     (proc_precision),
      .out_precision      (out_precision),
      .nan_to_zero        (feature_mode[3]),
      .bs_cfg             (cfg[32*(`SDP_D_DP_BS_CFG-`SDP_OP_ENABLE)+:160]),
      .bn_cfg             (cfg[32*(`SDP_D_DP_BN_CFG-`SDP_OP_ENABLE)+:160]),
      .ew_cfg             (cfg[32*(`SDP_D_DP_EW_CFG-`SDP_OP_ENABLE)+:384]),
      .cvt                (cfg[32*(`SDP_D_CVT_OFFSET-`SDP_OP_ENABLE)+:96]),
      .in_valid           (m_valid),
      .in_ready           (m_ready),
      .in_data            (m_data),
      .flying             (flying),
      .conv_valid         (conv_valid && conv_fits),
      .conv_ready         (conv_ready),
      .conv_data          (conv_data),
      .needs_operands     (needs_operands),
      .operand_on         (operand_on & {OPERANDS{paired}}),
      .operand_per_element(operand_per_element),
      .operand_valid      (operand_valid),
      .operand_next       (operand_next),
      .operand_alu        (operand_alu),
      .operand_mul        (operand_mul),
      .out_valid          (out_valid),
      .out_ready          (out_ready),
      .out_data           (wr_req_data),
      .settings           (settings),
      .le_index           (le_index),
      .lo_index           (lo_index),
      .le_pair            (le_pair),
      .lo_pair            (lo_pair),
      .counters           (counters),
      .unequal            (unequal)
  );

  assign pdp_valid = out_valid && write_walking && to_pdp;
  assign pdp_data  = wr_req_data;
  assign wr_req_mc = cfg[32*(`SDP_D_DST_DMA_CFG-`SDP_OP_ENABLE)];

  nvdla_sdp_write #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) write (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (start),
      .done          (core_done),
      .group         (consumer),
      .width         (width),
      .height        (height),
      .groups        (groups),
      .cubes         (cubes),
      .winograd      (winograd),
      .two_parts     (wide && (out_precision != INT8)),
      .base          (cfg[32*(`SDP_D_DST_BASE_ADDR_LOW-`SDP_OP_ENABLE)+:ADDR_WIDTH]),
      .line_stride   (cfg[32*(`SDP_D_DST_LINE_STRIDE-`SDP_OP_ENABLE)+:32]),
      .surface_stride(cfg[32*(`SDP_D_DST_SURFACE_STRIDE-`SDP_OP_ENABLE)+:32]),
      .batch_stride  (cfg[32*(`SDP_D_DST_BATCH_STRIDE-`SDP_OP_ENABLE)+:32]),
      .to_memory     (!to_pdp && !compares),
      .other_ready   (!to_pdp || pdp_ready),
      .valid         (out_valid),
      .ready         (out_ready),
      .walking       (write_walking),
      .room          (interrupt_room),
      .layer_done    (layer_done),
      .wr_req_valid  (wr_req_valid),
      .wr_req_ready  (wr_req_ready),
      .wr_req_addr   (wr_req_addr),
      .wr_rsp_valid  (wr_rsp_valid)
  );

  nvdla_sdp_counters #(
      .COUNTERS(COUNTERS),
      .CLIENTS (OPERANDS + 1)
  ) statistics (
      .clk          (clk),
      .rst_n        (rst_n),
      .start        (start),
      .done         (core_done),
      .group        (consumer),
      .perf         (cfg[32*(`SDP_D_PERF_ENABLE-`SDP_OP_ENABLE)+:4]),
      .counters     (counters),
      .unequal      (unequal),
      .write_stalled(wr_req_valid && !wr_req_ready),
      .rdma_start   (rdma_start),
      .rdma_done    (rdma_done),
      .rdma_group   (rdma_consumer),
      .rdma_perf    (rdma_cfg[32*(`SDP_RDMA_D_PERF_ENABLE-`SDP_RDMA_OP_ENABLE)]),
      .rdma_flying  (rdma_mode[0]),
      .read_stalled (rd_req_valid & ~rd_req_ready),
      .read_word    (req_addr[9:0]),
      .producer     (producer),
      .rdma_producer(rdma_producer),
      .core_ro      (core_ro),
      .rdma_ro      (rdma_ro)
  );
endmodule
