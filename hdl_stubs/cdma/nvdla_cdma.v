// CDMA: registers, control, and the two sides that fill the convolution buffer: with
// feature cubes or images, and with weights.
//
// After a reset the buffer is cleared, one entry of its banks in turn; software
// polls S_CBUF_FLUSH_STATUS before the first convolution, which waits for it in any
// case. About 8,000 cycles were measured on the public nv_small RTL.
//
// A layer starts when CSC is done with the one before; each side raises its own
// done interrupt when its last word is in the buffer, and CDMA is done when both
// are. NaN and infinities are counted as they enter the buffer. The read latency of
// weights reads 0, as on the public nv_small RTL.
//
// What CSC has not given back of the lines and weights of the layer before can be used
// again. Read off the public nv_small RTL and measured there: data, while the number of
// data banks and the kind of input stay the same; nothing is fetched when the layer before
// kept all of its lines, otherwise the new lines come after those that are left. Weights,
// while both numbers of banks stay the same and the layer before kept them; otherwise
// they are fetched whatever the flag says.
//
// FULL adds INT16, FP16, several cubes, Winograd and compressed weights. A layer of a
// kind that is not computed then stays RUNNING for ever: several images, several cubes
// with Winograd, Winograd with strides or of images, a converter for FP16, cubes of
// another precision than they are processed in, and compressed weights that are used
// again.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_cdma #(
    parameter [5:0] SLOT = 6'd3,
    parameter FULL = 0,
    parameter FLUSH_CYCLES = 8192,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter ENTRY_WORDS = 1,
    parameter BANKS = 32,
    parameter BANK_WORDS = 512,
    parameter CLIENTS = 2
) (
    input  wire                          clk,
    input  wire                          rst_n,
    input  wire                          req_valid,
    input  wire                          req_write,
    input  wire [                  15:0] req_addr,
    input  wire [                  31:0] req_wdata,
    output wire [                  31:0] rdata,
    output wire [                   1:0] dat_done,       // one bit per group
    output wire [                   1:0] wt_done,
    // Read clients: data, weights and, where there are four, WMB and WGS from bit 0 up
    output wire [           CLIENTS-1:0] rd_req_valid,
    input  wire [           CLIENTS-1:0] rd_req_ready,
    output wire [           CLIENTS-1:0] rd_req_mc,      // DBB, else CVSRAM
    output wire [CLIENTS*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [           CLIENTS-1:0] rd_rsp_valid,
    input  wire [      8*ATOM_BYTES-1:0] rd_rsp_data,
    // Buffer, and its state for CSC
    output wire                          dat_write,
    output wire [         ADDR_BITS-1:0] dat_write_addr,
    output wire [      8*ATOM_BYTES-1:0] dat_write_data,
    output wire                          wt_write,
    output wire [         ADDR_BITS-1:0] wt_write_addr,
    output wire [      8*ATOM_BYTES-1:0] wt_write_data,
    output wire                          started,        // a layer is on its way
    output wire                          wt_cleared,     // it brings weights of its own
    output wire                          wt_filled,      // they are all in the buffer
    output wire [                   7:0] mode,           // of its layer: {cubes minus one, Winograd, precision}
    output wire                          compressed,
    output wire [           ADDR_BITS:0] dat_first,
    output wire [                  13:0] dat_slices,
    output wire [                  31:0] wt_loaded,      // words
    input  wire [                  31:0] wt_released,
    output wire [                  31:0] wmb_loaded,
    input  wire [                  31:0] wmb_released,
    input  wire                          csc_done,
    input  wire                          release_valid,
    input  wire [                  13:0] release_slices
);
  localparam [1:0] FP16 = 2'd2;
  localparam [13:0] FLUSHED = FLUSH_CYCLES[13:0];
  localparam [9:0] W_FLUSH_STATUS = `CDMA_S_CBUF_FLUSH_STATUS;

  reg  [13:0] flush_count;
  wire        flushed = (flush_count == FLUSHED);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) flush_count <= 14'd0;
    else if (!flushed) flush_count <= flush_count + 14'd1;

  wire enabled, producer, consumer;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`CDMA_WORDS-`CDMA_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  wire [31:0] misc = cfg[32*(`CDMA_D_MISC_CFG-`CDMA_OP_ENABLE)+:32];
  wire [31:0] banks = cfg[32*(`CDMA_D_BANK-`CDMA_OP_ENABLE)+:32];
  wire [31:0] strides = cfg[32*(`CDMA_D_CONV_STRIDE-`CDMA_OP_ENABLE)+:32];
  /* verilator lint_on UNUSEDSIGNAL */
  wire is_image = cfg[32*(`CDMA_D_DATAIN_FORMAT-`CDMA_OP_ENABLE)];
  wire [4:0] batches = cfg[32*(`CDMA_D_BATCH_NUMBER-`CDMA_OP_ENABLE)+:5];
  wire converts = cfg[32*(`CDMA_D_CVT_CFG-`CDMA_OP_ENABLE)];
  wire is_float = (mode[1:0] == FP16);
  wire flush_nan = is_float && cfg[32*(`CDMA_D_NAN_FLUSH_TO_ZERO-`CDMA_OP_ENABLE)];
  wire dat_idle, wt_idle;
  wire runnable;

  generate
    if (FULL != 0) begin : all_precisions
      wire strided = (strides[2:0] != 3'd0) || (strides[18:16] != 3'd0);

      assign mode       = {batches, misc[0], misc[13:12]};
      assign compressed = cfg[32*(`CDMA_D_WEIGHT_FORMAT-`CDMA_OP_ENABLE)];
      assign runnable   = (misc[13:12] != 2'd3) && (is_image || misc[9:8] == misc[13:12]) &&
                          (batches == 5'd0 || !(is_image || misc[0])) &&
                          !(misc[0] && (is_image || strided)) && !(converts && misc[9:8] == FP16) &&
                          !(compressed && misc[20]);
    end else begin : int8
      wire unused_bits = &{1'b0, batches, converts, strides};

      assign mode       = 8'd0;
      assign compressed = 1'b0;
      assign runnable   = 1'b1;
    end
  endgenerate

  // FREE -> LOADED -> STARTED -> BUSY -> FREE; `used` until CSC is done, too.
  localparam [1:0] FREE = 2'd0, LOADED = 2'd1, STARTED = 2'd2, BUSY = 2'd3;
  reg [1:0] state;
  reg used, dat_busy, wt_busy;

  wire load = (state == FREE) && enabled && flushed && !used;
  wire start = (state == LOADED) && runnable;
  wire dat_ends = dat_busy && (state == BUSY) && dat_idle;
  wire wt_ends = wt_busy && (state == BUSY) && wt_idle;
  wire done = (state == BUSY) && !dat_busy && !wt_busy;

  // The layer before: whether there was one, what it kept, its kind of input, its banks
  reg last, last_keeps_data, last_keeps_weights, last_image, last_winograd;
  reg [4:0] last_data_banks, last_weight_banks;
  wire same_data_banks = last && (banks[4:0] == last_data_banks);
  wire same_banks = same_data_banks && (banks[20:16] == last_weight_banks);
  wire reuse_data = misc[16] && same_data_banks && (is_image == last_image) && (misc[0] == last_winograd);
  wire reuse_weights = misc[20] && same_banks && last_keeps_weights;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      {last, last_keeps_data, last_keeps_weights, last_image, last_winograd} <= 5'd0;
      {last_data_banks, last_weight_banks} <= 10'd0;
    end else if (start) begin
      {last, last_keeps_data, last_keeps_weights} <= {1'b1, misc[24], misc[28]};
      {last_image, last_winograd}                 <= {is_image, misc[0]};
      {last_data_banks, last_weight_banks}        <= {banks[4:0], banks[20:16]};
    end

  assign started    = start;
  assign wt_cleared = start && !reuse_weights;
  assign wt_filled  = !wt_busy;
  assign dat_done   = {dat_ends && consumer, dat_ends && !consumer};
  assign wt_done    = {wt_ends && consumer, wt_ends && !consumer};

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state    <= FREE;
      used     <= 1'b0;
      dat_busy <= 1'b0;
      wt_busy  <= 1'b0;
    end else begin
      case (state)
        FREE:    if (load) state <= LOADED;
        LOADED:  if (start) state <= STARTED;
        STARTED: state <= BUSY;  // one clock for both sides to leave idle
        default: if (done) state <= FREE;
      endcase
      if (load) used <= 1'b1;
      else if (csc_done) used <= 1'b0;
      if (start) {dat_busy, wt_busy} <= 2'b11;
      if (dat_ends) dat_busy <= 1'b0;
      if (wt_ends) wt_busy <= 1'b0;
    end

  // Infinities and NaN of the layer: {weights', data's infinities, weights', data's NaN}
  reg [127:0] counts, counts_0, counts_1;
  wire [127:0] shown = producer ? counts_1 : counts_0;
  wire [4:0] dat_nans, dat_infinities, wt_nans, wt_infinities;
  reg [31:0] ro_data;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      counts   <= 128'd0;
      counts_0 <= 128'd0;
      counts_1 <= 128'd0;
    end else begin
      if (start) counts <= 128'd0;
      else begin
        counts[31:0]   <= counts[31:0] + {27'd0, dat_nans};
        counts[63:32]  <= counts[63:32] + {27'd0, wt_nans};
        counts[95:64]  <= counts[95:64] + {27'd0, dat_infinities};
        counts[127:96] <= counts[127:96] + {27'd0, wt_infinities};
      end
      if (done && consumer) counts_1 <= counts;
      if (done && !consumer) counts_0 <= counts;
    end

  // Cycles in which reads of data, or of weights, are not taken, and in which answers to reads of data are due
  `NVDLA_BUG(cdma_latency_counts_answers)
  `NVDLA_BUG(cdma_weight_stalls_uncounted)
  reg [8:0] reads_waiting;
  wire counts_cycles = cfg[32*(`CDMA_D_PERF_ENABLE-`CDMA_OP_ENABLE)];
  wire [2:0] cycles = {
    bug_cdma_latency_counts_answers ? rd_rsp_valid[0] : reads_waiting != 9'd0,
    rd_req_valid[1] && !rd_req_ready[1] && !bug_cdma_weight_stalls_uncounted,
    rd_req_valid[0] && !rd_req_ready[0]
  };
  wire [31:0] cycles_shown[0:2];

  always @(posedge clk or negedge rst_n)
    if (!rst_n) reads_waiting <= 9'd0;
    else reads_waiting <= reads_waiting + {8'd0, rd_req_valid[0] && rd_req_ready[0]} - {8'd0, rd_rsp_valid[0]};

  genvar c;
  generate
    for (c = 0; c < 3; c = c + 1) begin : counted
      nvdla_cycles cycles_of (
          .clk     (clk),
          .rst_n   (rst_n),
          .clear   (start),
          .count   (counts_cycles && cycles[c]),
          .done    (done),
          .group   (consumer),
          .producer(producer),
          .value   (cycles_shown[c])
      );
    end
  endgenerate

  always @*
    case (req_addr[9:0])
      10'd`CDMA_D_PERF_DAT_READ_STALL:   ro_data = cycles_shown[0];
      10'd`CDMA_D_PERF_WT_READ_STALL:    ro_data = cycles_shown[1];
      10'd`CDMA_D_PERF_DAT_READ_LATENCY: ro_data = cycles_shown[2];
      W_FLUSH_STATUS:                 ro_data = {31'd0, flushed};
      10'd`CDMA_D_NAN_INPUT_DATA_NUM:   ro_data = shown[31:0];
      10'd`CDMA_D_NAN_INPUT_WEIGHT_NUM: ro_data = shown[63:32];
      10'd`CDMA_D_INF_INPUT_DATA_NUM:   ro_data = shown[95:64];
      10'd`CDMA_D_INF_INPUT_WEIGHT_NUM: ro_data = shown[127:96];
      default:                        ro_data = 32'd0;
    endcase

  nvdla_regfile #(
      .SLOT     (SLOT),
      .UNIT     (`UNIT_CDMA),
      .WORDS    (`CDMA_WORDS),
      .OP_ENABLE(`CDMA_OP_ENABLE),
      .FULL     (FULL)
  ) regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdata),
      .ro_data  (ro_data),
      .producer (producer),
      .consumer (consumer),
      .enabled  (enabled),
      .load     (load),
      .cfg      (cfg),
      .done     (done)
  );

  assign rd_req_mc[0]           = cfg[32*(`CDMA_D_DAIN_RAM_TYPE-`CDMA_OP_ENABLE)];
  assign rd_req_mc[CLIENTS-1:1] = {(CLIENTS - 1) {cfg[32*(`CDMA_D_WEIGHT_RAM_TYPE-`CDMA_OP_ENABLE)]}};

  nvdla_cdma_dat #(
      .FULL       (FULL),
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
      .mode          (mode),
      .flush_nan     (flush_nan),
      .reuse         (reuse_data),
      .fetches       (!(reuse_data && last_keeps_data)),
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
      .slices        (dat_slices),
      .nans          (dat_nans),
      .infinities    (dat_infinities)
  );

  nvdla_cdma_wt #(
      .FULL      (FULL),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES),
      .ADDR_BITS (ADDR_BITS),
      .BANK_WORDS(BANK_WORDS),
      .WMB_BANK  (BANKS - 1),
      .CLIENTS   (CLIENTS - 1)
  ) wt (
      .clk         (clk),
      .rst_n       (rst_n),
      .start       (start),
      .cfg         (cfg),
      .reuse       (reuse_weights),
      .csc_done    (csc_done),
      .precision   (mode[1:0]),
      .flush_nan   (flush_nan),
      .compressed  (compressed),
      .idle        (wt_idle),
      .rd_req_valid(rd_req_valid[CLIENTS-1:1]),
      .rd_req_ready(rd_req_ready[CLIENTS-1:1]),
      .rd_req_addr (rd_req_addr[CLIENTS*ADDR_WIDTH-1:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[CLIENTS-1:1]),
      .rd_rsp_data (rd_rsp_data),
      .write       (wt_write),
      .write_addr  (wt_write_addr),
      .write_data  (wt_write_data),
      .loaded      (wt_loaded),
      .released    (wt_released),
      .wmb_loaded  (wmb_loaded),
      .wmb_released(wmb_released),
      .nans        (wt_nans),
      .infinities  (wt_infinities)
  );
endmodule
