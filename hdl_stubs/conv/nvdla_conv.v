// Convolution pipeline: CDMA -> buffer -> CSC -> CMAC_A and CMAC_B -> CACC -> SDP.
// Direct convolution of INT8 feature cubes and images; with FULL also of INT16 and FP16,
// of several cubes with the same weights (batches), Winograd, and compressed weights.
//
// CSC, both CMACs and CACC start a layer together, when all four have an enabled
// group in turn, CDMA is on the way with its data, and the layer before has left
// them. They are done one after the other: CSC with its last atomic operation, CACC
// when SDP has taken the last result.
//
// Several cubes: CDMA puts their lines beside each other into the buffer, and CSC computes
// for each group of kernels one cube after the other.
//
// With FULL, batches of Winograd or of images and Winograd with strides are not in this
// design; such a layer, and one whose units disagree about the number of cubes, mode or
// precision, stays RUNNING for ever.
`include "nvdla_register_offsets.vh"

module nvdla_conv #(
    parameter [5:0] SLOT_CDMA = 6'd3,
    parameter FULL = 0,
    parameter FLUSH_CYCLES = 8192,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter ATOMIC_C = 8,
    parameter ATOMIC_K = 8,      // kernels of INT8
    parameter BANKS = 32,
    parameter BANK_ENTRIES = 512,
    parameter ENTRY_BYTES = 8,
    parameter LOG2_STRIPE = 6,
    parameter CLIENTS = 2
) (
    input  wire                          clk,
    input  wire                          rst_n,
    input  wire                          req_valid,
    input  wire                          req_write,
    input  wire [                  15:0] req_addr,
    input  wire [                  31:0] req_wdata,
    output wire [                  31:0] rdata,
    output wire [                   1:0] cdma_dat_done,
    output wire [                   1:0] cdma_wt_done,
    output wire [                   1:0] cacc_done,
    // Read clients: CDMA data, weights and, with FULL, WMB, WGS from bit 0 up
    output wire [           CLIENTS-1:0] rd_req_valid,
    input  wire [           CLIENTS-1:0] rd_req_ready,
    output wire [           CLIENTS-1:0] rd_req_mc,      // DBB, else CVSRAM
    output wire [CLIENTS*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [           CLIENTS-1:0] rd_rsp_valid,
    input  wire [      8*ATOM_BYTES-1:0] rd_rsp_data,
    // Results: ATOMIC_K channels of one output position, half as many of 16 bits
    output wire [                   7:0] sdp_mode,       // {cubes minus one, Winograd, precision}
    output wire                          sdp_valid,
    input  wire                          sdp_ready,
    output wire [       32*ATOMIC_K-1:0] sdp_data,
    output wire                          sdp_last
);
  localparam ENTRY_WORDS = ENTRY_BYTES / ATOM_BYTES;
  localparam BANK_WORDS = BANK_ENTRIES * ENTRY_WORDS;
  localparam ADDR_BITS = $clog2(BANKS * BANK_WORDS);
  localparam LINES = 4;  // that channel post-extension combines
  localparam W = 8 * ATOM_BYTES;
  localparam ELEMENT_BITS = (FULL != 0) ? 16 : 8;
  localparam ELEMENTS = ATOMIC_C * ELEMENT_BITS;
  localparam SLOT_BITS = $clog2(ATOMIC_K);
  localparam SUM_BITS = (FULL != 0) ? 4 * 65 : 16 + $clog2(ATOMIC_C) + 1;
  localparam CELLS = ATOMIC_K / 2;  // kernels of each CMAC
  localparam WORDS = ELEMENTS / W + 1;  // that a block's elements lie in
  localparam DATA_PORTS = LINES * WORDS;
  localparam WEIGHT_PORTS = (FULL != 0) ? WORDS + 2 : WORDS;  // masks

  wire [31:0] cdma_rdata, csc_rdata, cmac_a_rdata, cmac_b_rdata, cacc_rdata;

  assign rdata = cdma_rdata | csc_rdata | cmac_a_rdata | cmac_b_rdata | cacc_rdata;

  // Layers that CDMA has begun and CSC not yet: one at most, as CDMA waits for CSC.
  // FREE -> LOADED -> BUSY -> FREE; what cannot run stays in LOADED.
  localparam [1:0] FREE = 2'd0, LOADED = 2'd1, BUSY = 2'd2;
  reg fetched;
  reg [1:0] state;
  wire fetch_started, csc_enabled, cmac_a_enabled, cmac_b_enabled, cacc_enabled, csc_done, last_taken;
  wire csc_runnable, cdma_compressed, csc_compressed;
  wire [7:0] cdma_mode, csc_mode;
  wire [2:0] cmac_a_mode, cmac_b_mode;
  wire load = fetched && (state == FREE) && csc_enabled && cmac_a_enabled && cmac_b_enabled && cacc_enabled;
  wire start = (state == LOADED) && csc_runnable && (cdma_compressed == csc_compressed) &&
               (cdma_mode == csc_mode) && (csc_mode[2:0] == cmac_a_mode) && (csc_mode[2:0] == cmac_b_mode) &&
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

  wire dat_write, wt_write, release_valid, wt_cleared, wt_filled;
  wire [ADDR_BITS-1:0] dat_write_addr, wt_write_addr;
  wire [W-1:0] dat_write_data, wt_write_data;
  wire [ADDR_BITS:0] dat_first;
  wire [13:0] dat_slices, release_slices;
  wire [31:0] wt_loaded, wt_released, wmb_loaded, wmb_released;

  nvdla_cdma #(
      .SLOT        (SLOT_CDMA),
      .FULL        (FULL),
      .FLUSH_CYCLES(FLUSH_CYCLES),
      .ADDR_WIDTH  (ADDR_WIDTH),
      .ATOM_BYTES  (ATOM_BYTES),
      .ADDR_BITS   (ADDR_BITS),
      .ENTRY_WORDS (ENTRY_WORDS),
      .BANKS       (BANKS),
      .BANK_WORDS  (BANK_WORDS),
      .CLIENTS     (CLIENTS)
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
      .wt_filled     (wt_filled),
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

  wire [DATA_PORTS*ADDR_BITS-1:0] dat_addr;
  wire [DATA_PORTS*W-1:0] dat_data;
  wire [WEIGHT_PORTS*ADDR_BITS-1:0] wt_addr;
  wire [WEIGHT_PORTS*W-1:0] wt_data;

  nvdla_cbuf #(
      .WORD_BITS   (W),
      .ADDR_BITS   (ADDR_BITS),
      .DATA_PORTS  (DATA_PORTS),
      .WEIGHT_PORTS(WEIGHT_PORTS)
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
  wire [ELEMENTS-1:0] op_elements, kernel_elements;
  wire [16:0] op_nan;
  wire [LOG2_STRIPE-1:0] op_index;
  wire [SLOT_BITS-1:0] kernel_slot;

  nvdla_csc #(
      .SLOT        (SLOT_CDMA + 6'd1),
      .FULL        (FULL),
      .ATOM_BYTES  (ATOM_BYTES),
      .ADDR_BITS   (ADDR_BITS),
      .ENTRY_WORDS (ENTRY_WORDS),
      .BANK_WORDS  (BANK_WORDS),
      .WMB_BANK    (BANKS - 1),
      .ATOMIC_C    (ATOMIC_C),
      .ATOMIC_K    (ATOMIC_K),
      .ELEMENT_BITS(ELEMENT_BITS),
      .SLOT_BITS   (SLOT_BITS),
      .LOG2_STRIPE (LOG2_STRIPE),
      .LINES       (LINES),
      .DATA_PORTS  (DATA_PORTS),
      .WEIGHT_PORTS(WEIGHT_PORTS)
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
      .wt_filled      (wt_filled),
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
  wire [SUM_BITS*ATOMIC_K-1:0] sums;

  nvdla_cmac #(
      .SLOT        (SLOT_CDMA + 6'd2),
      .UNIT        (`UNIT_CMAC_A),
      .FULL        (FULL),
      .ATOMIC_C    (ATOMIC_C),
      .ELEMENT_BITS(ELEMENT_BITS),
      .SLOT_BITS   (SLOT_BITS),
      .FIRST       (0),
      .SLOTS       (CELLS),
      .SUM_BITS    (SUM_BITS)
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
      .sums           (sums[0+:SUM_BITS*CELLS])
  );

  nvdla_cmac #(
      .SLOT        (SLOT_CDMA + 6'd3),
      .UNIT        (`UNIT_CMAC_B),
      .FULL        (FULL),
      .ATOMIC_C    (ATOMIC_C),
      .ELEMENT_BITS(ELEMENT_BITS),
      .SLOT_BITS   (SLOT_BITS),
      .FIRST       (CELLS),
      .SLOTS       (CELLS),
      .SUM_BITS    (SUM_BITS)
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
      .sums           (sums[SUM_BITS*CELLS+:SUM_BITS*CELLS])
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

  nvdla_cacc #(
      .SLOT       (SLOT_CDMA + 6'd4),
      .FULL       (FULL),
      .SLOTS      (ATOMIC_K),
      .SUM_BITS   (SUM_BITS),
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
