// Convolution pipeline: CDMA -> buffer -> CSC -> CMAC_A and CMAC_B -> CACC -> SDP.
// Direct convolution of INT8 feature cubes and images.
//
// CSC, both CMACs and CACC start a layer together, when all four have an enabled
// group in turn, CDMA is on the way with its data, and the layer before has left
// them. They are done one after the other: CSC with its last atomic operation, CACC
// when SDP has taken the last result.
`include "nvdla_register_offsets.vh"

module nvdla_conv #(
    parameter [5:0] SLOT_CDMA = 6'd3,
    parameter FLUSH_CYCLES = 8192,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter ATOMIC_C = 8,
    parameter ATOMIC_K = 8,
    parameter BANKS = 32,
    parameter BANK_ENTRIES = 512,
    parameter ENTRY_BYTES = 8
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
    // Read clients: CDMA data, CDMA weights from bit 0 up
    output wire [             1:0] rd_req_valid,
    input  wire [             1:0] rd_req_ready,
    output wire [2*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [             1:0] rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    // Results: ATOMIC_K channels of one output position
    output wire                    sdp_valid,
    input  wire                    sdp_ready,
    output wire [ 32*ATOMIC_K-1:0] sdp_data,
    output wire                    sdp_last
);
  localparam ENTRY_WORDS = ENTRY_BYTES / ATOM_BYTES;
  localparam BANK_WORDS = BANK_ENTRIES * ENTRY_WORDS;
  localparam ADDR_BITS = $clog2(BANKS * BANK_WORDS);
  localparam LOG2_STRIPE = 6;
  localparam LINES = 4;  // that channel post-extension combines
  localparam W = 8 * ATOM_BYTES;
  localparam SUM_BITS = 16 + $clog2(ATOMIC_C) + 1;
  localparam CELLS = ATOMIC_K / 2;  // of each CMAC
  localparam DATA_PORTS = LINES * (ATOMIC_C / ATOM_BYTES + 1);
  localparam WEIGHT_PORTS = ATOMIC_C / ATOM_BYTES + 1;

  wire [31:0] cdma_rdata, csc_rdata, cmac_a_rdata, cmac_b_rdata, cacc_rdata;

  assign rdata = cdma_rdata | csc_rdata | cmac_a_rdata | cmac_b_rdata | cacc_rdata;

  // Layers that CDMA has begun and CSC not yet: one at most, as CDMA waits for CSC.
  reg fetched, busy, start;
  wire fetch_started, csc_enabled, cmac_a_enabled, cmac_b_enabled, cacc_enabled, csc_done, last_taken;
  wire load = fetched && !busy && csc_enabled && cmac_a_enabled && cmac_b_enabled && cacc_enabled;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) {fetched, busy, start} <= 3'b000;
    else begin
      if (fetch_started) fetched <= 1'b1;
      else if (load) fetched <= 1'b0;
      if (load) busy <= 1'b1;
      else if (last_taken) busy <= 1'b0;
      start <= load;
    end

  wire dat_write, wt_write, release_valid, wt_cleared;
  wire [ADDR_BITS-1:0] dat_write_addr, wt_write_addr;
  wire [W-1:0] dat_write_data, wt_write_data;
  wire [ADDR_BITS:0] dat_first;
  wire [13:0] dat_slices, release_slices;
  wire [31:0] wt_loaded, wt_released;

  nvdla_cdma #(
      .SLOT        (SLOT_CDMA),
      .FLUSH_CYCLES(FLUSH_CYCLES),
      .ADDR_WIDTH  (ADDR_WIDTH),
      .ATOM_BYTES  (ATOM_BYTES),
      .ADDR_BITS   (ADDR_BITS),
      .ENTRY_WORDS (ENTRY_WORDS),
      .BANK_WORDS  (BANK_WORDS)
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
      .dat_first     (dat_first),
      .dat_slices    (dat_slices),
      .wt_loaded     (wt_loaded),
      .wt_released   (wt_released),
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

  wire advance, op_valid, op_first, op_last, op_end, weights_load;
  wire [8*ATOMIC_C-1:0] op_elements;
  wire [LOG2_STRIPE-1:0] op_index;
  wire [8*ATOMIC_C*ATOMIC_K-1:0] weights;

  nvdla_csc #(
      .SLOT       (SLOT_CDMA + 6'd1),
      .ATOM_BYTES (ATOM_BYTES),
      .ADDR_BITS  (ADDR_BITS),
      .ENTRY_WORDS(ENTRY_WORDS),
      .BANK_WORDS (BANK_WORDS),
      .ATOMIC_C   (ATOMIC_C),
      .ATOMIC_K   (ATOMIC_K),
      .LOG2_STRIPE(LOG2_STRIPE),
      .LINES      (LINES)
  ) csc (
      .clk           (clk),
      .rst_n         (rst_n),
      .req_valid     (req_valid),
      .req_write     (req_write),
      .req_addr      (req_addr),
      .req_wdata     (req_wdata),
      .rdata         (csc_rdata),
      .enabled       (csc_enabled),
      .load          (load),
      .start         (start),
      .done          (csc_done),
      .dat_first     (dat_first),
      .dat_slices    (dat_slices),
      .release_slices(release_slices),
      .release_valid (release_valid),
      .wt_cleared    (wt_cleared),
      .wt_loaded     (wt_loaded),
      .wt_released   (wt_released),
      .dat_addr      (dat_addr),
      .dat_data      (dat_data),
      .wt_addr       (wt_addr),
      .wt_data       (wt_data),
      .advance       (advance),
      .op_valid      (op_valid),
      .op_elements   (op_elements),
      .op_index      (op_index),
      .op_first      (op_first),
      .op_last       (op_last),
      .op_end        (op_end),
      .weights_load  (weights_load),
      .weights       (weights)
  );

  wire cmac_done = advance && op_valid && op_end;
  wire [SUM_BITS*ATOMIC_K-1:0] sums;

  nvdla_cmac #(
      .SLOT    (SLOT_CDMA + 6'd2),
      .UNIT    (`UNIT_CMAC_A),
      .ATOMIC_C(ATOMIC_C),
      .CELLS   (CELLS),
      .SUM_BITS(SUM_BITS)
  ) cmac_a (
      .clk         (clk),
      .rst_n       (rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (cmac_a_rdata),
      .enabled     (cmac_a_enabled),
      .load        (load),
      .done        (cmac_done),
      .advance     (advance),
      .weights_load(weights_load),
      .weights     (weights[0+:8*ATOMIC_C*CELLS]),
      .op_valid    (op_valid),
      .op_elements (op_elements),
      .sums        (sums[0+:SUM_BITS*CELLS])
  );

  nvdla_cmac #(
      .SLOT    (SLOT_CDMA + 6'd3),
      .UNIT    (`UNIT_CMAC_B),
      .ATOMIC_C(ATOMIC_C),
      .CELLS   (CELLS),
      .SUM_BITS(SUM_BITS)
  ) cmac_b (
      .clk         (clk),
      .rst_n       (rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (cmac_b_rdata),
      .enabled     (cmac_b_enabled),
      .load        (load),
      .done        (cmac_done),
      .advance     (advance),
      .weights_load(weights_load),
      .weights     (weights[8*ATOMIC_C*CELLS+:8*ATOMIC_C*CELLS]),
      .op_valid    (op_valid),
      .op_elements (op_elements),
      .sums        (sums[SUM_BITS*CELLS+:SUM_BITS*CELLS])
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
      .ATOMIC_K   (ATOMIC_K),
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
