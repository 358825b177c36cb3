// CDMA_WT: weights from memory into the weight part of the convolution buffer and,
// when they are compressed, their masks (WMB) into a bank of their own. Both lie in
// memory without gaps and are copied as they are; CSC finds the kernels' borders.
// FULL has compressed weights.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_cdma_wt #(
    parameter FULL = 0,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter BANK_WORDS = 512,
    parameter WMB_BANK = 31,
    parameter CLIENTS = 1
) (
    input  wire                          clk,
    input  wire                          rst_n,
    input  wire                          start,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`CDMA_WORDS-`CDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                          reuse,         // the weights of the layer before stay
    input  wire                          csc_done,
    input  wire [                   1:0] precision,
    input  wire                          flush_nan,
    input  wire                          compressed,
    output wire                          idle,
    // Read clients: weights and, with FULL, WMB and WGS from bit 0 up
    output wire [           CLIENTS-1:0] rd_req_valid,
    input  wire [           CLIENTS-1:0] rd_req_ready,
    output wire [CLIENTS*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [           CLIENTS-1:0] rd_rsp_valid,
    input  wire [      8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                          write,
    output wire [         ADDR_BITS-1:0] write_addr,
    output wire [      8*ATOM_BYTES-1:0] write_data,
    output wire [                  31:0] loaded,        // words
    input  wire [                  31:0] released,
    output wire [                  31:0] wmb_loaded,
    input  wire [                  31:0] wmb_released,
    output wire [                   4:0] nans,
    output wire [                   4:0] infinities
);
  localparam W = 8 * ATOM_BYTES;
  localparam LOG2_BANK = $clog2(BANK_WORDS);
  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;

  `NVDLA_BUG(conv_weight_base)
  `NVDLA_BUG(conv_weights_stale)
  /* verilator lint_off UNUSEDSIGNAL */
  wire [63:0] base = {
    cfg[32*(`CDMA_D_WEIGHT_ADDR_HIGH-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_WEIGHT_ADDR_LOW-`CDMA_OP_ENABLE)+:32]
  } + (bug_conv_weight_base ? 64'd32 : 64'd0);
  wire [31:0] banks = cfg[32*(`CDMA_D_BANK-`CDMA_OP_ENABLE)+:32];
  /* verilator lint_on UNUSEDSIGNAL */
  wire [31:0] bytes = cfg[32*(`CDMA_D_WEIGHT_BYTES-`CDMA_OP_ENABLE)+:32];

  // The seeded bug conv_weights_stale keeps the weights of the first layer.
  reg filled;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) filled <= 1'b0;
    else if (csc_done) filled <= 1'b1;

  // One word a clock enters the buffer, masks first.
  wire wt_valid, wmb_valid, wt_idle, extra_idle, sizes_known;
  wire [31:0] total;
  wire [ADDR_BITS-1:0] wt_addr, wmb_addr;
  wire [W-1:0] wt_word, wt_clean, wmb_word;

  assign write      = wmb_valid || (wt_valid && !(bug_conv_weights_stale && filled));
  assign write_addr = wmb_valid ? wmb_addr : wt_addr;
  assign write_data = wmb_valid ? wmb_word : wt_clean;
  assign idle       = wt_idle && extra_idle;

  nvdla_cdma_special #(
      .WORD_BITS(W)
  ) special (
      .taken     (wt_valid && !wmb_valid),
      .is_float  (precision == FP16),
      .flush_nan (flush_nan),
      .in        (wt_word),
      .out       (wt_clean),
      .nans      (nans),
      .infinities(infinities)
  );

  nvdla_cdma_stream #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES),
      .ADDR_BITS (ADDR_BITS)
  ) weights (
      .clk         (clk),
      .rst_n       (rst_n),
      .start       (start),
      .active      (!reuse),
      .base        (base[ADDR_WIDTH-1:0]),
      .bytes       (compressed ? total : bytes),
      .complete    (sizes_known),
      .first       (({{(ADDR_BITS - 4) {1'b0}}, banks[4:0]} + 1'b1) << LOG2_BANK),
      .capacity    (({{(ADDR_BITS - 4) {1'b0}}, banks[20:16]} + 1'b1) << LOG2_BANK),
      .rd_req_valid(rd_req_valid[0]),
      .rd_req_ready(rd_req_ready[0]),
      .rd_req_addr (rd_req_addr[0+:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[0]),
      .rd_rsp_data (rd_rsp_data),
      .write_valid (wt_valid),
      .write_ready (!wmb_valid),
      .write_addr  (wt_addr),
      .write_data  (wt_word),
      .loaded      (loaded),
      .released    (released),
      .idle        (wt_idle)
  );

  generate
    if (FULL != 0) begin : compression
      nvdla_cdma_compression #(
          .ADDR_WIDTH(ADDR_WIDTH),
          .ATOM_BYTES(ATOM_BYTES),
          .ADDR_BITS (ADDR_BITS),
          .BANK_WORDS(BANK_WORDS),
          .WMB_BANK  (WMB_BANK)
      ) sizes_and_masks (
          .clk         (clk),
          .rst_n       (rst_n),
          .start       (start && compressed),
          .cfg         (cfg),
          .is_byte     (precision == INT8),
          .idle        (extra_idle),
          .rd_req_valid(rd_req_valid[2:1]),
          .rd_req_ready(rd_req_ready[2:1]),
          .rd_req_addr (rd_req_addr[3*ADDR_WIDTH-1:ADDR_WIDTH]),
          .rd_rsp_valid(rd_rsp_valid[2:1]),
          .rd_rsp_data (rd_rsp_data),
          .write       (wmb_valid),
          .write_addr  (wmb_addr),
          .write_data  (wmb_word),
          .loaded      (wmb_loaded),
          .released    (wmb_released),
          .sizes_known (sizes_known),
          .total       (total)
      );
    end else begin : plain
      wire unused_bits = &{1'b0, wmb_released};

      assign extra_idle  = 1'b1;
      assign wmb_valid   = 1'b0;
      assign wmb_addr    = 0;
      assign wmb_word    = 0;
      assign wmb_loaded  = 32'd0;
      assign sizes_known = 1'b1;
      assign total       = 32'd0;
    end
  endgenerate
endmodule
