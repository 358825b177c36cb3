// CDMA: registers, control, and the two sides that fill the convolution buffer.
//
// After a reset the buffer is cleared, one entry of its 32 banks in turn; software
// polls S_CBUF_FLUSH_STATUS before the first convolution, which waits for it in any
// case. About 8,000 cycles were measured on the public nv_small RTL.
//
// A layer starts when CSC is done with the one before; each side raises its own
// done interrupt when its last word is in the buffer, and CDMA is done when both
// are. NaN and performance counters read 0.
`include "nvdla_register_offsets.vh"

module nvdla_cdma #(
    parameter [5:0] SLOT = 6'd3,
    parameter FLUSH_CYCLES = 8192,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter ENTRY_WORDS = 1,
    parameter BANK_WORDS = 512
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    req_valid,
    input  wire                    req_write,
    input  wire [            15:0] req_addr,
    input  wire [            31:0] req_wdata,
    output wire [            31:0] rdata,
    output wire [             1:0] dat_done,       // one bit per group
    output wire [             1:0] wt_done,
    // Read clients: data, weights from bit 0 up
    output wire [             1:0] rd_req_valid,
    input  wire [             1:0] rd_req_ready,
    output wire [2*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [             1:0] rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    // Buffer, and its state for CSC
    output wire                    dat_write,
    output wire [   ADDR_BITS-1:0] dat_write_addr,
    output wire [8*ATOM_BYTES-1:0] dat_write_data,
    output wire                    wt_write,
    output wire [   ADDR_BITS-1:0] wt_write_addr,
    output wire [8*ATOM_BYTES-1:0] wt_write_data,
    output wire                    started,        // a layer is on its way
    output wire                    wt_cleared,     // it brings weights of its own
    output wire [     ADDR_BITS:0] dat_first,
    output wire [            13:0] dat_slices,
    output wire [            31:0] wt_loaded,      // words
    input  wire [            31:0] wt_released,
    input  wire                    csc_done,
    input  wire                    release_valid,
    input  wire [            13:0] release_slices
);
  localparam W = 8 * ATOM_BYTES;
  localparam [13:0] FLUSHED = FLUSH_CYCLES[13:0];
  localparam [9:0] W_FLUSH_STATUS = `CDMA_S_CBUF_FLUSH_STATUS;
  localparam LOG2_BANK = $clog2(BANK_WORDS);

  reg  [13:0] flush_count;
  wire        flushed = (flush_count == FLUSHED);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) flush_count <= 14'd0;
    else if (!flushed) flush_count <= flush_count + 14'd1;

  wire enabled, consumer, unused_producer;
  wire [32*(`CDMA_WORDS-`CDMA_OP_ENABLE)-1:0] cfg;
  wire [31:0] misc = cfg[32*(`CDMA_D_MISC_CFG-`CDMA_OP_ENABLE)+:32];
  wire dat_idle, wt_idle;

  // FREE -> LOADED -> STARTED -> BUSY -> FREE; `used` until CSC is done, too.
  localparam [1:0] FREE = 2'd0, LOADED = 2'd1, STARTED = 2'd2, BUSY = 2'd3;
  reg [1:0] state;
  reg used, dat_busy, wt_busy;

  wire load = (state == FREE) && enabled && flushed && !used;
  wire start = (state == LOADED);
  wire dat_ends = dat_busy && (state == BUSY) && dat_idle;
  wire wt_ends = wt_busy && (state == BUSY) && wt_idle;
  wire done = (state == BUSY) && !dat_busy && !wt_busy;

  assign started    = start;
  assign wt_cleared = start && !misc[20];
  assign dat_done = {dat_ends && consumer, dat_ends && !consumer};
  assign wt_done  = {wt_ends && consumer, wt_ends && !consumer};

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state    <= FREE;
      used     <= 1'b0;
      dat_busy <= 1'b0;
      wt_busy  <= 1'b0;
    end else begin
      case (state)
        FREE:    if (load) state <= LOADED;
        LOADED:  state <= STARTED;
        STARTED: state <= BUSY;  // one clock for both sides to leave idle
        default: if (done) state <= FREE;
      endcase
      if (load) used <= 1'b1;
      else if (csc_done) used <= 1'b0;
      if (start) {dat_busy, wt_busy} <= 2'b11;
      if (dat_ends) dat_busy <= 1'b0;
      if (wt_ends) wt_busy <= 1'b0;
    end

  nvdla_regfile #(
      .SLOT     (SLOT),
      .UNIT     (`UNIT_CDMA),
      .WORDS    (`CDMA_WORDS),
      .OP_ENABLE(`CDMA_OP_ENABLE)
  ) regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdata),
      .ro_data  ({31'd0, flushed && (req_addr[9:0] == W_FLUSH_STATUS)}),
      .producer (unused_producer),
      .consumer (consumer),
      .enabled  (enabled),
      .load     (load),
      .cfg      (cfg),
      .done     (done)
  );

  nvdla_cdma_dat #(
      .ADDR_WIDTH (ADDR_WIDTH),
      .ATOM_BYTES (ATOM_BYTES),
      .ADDR_BITS  (ADDR_BITS),
      .ENTRY_WORDS(ENTRY_WORDS),
      .BANK_WORDS (BANK_WORDS)
  ) dat (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (start),
      .cfg           (cfg),
      .idle          (dat_idle),
      .rd_req_valid  (rd_req_valid[0]),
      .rd_req_ready  (rd_req_ready[0]),
      .rd_req_addr   (rd_req_addr[ADDR_WIDTH-1:0]),
      .rd_rsp_valid  (rd_rsp_valid[0]),
      .rd_rsp_data   (rd_rsp_data),
      .write         (dat_write),
      .write_addr    (dat_write_addr),
      .write_data    (dat_write_data),
      .release_valid (release_valid),
      .release_slices(release_slices),
      .first         (dat_first),
      .slices        (dat_slices)
  );

  wire [31:0] banks = cfg[32*(`CDMA_D_BANK-`CDMA_OP_ENABLE)+:32];
  wire wt_addr_valid, wt_addr_ready, wt_word_valid, wt_word_ready, wt_words_idle;
  wire [ADDR_WIDTH-1:0] wt_addr;
  wire [W-1:0] wt_word;
  wire unused_bits = &{1'b0, misc[31:21], misc[19:0], banks[31:21], banks[15:5], wt_words_idle};

  nvdla_cdma_wt #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES),
      .ADDR_BITS (ADDR_BITS)
  ) wt (
      .clk       (clk),
      .rst_n     (rst_n),
      .start     (start),
      .reuse     (misc[20]),
      .drain     (csc_done),
      .base      (cfg[32*(`CDMA_D_WEIGHT_ADDR_LOW-`CDMA_OP_ENABLE)+:ADDR_WIDTH]),
      .bytes     (cfg[32*(`CDMA_D_WEIGHT_BYTES-`CDMA_OP_ENABLE)+:32]),
      .first     (({{(ADDR_BITS - 4) {1'b0}}, banks[4:0]} + 1'b1) << LOG2_BANK),
      .capacity  (({{(ADDR_BITS - 4) {1'b0}}, banks[20:16]} + 1'b1) << LOG2_BANK),
      .addr_valid(wt_addr_valid),
      .addr_ready(wt_addr_ready),
      .addr      (wt_addr),
      .word_valid(wt_word_valid),
      .word_ready(wt_word_ready),
      .word      (wt_word),
      .write     (wt_write),
      .write_addr(wt_write_addr),
      .write_data(wt_write_data),
      .loaded    (wt_loaded),
      .released  (wt_released),
      .idle      (wt_idle)
  );

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(W)
  ) wt_read (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(wt_addr_valid),
      .addr_ready(wt_addr_ready),
      .addr      (wt_addr),
      .req_valid (rd_req_valid[1]),
      .req_ready (rd_req_ready[1]),
      .req_addr  (rd_req_addr[ADDR_WIDTH+:ADDR_WIDTH]),
      .rsp_valid (rd_rsp_valid[1]),
      .rsp_data  (rd_rsp_data),
      .data_valid(wt_word_valid),
      .data_ready(wt_word_ready),
      .data      (wt_word),
      .idle      (wt_words_idle)
  );
endmodule
