// CDMA, data side: CDMA_DC and CDMA_WG, which share a memory client, and the slices
// that they fill.
//
// A slice holds one line of all surfaces, surface by surface, atom by atom. For
// Winograd the slices are lines of the extended cube: CDMA puts the padding around
// the cube, where direct convolution leaves it to CSC.
`include "nvdla_register_offsets.vh"

module nvdla_cdma_full_dat #(
    parameter ADDR_WIDTH = 64,
    parameter ADDR_BITS = 14,
    parameter ENTRY_WORDS = 4,
    parameter BANK_WORDS = 1024
) (
    input  wire                  clk,
    input  wire                  rst_n,
    input  wire                  start,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`CDMA_WORDS-`CDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                  is_float,
    input  wire                  flush_nan,
    output wire                  idle,
    output wire                  rd_req_valid,
    input  wire                  rd_req_ready,
    output wire [ADDR_WIDTH-1:0] rd_req_addr,
    input  wire                  rd_rsp_valid,
    input  wire [         255:0] rd_rsp_data,
    output wire                  write,
    output wire [ ADDR_BITS-1:0] write_addr,
    output wire [         255:0] write_data,
    input  wire                  release_valid,
    input  wire [          13:0] release_slices,
    output wire [   ADDR_BITS:0] first,
    output wire [          13:0] slices,
    output wire [           4:0] nans,
    output wire [           4:0] infinities
);
  localparam LOG2_BANK = $clog2(BANK_WORDS);
  localparam LOG2_ENTRY = $clog2(ENTRY_WORDS);
  localparam [31:0] ATOM = 32'd32;

  /* verilator lint_off UNUSEDSIGNAL */
  wire [31:0] misc = cfg[32*(`CDMA_D_MISC_CFG-`CDMA_OP_ENABLE)+:32];
  wire [31:0] padding = cfg[32*(`CDMA_D_ZERO_PADDING-`CDMA_OP_ENABLE)+:32];
  /* verilator lint_on UNUSEDSIGNAL */
  wire winograd = misc[0];
  wire reuse_data = misc[16];
  wire [12:0] width = cfg[32*(`CDMA_D_DATAIN_SIZE_0-`CDMA_OP_ENABLE)+:13];
  wire [12:0] height = cfg[32*(`CDMA_D_DATAIN_SIZE_0-`CDMA_OP_ENABLE)+16+:13];
  wire [12:0] channels = cfg[32*(`CDMA_D_DATAIN_SIZE_1-`CDMA_OP_ENABLE)+:13];
  wire [12:0] surfaces = (misc[13:12] == 2'd0) ? channels >> 5 : channels >> 4;
  wire [12:0] slice_width = winograd ? cfg[32*(`CDMA_D_DATAIN_SIZE_EXT_0-`CDMA_OP_ENABLE)+:13] : width;
  wire [12:0] slice_count = winograd ? cfg[32*(`CDMA_D_DATAIN_SIZE_EXT_0-`CDMA_OP_ENABLE)+16+:13] : height;
  wire [12:0] left = winograd ? {8'd0, padding[4:0]} : 13'd0;
  wire [12:0] top = winograd ? {8'd0, padding[20:16]} : 13'd0;
  wire [15:0] pad_value = cfg[32*(`CDMA_D_ZERO_PADDING_VALUE-`CDMA_OP_ENABLE)+:16];
  wire [13:0] entries = cfg[32*(`CDMA_D_ENTRY_PER_SLICE-`CDMA_OP_ENABLE)+:14];
  wire [4:0] banks = cfg[32*(`CDMA_D_BANK-`CDMA_OP_ENABLE)+:5];

  wire [ADDR_BITS:0] capacity = ({{(ADDR_BITS - 4) {1'b0}}, banks} + 1'b1) << LOG2_BANK;
  wire [ADDR_BITS:0] slice_words = ({{(ADDR_BITS - 13) {1'b0}}, entries} + 1'b1) << LOG2_ENTRY;

  // A layer whose lines are all in the buffer already fetches none.
  wire reuse = reuse_data && (slices > {1'b0, slice_count});
  wire fetch = start && !reuse;

  wire walking, step, word_valid, word_ready, words_idle;
  wire [ADDR_WIDTH-1:0] addr;
  wire [255:0] word, clean;

  // Memory order is surface, line, atom; a slice wants line, surface, atom.
  nvdla_walker #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .LOOPS     (3)
  ) walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (fetch),
      .base   ({
        cfg[32*(`CDMA_D_DAIN_ADDR_HIGH_0-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_DAIN_ADDR_LOW_0-`CDMA_OP_ENABLE)+:32]
      }),
      .last   ({height, surfaces, width}),
      .strides({
        cfg[32*(`CDMA_D_LINE_STRIDE-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_SURF_STRIDE-`CDMA_OP_ENABLE)+:32], ATOM
      }),
      .valid  (walking),
      .ready  (step),
      .addr   (addr)
  );

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(256)
  ) read (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(walking),
      .addr_ready(step),
      .addr      (addr),
      .req_valid (rd_req_valid),
      .req_ready (rd_req_ready),
      .req_addr  (rd_req_addr),
      .rsp_valid (rd_rsp_valid),
      .rsp_data  (rd_rsp_data),
      .data_valid(word_valid),
      .data_ready(word_ready),
      .data      (word),
      .idle      (words_idle)
  );

  nvdla_cdma_special special (
      .taken     (word_valid && word_ready),
      .is_float  (is_float),
      .flush_nan (flush_nan),
      .in        (word),
      .out       (clean),
      .nans      (nans),
      .infinities(infinities)
  );

  // Position of the next word in the slices
  reg filling;
  reg [12:0] x, surface, line;
  wire slice_ready;
  wire in_cube = (x >= left) && (x - left <= width) && (line >= top) && (line - top <= height);
  wire slice_ends = (x == slice_width) && (surface == surfaces);
  wire put = filling && slice_ready && (!in_cube || word_valid);

  assign word_ready = filling && slice_ready && in_cube;
  assign idle       = !walking && words_idle && !filling;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      filling <= 1'b0;
      {x, surface, line} <= 39'd0;
    end else if (start) begin
      filling <= fetch;
      {x, surface, line} <= 39'd0;
    end else if (put) begin
      x <= (x == slice_width) ? 13'd0 : x + 13'd1;
      if (x == slice_width) surface <= (surface == surfaces) ? 13'd0 : surface + 13'd1;
      if (slice_ends) line <= line + 13'd1;
      if (slice_ends && line == slice_count) filling <= 1'b0;
    end

  nvdla_cdma_slices #(
      .WORD_BITS(256),
      .ADDR_BITS(ADDR_BITS)
  ) ring (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (start),
      .reuse         (reuse_data),
      .capacity      (capacity),
      .slice_words   (slice_words),
      .in_valid      (filling && (!in_cube || word_valid)),
      .in_ready      (slice_ready),
      .in_data       (in_cube ? clean : (misc[13:12] == 2'd0) ? {32{pad_value[7:0]}} : {16{pad_value}}),
      .in_last       (slice_ends),
      .write         (write),
      .write_addr    (write_addr),
      .write_data    (write_data),
      .release_valid (release_valid),
      .release_slices(release_slices),
      .first         (first),
      .slices        (slices)
  );
endmodule
