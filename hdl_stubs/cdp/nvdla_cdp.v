// CDP_RDMA and CDP: registers, layer control, lookup tables, memory clients and
// data path of local response normalisation, from memory to memory.
//
// The counters of NaN and infinity read 0, as measured on the public nv_full RTL; those of
// stalls add up from layer to layer.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_cdp #(
    parameter [5:0] SLOT_RDMA = 6'd12,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter FLOAT = 0
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    req_valid,
    input  wire                    req_write,
    input  wire [            15:0] req_addr,
    input  wire [            31:0] req_wdata,
    output wire [            31:0] rdata,
    output wire [             1:0] layer_done,    // one bit per group
    output wire                    rd_req_valid,
    input  wire                    rd_req_ready,
    output wire                    rd_req_mc,     // DBB, else CVSRAM
    output wire [  ADDR_WIDTH-1:0] rd_req_addr,
    input  wire                    rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                    wr_req_valid,
    input  wire                    wr_req_ready,
    output wire                    wr_req_mc,
    output wire [  ADDR_WIDTH-1:0] wr_req_addr,
    output wire [8*ATOM_BYTES-1:0] wr_req_data,
    input  wire                    wr_rsp_valid
);
  localparam W = 8 * ATOM_BYTES;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam [ADDR_WIDTH-1:0] ATOM = {{(ADDR_WIDTH - 8) {1'b0}}, ATOM_BYTES[7:0]};
  localparam SETTINGS_WORDS = 14;
  localparam [9:0] W_OUT_SATURATION = `CDP_D_OUT_SATURATION;
  localparam [9:0] W_LUT_UFLOW = `CDP_D_PERF_LUT_UFLOW;
  localparam [9:0] W_READ_STALL = `CDP_RDMA_D_PERF_READ_STALL;
  localparam [9:0] W_WRITE_STALL = `CDP_D_PERF_WRITE_STALL;

  wire [32*(`CDP_RDMA_WORDS-`CDP_RDMA_OP_ENABLE)-1:0] rdma_cfg;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`CDP_WORDS-`CDP_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  /* verilator lint_on UNUSEDSIGNAL */
  wire [31:0] rdma_rdata, core_rdata, entry_rdata, counter;
  wire rdma_enabled, core_enabled, rdma_done, core_done, load, start;
  wire producer, consumer, rdma_producer, rdma_consumer;
  wire [31:0] read_stalls, write_stalls;

  wire [9:0] word = req_addr[9:0];
  /* verilator lint_off UNUSEDSIGNAL */
  wire [9:0] from_uflow = word - W_LUT_UFLOW;
  /* verilator lint_on UNUSEDSIGNAL */
  wire is_lut_counter = (word >= W_LUT_UFLOW) && (word <= W_LUT_UFLOW + 10'd4);
  wire is_counter = is_lut_counter || (word == W_OUT_SATURATION);

  assign rdata = rdma_rdata | core_rdata;

  nvdla_regfile #(
      .SLOT     (SLOT_RDMA),
      .UNIT     (`UNIT_CDP_RDMA),
      .WORDS    (`CDP_RDMA_WORDS),
      .OP_ENABLE(`CDP_RDMA_OP_ENABLE),
      .FULL     (FLOAT)
  ) rdma_regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdma_rdata),
      .ro_data  (word == W_READ_STALL ? read_stalls : 32'd0),
      .producer (rdma_producer),
      .consumer (rdma_consumer),
      .enabled  (rdma_enabled),
      .load     (load),
      .cfg      (rdma_cfg),
      .done     (rdma_done)
  );

  nvdla_regfile #(
      .SLOT     (SLOT_RDMA + 6'd1),
      .UNIT     (`UNIT_CDP),
      .WORDS    (`CDP_WORDS),
      .OP_ENABLE(`CDP_OP_ENABLE),
      .FULL     (FLOAT)
  ) core_regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (core_rdata),
      .ro_data  (entry_rdata | (is_counter ? counter : (word == W_WRITE_STALL) ? write_stalls : 32'd0)),
      .producer (producer),
      .consumer (consumer),
      .enabled  (core_enabled),
      .load     (load),
      .cfg      (cfg),
      .done     (core_done)
  );

  `NVDLA_BUG(cdp_dst_line_stride)
  `NVDLA_BUG(cdp_dst_surface_stride)
  `NVDLA_BUG(cdp_dst_base)
  `NVDLA_BUG(cdp_interrupt_before_answers)
  `NVDLA_BUG(cdp_local_size)
  `NVDLA_BUG(cdp_write_stalls_uncounted)
  `NVDLA_BUG(cdp_multiplier_missing)
  wire rdma_idle, write_walking, interrupt_room;

  nvdla_layer_control control (
      .clk         (clk),
      .rst_n       (rst_n),
      .rdma_enabled(rdma_enabled),
      .core_enabled(core_enabled),
      .runnable    (1'b1),
      .load        (load),
      .start       (start),
      .rdma_idle   (rdma_idle),
      .core_idle   (!write_walking && interrupt_room),
      .rdma_done   (rdma_done),
      .core_done   (core_done)
  );

  // CDP has no size registers of its own: width, height and channels are those of
  // CDP_RDMA, whose snapshot stays while the layer is written.
  wire [12:0] width = rdma_cfg[32*(`CDP_RDMA_D_DATA_CUBE_WIDTH-`CDP_RDMA_OP_ENABLE)+:13];
  wire [12:0] height = rdma_cfg[32*(`CDP_RDMA_D_DATA_CUBE_HEIGHT-`CDP_RDMA_OP_ENABLE)+:13];
  wire [12:0] channels = rdma_cfg[32*(`CDP_RDMA_D_DATA_CUBE_CHANNEL-`CDP_RDMA_OP_ENABLE)+:13];
  wire [1:0] precision = cfg[32*(`CDP_D_DATA_FORMAT-`CDP_OP_ENABLE)+:2];
  wire two_bytes = (FLOAT != 0) && (precision != 2'd0);
  wire [12:0] surfaces = two_bytes ? channels >> (LOG2_ATOM - 1) : channels >> LOG2_ATOM;
  wire [1:0] bypass = cfg[32*(`CDP_D_FUNC_BYPASS-`CDP_OP_ENABLE)+:2];

  wire data_valid, data_ready, out_valid, count, saturated;
  wire [W-1:0] data;
  wire [32*SETTINGS_WORDS-1:0] settings;
  wire [5:0] le_index;
  wire [7:0] lo_index;
  wire [31:0] le_pair, lo_pair;
  wire [4:0] lookup_events;

  assign rd_req_mc = rdma_cfg[32*(`CDP_RDMA_D_SRC_DMA_CFG-`CDP_RDMA_OP_ENABLE)];
  assign wr_req_mc = cfg[32*(`CDP_D_DST_DMA_CFG-`CDP_OP_ENABLE)];

  nvdla_cdp_rdma #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) rdma (
      .clk         (clk),
      .rst_n       (rst_n),
      .start       (start),
      .cfg         (rdma_cfg),
      .surfaces    (surfaces),
      .idle        (rdma_idle),
      .rd_req_valid(rd_req_valid),
      .rd_req_ready(rd_req_ready),
      .rd_req_addr (rd_req_addr),
      .rd_rsp_valid(rd_rsp_valid),
      .rd_rsp_data (rd_rsp_data),
      .data_valid  (data_valid),
      .data_ready  (data_ready),
      .data        (data)
  );

  nvdla_lut #(
      .SLOT          (SLOT_RDMA + 6'd1),
      .SETTINGS_WORDS(SETTINGS_WORDS)
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

  nvdla_cdp_core #(
      .ATOM_BYTES(ATOM_BYTES),
      .FLOAT     (FLOAT)
  ) core (
      .clk            (clk),
      .rst_n          (rst_n),
      .start          (start),
      .precision      (precision),
      .channels       (channels),
      .local_size     (cfg[32*(`CDP_D_LRN_CFG-`CDP_OP_ENABLE)+:2] ^ {1'b0, bug_cdp_local_size}),
      .sum_bypass     (bypass[0]),
      .multiply_bypass(bypass[1] || bug_cdp_multiplier_missing),
      .nan_to_zero    (cfg[32*(`CDP_D_NAN_FLUSH_TO_ZERO-`CDP_OP_ENABLE)]),
      .datin          (cfg[32*(`CDP_D_DATIN_OFFSET-`CDP_OP_ENABLE)+:96]),
      .datout         (cfg[32*(`CDP_D_DATOUT_OFFSET-`CDP_OP_ENABLE)+:96]),
      .in_valid       (data_valid),
      .in_ready       (data_ready),
      .in_data        (data),
      .out_valid      (out_valid),
      .out_ready      (write_walking && wr_req_ready),
      .out_data       (wr_req_data),
      .settings       (settings),
      .le_index       (le_index),
      .lo_index       (lo_index),
      .le_pair        (le_pair),
      .lo_pair        (lo_pair),
      .count          (count),
      .lookup_events  (lookup_events),
      .saturated      (saturated)
  );

  assign wr_req_valid = out_valid && write_walking;

  nvdla_walker #(
      .ADDR_WIDTH(ADDR_WIDTH)
  ) write_walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (start),
      .base   (cfg[32*(`CDP_D_DST_BASE_ADDR_LOW-`CDP_OP_ENABLE)+:ADDR_WIDTH] + (bug_cdp_dst_base ? ATOM : 0)),
      .last   ({13'd0, height, width, surfaces}),
      .strides({
        32'd0,
        cfg[32*(`CDP_D_DST_LINE_STRIDE-`CDP_OP_ENABLE)+:32] + (bug_cdp_dst_line_stride ? ATOM_BYTES[31:0] : 32'd0),
        ATOM_BYTES[31:0],
        cfg[32*(`CDP_D_DST_SURFACE_STRIDE-`CDP_OP_ENABLE)+:32] + (bug_cdp_dst_surface_stride ? ATOM_BYTES[31:0] : 32'd0)
      }),
      .valid  (write_walking),
      .ready  (out_valid && wr_req_ready),
      .addr   (wr_req_addr)
  );

  wire [1:0] answered;

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

  assign layer_done = bug_cdp_interrupt_before_answers ? {core_done && consumer, core_done && !consumer} : answered;

  nvdla_cdp_counters counters (
      .clk          (clk),
      .rst_n        (rst_n),
      .start        (start),
      .done         (core_done),
      .group        (consumer),
      .lookups_on   (cfg[32*(`CDP_D_PERF_ENABLE-`CDP_OP_ENABLE)+1]),
      .count        (count),
      .lookup_events(lookup_events),
      .saturated    (saturated),
      .read_group   (producer),
      .read_counter (is_lut_counter ? from_uflow[2:0] + 3'd1 : 3'd0),
      .value        (counter)
  );

  nvdla_cycles read_cycles (
      .clk     (clk),
      .rst_n   (rst_n),
      .clear   (1'b0),
      .count   (rdma_cfg[32*(`CDP_RDMA_D_PERF_ENABLE-`CDP_RDMA_OP_ENABLE)] && rd_req_valid && !rd_req_ready),
      .done    (rdma_done),
      .group   (rdma_consumer),
      .producer(rdma_producer),
      .value   (read_stalls)
  );

  nvdla_cycles write_cycles (
      .clk     (clk),
      .rst_n   (rst_n),
      .clear   (1'b0),
      .count   (cfg[32*(`CDP_D_PERF_ENABLE-`CDP_OP_ENABLE)] && wr_req_valid && !wr_req_ready && !bug_cdp_write_stalls_uncounted),
      .done    (core_done),
      .group   (consumer),
      .producer(producer),
      .value   (write_stalls)
  );
endmodule
