// PDP_RDMA and PDP: registers, layer control, memory clients and data path of
// pooling layers to memory, from memory or from SDP on the fly (FLYING_MODE).
//
// A layer on the fly needs no PDP_RDMA, and cannot be split. The counters of NaN and
// infinity read 0; those of stalls add up from layer to layer.
//
// As in SDP, S_STATUS goes IDLE and CONSUMER flips when the last write was handed
// to the memory interface, and the done interrupt alone waits for the last
// response.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_pdp #(
    parameter [5:0] SLOT_RDMA = 6'd10,
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
    input  wire                    wr_rsp_valid,
    // Atoms of SDP, in the order of memory
    input  wire                    sdp_valid,
    output wire                    sdp_ready,
    input  wire [8*ATOM_BYTES-1:0] sdp_data
);
  localparam W = 8 * ATOM_BYTES;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam [9:0] W_READ_STALL = `PDP_RDMA_D_PERF_READ_STALL;
  localparam [9:0] W_WRITE_STALL = `PDP_D_PERF_WRITE_STALL;
  localparam [ADDR_WIDTH-1:0] ATOM = {{(ADDR_WIDTH - 8) {1'b0}}, ATOM_BYTES[7:0]};

  wire [32*(`PDP_RDMA_WORDS-`PDP_RDMA_OP_ENABLE)-1:0] rdma_cfg;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`PDP_WORDS-`PDP_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  /* verilator lint_on UNUSEDSIGNAL */
  `NVDLA_BUG(pdp_dst_line_stride)
  `NVDLA_BUG(pdp_dst_surface_stride)
  `NVDLA_BUG(pdp_dst_base)
  `NVDLA_BUG(pdp_kernel_width)
  `NVDLA_BUG(pdp_strides_swapped)
  `NVDLA_BUG(pdp_pad_left_ignored)
  `NVDLA_BUG(pdp_pad_top_ignored)
  `NVDLA_BUG(pdp_pad_value_ignored)
  `NVDLA_BUG(pdp_reciprocal)
  `NVDLA_BUG(pdp_band_overlaps)
  `NVDLA_BUG(pdp_write_stalls_uncounted)
  wire [31:0] rdma_rdata, core_rdata;
  wire rdma_enabled, core_enabled, rdma_done, core_done, rdma_load, core_load, rdma_start, start;
  wire producer, consumer, rdma_producer, rdma_consumer;
  wire [31:0] read_stalls, write_stalls;

  assign rdata = rdma_rdata | core_rdata;

  nvdla_regfile #(
      .SLOT     (SLOT_RDMA),
      .UNIT     (`UNIT_PDP_RDMA),
      .WORDS    (`PDP_RDMA_WORDS),
      .OP_ENABLE(`PDP_RDMA_OP_ENABLE),
      .FULL     (FLOAT)
  ) rdma_regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdma_rdata),
      .ro_data  (req_addr[9:0] == W_READ_STALL ? read_stalls : 32'd0),
      .producer (rdma_producer),
      .consumer (rdma_consumer),
      .enabled  (rdma_enabled),
      .load     (rdma_load),
      .cfg      (rdma_cfg),
      .done     (rdma_done)
  );

  nvdla_regfile #(
      .SLOT     (SLOT_RDMA + 6'd1),
      .UNIT     (`UNIT_PDP),
      .WORDS    (`PDP_WORDS),
      .OP_ENABLE(`PDP_OP_ENABLE),
      .FULL     (FLOAT)
  ) core_regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (core_rdata),
      .ro_data  (req_addr[9:0] == W_WRITE_STALL ? write_stalls : 32'd0),
      .producer (producer),
      .consumer (consumer),
      .enabled  (core_enabled),
      .load     (core_load),
      .cfg      (cfg),
      .done     (core_done)
  );

  wire [15:0] operation = cfg[32*(`PDP_D_OPERATION_MODE_CFG-`PDP_OP_ENABLE)+:16];
  wire flying = !operation[4];
  wire rdma_idle, core_idle, interrupt_room, unused_paired;

  nvdla_sdp_control control (
      .clk                (clk),
      .rst_n              (rst_n),
      .rdma_enabled       (rdma_enabled),
      .core_enabled       (core_enabled),
      .rdma_load          (rdma_load),
      .core_load          (core_load),
      .rdma_flying        (1'b0),              // PDP_RDMA always reads: its FLYING_MODE means nothing
      .rdma_reads         (1'b1),
      .core_flying        (flying),
      .core_needs_operands(1'b0),
      .core_runnable      (1'b1),
      .same_cubes         (1'b1),
      .rdma_start         (rdma_start),
      .core_start         (start),
      .paired             (unused_paired),
      .rdma_idle          (rdma_idle),
      .core_idle          (core_idle && interrupt_room),
      .rdma_done          (rdma_done),
      .core_done          (core_done)
  );

  wire [1:0] precision = cfg[32*(`PDP_D_DATA_FORMAT-`PDP_OP_ENABLE)+:2];
  wire [12:0] channels = cfg[32*(`PDP_D_DATA_CUBE_IN_CHANNEL-`PDP_OP_ENABLE)+:13];
  wire two_bytes = (FLOAT != 0) && (precision != 2'd0);
  wire [12:0] surfaces = two_bytes ? channels >> (LOG2_ATOM - 1) : channels >> LOG2_ATOM;
  wire core_ready;

  assign rd_req_mc  = rdma_cfg[32*(`PDP_RDMA_D_SRC_RAM_CFG-`PDP_RDMA_OP_ENABLE)];
  assign wr_req_mc  = cfg[32*(`PDP_D_DST_RAM_CFG-`PDP_OP_ENABLE)];
  assign data_ready = core_ready && !flying;
  assign sdp_ready  = core_ready && flying;

  wire data_valid, data_ready;
  wire [W-1:0] data;

  nvdla_pdp_rdma #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) rdma (
      .clk         (clk),
      .rst_n       (rst_n),
      .start       (rdma_start),
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

  wire [31:0] kernel = cfg[32*(`PDP_D_POOLING_KERNEL_CFG-`PDP_OP_ENABLE)+:32];
  wire [31:0] padding = cfg[32*(`PDP_D_POOLING_PADDING_CFG-`PDP_OP_ENABLE)+:32];
  wire unused_fields = &{1'b0, operation[7:5], operation[3:2], kernel, padding};
  wire band_next, band_is_first, band_is_last;
  wire [12:0] unused_band_in_start, band_in_width, band_out_start, band_out_width;

  nvdla_pdp_bands bands (
      .clk        (clk),
      .rst_n      (rst_n),
      .start      (start),
      .next       (band_next),
      .split_num  (operation[15:8]),
      .kernel     (kernel[3:0]),
      .stride     (kernel[19:16]),
      .full_in    (cfg[32*(`PDP_D_DATA_CUBE_IN_WIDTH-`PDP_OP_ENABLE)+:13]),
      .full_out   (cfg[32*(`PDP_D_DATA_CUBE_OUT_WIDTH-`PDP_OP_ENABLE)+:13]),
      .partial_in (cfg[32*(`PDP_D_PARTIAL_WIDTH_IN-`PDP_OP_ENABLE)+:30]),
      .partial_out(cfg[32*(`PDP_D_PARTIAL_WIDTH_OUT-`PDP_OP_ENABLE)+:30]),
      .is_first   (band_is_first),
      .is_last    (band_is_last),
      .in_start   (unused_band_in_start),
      .in_width   (band_in_width),
      .out_start  (band_out_start),
      .out_width  (band_out_width)
  );

  /* verilator lint_off UNUSEDSIGNAL */
  wire [127:0] strides = {  // surface and line, as wide as an address may be
    32'd0,
    cfg[32*(`PDP_D_DST_SURFACE_STRIDE-`PDP_OP_ENABLE)+:32],
    32'd0,
    cfg[32*(`PDP_D_DST_LINE_STRIDE-`PDP_OP_ENABLE)+:32]
  };
  /* verilator lint_on UNUSEDSIGNAL */

  nvdla_pdp_core #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES),
      .FLOAT     (FLOAT)
  ) core (
      .clk               (clk),
      .rst_n             (rst_n),
      .start             (start),
      .idle              (core_idle),
      .precision         (precision),
      .nan_to_zero       (cfg[32*(`PDP_D_NAN_FLUSH_TO_ZERO-`PDP_OP_ENABLE)]),
      .method            (operation[1:0]),
      .in_height         (cfg[32*(`PDP_D_DATA_CUBE_IN_HEIGHT-`PDP_OP_ENABLE)+:13]),
      .out_height        (cfg[32*(`PDP_D_DATA_CUBE_OUT_HEIGHT-`PDP_OP_ENABLE)+:13]),
      .surfaces          (surfaces),
      .kernel_width      (kernel[3:0] - {3'd0, bug_pdp_kernel_width && kernel[3:0] != 4'd0}),
      .kernel_height     (kernel[11:8]),
      .stride_width      (bug_pdp_strides_swapped ? kernel[23:20] : kernel[19:16]),
      .stride_height     (bug_pdp_strides_swapped ? kernel[19:16] : kernel[23:20]),
      .pad_left          (bug_pdp_pad_left_ignored ? 3'd0 : padding[2:0]),
      .pad_top           (bug_pdp_pad_top_ignored ? 3'd0 : padding[6:4]),
      .pad_values        (bug_pdp_pad_value_ignored ? 224'd0 :
                           cfg[32*(`PDP_D_POOLING_PADDING_VALUE_1_CFG-`PDP_OP_ENABLE)+:32*7]),
      .recip_width       (cfg[32*(`PDP_D_RECIP_KERNEL_WIDTH-`PDP_OP_ENABLE)+:17] >> bug_pdp_reciprocal),
      .recip_height      (cfg[32*(`PDP_D_RECIP_KERNEL_HEIGHT-`PDP_OP_ENABLE)+:17]),
      .dst_base          (cfg[32*(`PDP_D_DST_BASE_ADDR_LOW-`PDP_OP_ENABLE)+:ADDR_WIDTH] +
                           (bug_pdp_dst_base ? strides[ADDR_WIDTH-1:0] : 0)),
      .dst_line_stride   (strides[ADDR_WIDTH-1:0] + (bug_pdp_dst_line_stride ? ATOM : 0)),
      .dst_surface_stride(strides[64+:ADDR_WIDTH] - (bug_pdp_dst_surface_stride ? ATOM : 0)),
      .band_next         (band_next),
      .band_is_first     (band_is_first),
      .band_is_last      (band_is_last),
      .band_in_width     (band_in_width),
      .band_out_start    (band_out_start - {12'd0, bug_pdp_band_overlaps && band_out_start != 13'd0}),
      .band_out_width    (band_out_width),
      .in_valid          (flying ? sdp_valid : data_valid),
      .in_ready          (core_ready),
      .in_data           (flying ? sdp_data : data),
      .out_valid         (wr_req_valid),
      .out_ready         (wr_req_ready),
      .out_addr          (wr_req_addr),
      .out_data          (wr_req_data)
  );

  nvdla_dma_write writes (
      .clk       (clk),
      .rst_n     (rst_n),
      .accepted  (wr_req_valid && wr_req_ready),
      .rsp_valid (wr_rsp_valid),
      .room      (interrupt_room),
      .layer_end (core_done),
      .group     (consumer),
      .layer_done(layer_done)
  );

  nvdla_cycles read_cycles (
      .clk     (clk),
      .rst_n   (rst_n),
      .clear   (1'b0),
      .count   (rdma_cfg[32*(`PDP_RDMA_D_PERF_ENABLE-`PDP_RDMA_OP_ENABLE)] && rd_req_valid && !rd_req_ready),
      .done    (rdma_done),
      .group   (rdma_consumer),
      .producer(rdma_producer),
      .value   (read_stalls)
  );

  nvdla_cycles write_cycles (
      .clk     (clk),
      .rst_n   (rst_n),
      .clear   (1'b0),
      .count   (cfg[32*(`PDP_D_PERF_ENABLE-`PDP_OP_ENABLE)] && wr_req_valid && !wr_req_ready && !bug_pdp_write_stalls_uncounted),
      .done    (core_done),
      .group   (consumer),
      .producer(producer),
      .value   (write_stalls)
  );
endmodule
