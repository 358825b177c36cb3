// CDMA_WT: weights from memory into the weight part of the convolution buffer and,
// when they are compressed, their masks (WMB) into a bank of their own. Both are
// copied as they are; CSC finds the kernels' borders.
//
// Of compressed weights WGS tells the size, kernel group by kernel group, whatever
// D_WEIGHT_BYTES says: measured on the public nv_full RTL.
`include "nvdla_register_offsets.vh"

module nvdla_cdma_full_wt #(
    parameter ADDR_WIDTH = 64,
    parameter ADDR_BITS = 14,
    parameter BANK_WORDS = 1024,
    parameter WMB_BANK = 15
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`CDMA_WORDS-`CDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                    reuse,         // the weights of the layer before stay
    input  wire                    drain,
    input  wire                    is_byte,
    input  wire                    is_float,
    input  wire                    flush_nan,
    input  wire                    compressed,
    output wire                    idle,
    // Read clients: weights, WMB, WGS from bit 0 up
    output wire [             2:0] rd_req_valid,
    input  wire [             2:0] rd_req_ready,
    output wire [3*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [             2:0] rd_rsp_valid,
    input  wire [           255:0] rd_rsp_data,
    output wire                    write,
    output wire [   ADDR_BITS-1:0] write_addr,
    output wire [           255:0] write_data,
    output wire [            31:0] loaded,        // words
    input  wire [            31:0] released,
    output wire [            31:0] wmb_loaded,
    input  wire [            31:0] wmb_released,
    output wire [             4:0] nans,
    output wire [             4:0] infinities
);
  localparam LOG2_BANK = $clog2(BANK_WORDS);
  localparam [ADDR_BITS:0] WMB_FIRST = WMB_BANK * BANK_WORDS;
  localparam [ADDR_BITS:0] WMB_CAPACITY = BANK_WORDS;
  localparam [ADDR_WIDTH-1:0] STEP = 32;

  wire [31:0] banks = cfg[32*(`CDMA_D_BANK-`CDMA_OP_ENABLE)+:32];
  wire [31:0] bytes = cfg[32*(`CDMA_D_WEIGHT_BYTES-`CDMA_OP_ENABLE)+:32];
  wire [8:0] sixteens = cfg[32*(`CDMA_D_WEIGHT_SIZE_1-`CDMA_OP_ENABLE)+4+:9];  // of kernels, minus one
  wire [9:0] groups = {1'b0, is_byte ? sixteens >> 1 : sixteens} + 10'd1;
  wire unused_banks = &{1'b0, banks[31:21], banks[15:5]};

  // WGS: eight sizes a word, one size a clock
  reg [9:0] sizes_left;  // to be added
  reg [9:0] words_left;  // to be requested
  reg [2:0] at;
  reg [31:0] total;
  reg [ADDR_WIDTH-1:0] wgs_addr;
  wire wgs_ready, wgs_valid, unused_idle;
  wire [255:0] wgs;
  wire last_of_word = (at == 3'd7) || (sizes_left == 10'd1);

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(256)
  ) wgs_read (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(words_left != 10'd0),
      .addr_ready(wgs_ready),
      .addr      (wgs_addr),
      .req_valid (rd_req_valid[2]),
      .req_ready (rd_req_ready[2]),
      .req_addr  (rd_req_addr[2*ADDR_WIDTH+:ADDR_WIDTH]),
      .rsp_valid (rd_rsp_valid[2]),
      .rsp_data  (rd_rsp_data),
      .data_valid(wgs_valid),
      .data_ready(last_of_word),
      .data      (wgs),
      .idle      (unused_idle)
  );

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      sizes_left <= 10'd0;
      words_left <= 10'd0;
      at         <= 3'd0;
      total      <= 32'd0;
      wgs_addr   <= 0;
    end else if (start) begin
      at    <= 3'd0;
      total <= 32'd0;
      if (compressed) begin
        sizes_left <= groups;
        words_left <= (groups + 10'd7) >> 3;
        wgs_addr   <= {
          cfg[32*(`CDMA_D_WGS_ADDR_HIGH-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_WGS_ADDR_LOW-`CDMA_OP_ENABLE)+:32]
        };
      end
    end else begin
      if (words_left != 10'd0 && wgs_ready) begin
        words_left <= words_left - 10'd1;
        wgs_addr   <= wgs_addr + STEP;
      end
      if (wgs_valid) begin
        total      <= total + wgs[32*at+:32];
        sizes_left <= sizes_left - 10'd1;
        at         <= last_of_word ? 3'd0 : at + 3'd1;
      end
    end

  // One word a clock enters the buffer, masks first.
  wire wt_valid, wmb_valid, wt_idle, wmb_idle;
  wire [ADDR_BITS-1:0] wt_addr, wmb_addr;
  wire [255:0] wt_word, wt_clean, wmb_word;

  assign write      = wmb_valid || wt_valid;
  assign write_addr = wmb_valid ? wmb_addr : wt_addr;
  assign write_data = wmb_valid ? wmb_word : wt_clean;
  assign idle       = wt_idle && wmb_idle && (sizes_left == 10'd0);

  nvdla_cdma_special special (
      .taken     (wt_valid && !wmb_valid),
      .is_float  (is_float),
      .flush_nan (flush_nan),
      .in        (wt_word),
      .out       (wt_clean),
      .nans      (nans),
      .infinities(infinities)
  );

  nvdla_cdma_stream #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ADDR_BITS (ADDR_BITS)
  ) weights (
      .clk         (clk),
      .rst_n       (rst_n),
      .start       (start),
      .active      (!reuse),
      .drain       (drain),
      .base        ({
        cfg[32*(`CDMA_D_WEIGHT_ADDR_HIGH-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_WEIGHT_ADDR_LOW-`CDMA_OP_ENABLE)+:32]
      }),
      .bytes       (compressed ? total : bytes),
      .complete     (sizes_left == 10'd0),
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

  nvdla_cdma_stream #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ADDR_BITS (ADDR_BITS)
  ) masks (
      .clk         (clk),
      .rst_n       (rst_n),
      .start       (start),
      .active      (compressed),
      .drain       (drain),
      .base        ({
        cfg[32*(`CDMA_D_WMB_ADDR_HIGH-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_WMB_ADDR_LOW-`CDMA_OP_ENABLE)+:32]
      }),
      .bytes       (cfg[32*(`CDMA_D_WMB_BYTES-`CDMA_OP_ENABLE)+:32]),
      .complete     (1'b1),
      .first       (WMB_FIRST),
      .capacity    (WMB_CAPACITY),
      .rd_req_valid(rd_req_valid[1]),
      .rd_req_ready(rd_req_ready[1]),
      .rd_req_addr (rd_req_addr[ADDR_WIDTH+:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[1]),
      .rd_rsp_data (rd_rsp_data),
      .write_valid (wmb_valid),
      .write_ready (1'b1),
      .write_addr  (wmb_addr),
      .write_data  (wmb_word),
      .loaded      (wmb_loaded),
      .released    (wmb_released),
      .idle        (wmb_idle)
  );
endmodule
