// Convolution pipeline of a configuration with all precisions: CDMA -> buffer -> CSC ->
// CMAC_A and CMAC_B -> CACC -> SDP. Direct convolution of feature cubes in INT8, INT16 and
// FP16, and Winograd in the last two, with plain or compressed weights.
//
// A layer's life is that of nvdla_conv. Not in this design: images with their channel
// post-extension, batches, Winograd in INT8 or with strides, and CDMA's converter; such a layer,
// and one whose units disagree about mode or precision, stays RUNNING for ever.
`include "nvdla_register_offsets.vh"

module nvdla_conv_full #(
    parameter [5:0] SLOT_CDMA = 6'd5,
    parameter ADDR_WIDTH = 64
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    req_valid,
    input  wire                    req_write,
    input  wire [            15:0] req_addr,
    input  wire [            31:0] req_wdata,
    output wire [            31:0] rdata,
    output wire [             1:0] cdma_dat_done,
    output wire [             1:0] cdma_wt_done,
    output wire [             1:0] cacc_done,
    // Read clients: CDMA data, weights, WMB, WGS from bit 0 up
    output wire [             3:0] rd_req_valid,
    input  wire [             3:0] rd_req_ready,
    output wire [             3:0] rd_req_mc,
    output wire [4*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [             3:0] rd_rsp_valid,
    input  wire [           255:0] rd_rsp_data,
    // Results: 32 channels of INT8, or 16, of one output position
    output wire [             2:0] sdp_mode,       // {Winograd, precision}
    output wire                    sdp_valid,
    input  wire                    sdp_ready,
    output wire [          1023:0] sdp_data,
    output wire                    sdp_last
);
  localparam ADDR_BITS = 14;  // 512 KiB of 32-byte words
  localparam LOG2_STRIPE = 5;
  localparam CMAC_SUMS = 16 * 4 * 65;

  wire [31:0] cdma_rdata, csc_rdata, cmac_a_rdata, cmac_b_rdata, cacc_rdata;

  assign rdata = cdma_rdata | csc_rdata | cmac_a_rdata | cmac_b_rdata | cacc_rdata;

  // Layers that CDMA has begun and CSC not yet: one at most, as CDMA waits for CSC.
  // FREE -> LOADED -> BUSY -> FREE; what cannot run stays in LOADED.
  localparam [1:0] FREE = 2'd0, LOADED = 2'd1, BUSY = 2'd2;
  reg fetched;
  reg [1:0] state;
  wire fetch_started, csc_enabled, cmac_a_enabled, cmac_b_enabled, cacc_enabled, csc_done, last_taken;
  wire csc_runnable, cacc_runnable, cdma_compressed, csc_compressed;
  wire [2:0] cdma_mode, csc_mode, cmac_a_mode, cmac_b_mode;
  wire load = fetched && (state == FREE) && csc_enabled && cmac_a_enabled && cmac_b_enabled && cacc_enabled;
  wire start = (state == LOADED) && csc_runnable && cacc_runnable && (cdma_compressed == csc_compressed) &&
               (cdma_mode == csc_mode) && (csc_mode == cmac_a_mode) && (csc_mode == cmac_b_mode) &&
               (csc_mode == sdp_mode);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      fetched <= 1'b0;
      state   <= FREE;
    end else begin
      if (fetch_started) fetched <= 1'b1;
      else if (load) fetched <= 1'b0;
      case (state)
        FREE:    if (load) state <= LOADED;
        LOADED:  if (start) state <= BUSY;
        default: if (last_taken) state <= FREE;
      endcase
    end

  wire dat_write, wt_write, release_valid, wt_cleared;
  wire [ADDR_BITS-1:0] dat_write_addr, wt_write_addr;
  wire [255:0] dat_write_data, wt_write_data;
  wire [ADDR_BITS:0] dat_first;
  wire [13:0] dat_slices, release_slices;
  wire [31:0] wt_loaded, wt_released, wmb_loaded, wmb_released;

  nvdla_cdma_full #(
      .SLOT      (SLOT_CDMA),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ADDR_BITS (ADDR_BITS)
  ) cdma (
      .clk           (clk),
      .rst_n         (rst_n),
      .req_valid     (req_valid),
      .req_write     (req_write),
      .req_addr      (req_addr),
      .req_wdata     (req_wdata),
      .rdata         (cdma_rdata),
      .dat_done      (cdma_dat_done),
      .wt_done       (cdma_wt_done),
      .rd_req_valid  (rd_req_valid),
      .rd_req_ready  (rd_req_ready),
      .rd_req_mc     (rd_req_mc),
      .rd_req_addr   (rd_req_addr),
      .rd_rsp_valid  (rd_rsp_valid),
      .rd_rsp_data   (rd_rsp_data),
      .dat_write     (dat_write),
      .dat_write_addr(dat_write_addr),
      .dat_write_data(dat_write_data),
      .wt_write      (wt_write),
      .wt_write_addr (wt_write_addr),
      .wt_write_data (wt_write_data),
      .started       (fetch_started),
      .wt_cleared    (wt_cleared),
      .mode          (cdma_mode),
      .compressed    (cdma_compressed),
      .dat_first     (dat_first),
      .dat_slices    (dat_slices),
      .wt_loaded     (wt_loaded),
      .wt_released   (wt_released),
      .wmb_loaded    (wmb_loaded),
      .wmb_released  (wmb_released),
      .csc_done      (csc_done),
      .release_valid (release_valid),
      .release_slices(release_slices)
  );

  wire [16*ADDR_BITS-1:0] dat_addr;
  wire [16*256-1:0] dat_data;
  wire [7*ADDR_BITS-1:0] wt_addr;
  wire [7*256-1:0] wt_data;

  nvdla_cbuf #(
      .WORD_BITS   (256),
      .ADDR_BITS   (ADDR_BITS),
      .DATA_PORTS  (16),
      .WEIGHT_PORTS(7)
  ) cbuf (
      .clk           (clk),
      .dat_write     (dat_write),
      .dat_write_addr(dat_write_addr),
      .dat_write_data(dat_write_data),
      .wt_write      (wt_write),
      .wt_write_addr (wt_write_addr),
      .wt_write_data (wt_write_data),
      .dat_addr      (dat_addr),
      .dat_data      (dat_data),
      .wt_addr       (wt_addr),
      .wt_data       (wt_data)
  );

  wire advance, op_valid, op_first, op_last, op_end, kernel_valid, weights_load;
  wire [1023:0] op_elements, kernel_elements;
  wire [16:0] op_nan;
  wire [LOG2_STRIPE-1:0] op_index;
  wire [4:0] kernel_slot;

  nvdla_csc_full #(
      .SLOT       (SLOT_CDMA + 6'd1),
      .ADDR_BITS  (ADDR_BITS),
      .LOG2_STRIPE(LOG2_STRIPE)
  ) csc (
      .clk            (clk),
      .rst_n          (rst_n),
      .req_valid      (req_valid),
      .req_write      (req_write),
      .req_addr       (req_addr),
      .req_wdata      (req_wdata),
      .rdata          (csc_rdata),
      .enabled        (csc_enabled),
      .load           (load),
      .runnable       (csc_runnable),
      .mode           (csc_mode),
      .compressed     (csc_compressed),
      .start          (start),
      .done           (csc_done),
      .dat_first      (dat_first),
      .dat_slices     (dat_slices),
      .release_slices (release_slices),
      .release_valid  (release_valid),
      .wt_cleared     (wt_cleared),
      .wt_loaded      (wt_loaded),
      .wt_released    (wt_released),
      .wmb_loaded     (wmb_loaded),
      .wmb_released   (wmb_released),
      .dat_addr       (dat_addr),
      .dat_data       (dat_data),
      .wt_addr        (wt_addr),
      .wt_data        (wt_data),
      .advance        (advance),
      .op_valid       (op_valid),
      .op_elements    (op_elements),
      .op_nan         (op_nan),
      .op_index       (op_index),
      .op_first       (op_first),
      .op_last        (op_last),
      .op_end         (op_end),
      .kernel_valid   (kernel_valid),
      .kernel_slot    (kernel_slot),
      .kernel_elements(kernel_elements),
      .weights_load   (weights_load)
  );

  wire cmac_done = advance && op_valid && op_end;
  wire [2*CMAC_SUMS-1:0] sums;

  nvdla_cmac_full #(
      .SLOT (SLOT_CDMA + 6'd2),
      .UNIT (`UNIT_CMAC_A),
      .FIRST(5'd0)
  ) cmac_a (
      .clk            (clk),
      .rst_n          (rst_n),
      .req_valid      (req_valid),
      .req_write      (req_write),
      .req_addr       (req_addr),
      .req_wdata      (req_wdata),
      .rdata          (cmac_a_rdata),
      .enabled        (cmac_a_enabled),
      .load           (load),
      .mode           (cmac_a_mode),
      .done           (cmac_done),
      .advance        (advance),
      .kernel_valid   (kernel_valid),
      .kernel_slot    (kernel_slot),
      .kernel_elements(kernel_elements),
      .weights_load   (weights_load),
      .op_valid       (op_valid),
      .op_elements    (op_elements),
      .op_nan         (op_nan),
      .sums           (sums[0+:CMAC_SUMS])
  );

  nvdla_cmac_full #(
      .SLOT (SLOT_CDMA + 6'd3),
      .UNIT (`UNIT_CMAC_B),
      .FIRST(5'd16)
  ) cmac_b (
      .clk            (clk),
      .rst_n          (rst_n),
      .req_valid      (req_valid),
      .req_write      (req_write),
      .req_addr       (req_addr),
      .req_wdata      (req_wdata),
      .rdata          (cmac_b_rdata),
      .enabled        (cmac_b_enabled),
      .load           (load),
      .mode           (cmac_b_mode),
      .done           (cmac_done),
      .advance        (advance),
      .kernel_valid   (kernel_valid),
      .kernel_slot    (kernel_slot),
      .kernel_elements(kernel_elements),
      .weights_load   (weights_load),
      .op_valid       (op_valid),
      .op_elements    (op_elements),
      .op_nan         (op_nan),
      .sums           (sums[CMAC_SUMS+:CMAC_SUMS])
  );

  // What the sums belong to, beside them
  reg sums_valid, sums_first, sums_last, sums_end;
  reg [LOG2_STRIPE-1:0] sums_index;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      {sums_valid, sums_first, sums_last, sums_end} <= 4'd0;
      sums_index <= 0;
    end else if (advance) begin
      {sums_valid, sums_first, sums_last, sums_end} <= {op_valid, op_first, op_last, op_end};
      sums_index <= op_index;
    end

  nvdla_cacc_full #(
      .SLOT       (SLOT_CDMA + 6'd4),
      .LOG2_STRIPE(LOG2_STRIPE)
  ) cacc (
      .clk       (clk),
      .rst_n     (rst_n),
      .req_valid (req_valid),
      .req_write (req_write),
      .req_addr  (req_addr),
      .req_wdata (req_wdata),
      .rdata     (cacc_rdata),
      .enabled   (cacc_enabled),
      .load      (load),
      .runnable  (cacc_runnable),
      .mode      (sdp_mode),
      .start     (start),
      .done      (last_taken),
      .layer_done(cacc_done),
      .advance   (advance),
      .sums_valid(sums_valid),
      .sums      (sums),
      .sums_index(sums_index),
      .sums_first(sums_first),
      .sums_last (sums_last),
      .sums_end  (sums_end),
      .sdp_valid (sdp_valid),
      .sdp_ready (sdp_ready),
      .sdp_data  (sdp_data),
      .sdp_last  (sdp_last)
  );
endmodule
