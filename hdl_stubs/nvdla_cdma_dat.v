// CDMA, data side: one memory client, shared by CDMA_DC (feature cubes) and
// CDMA_IMG (images), and the slices that they fill.
//
// A slice of a feature cube holds one line of all surfaces, surface by surface,
// atom by atom. Measured on the public nv_small RTL: the converter applies to feature
// cubes, too, without means.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_cdma_dat #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter ENTRY_WORDS = 1,
    parameter BANK_WORDS = 512
) (
    input  wire                                     clk,
    input  wire                                     rst_n,
    input  wire                                     start,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`CDMA_WORDS-`CDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    output wire                                     idle,
    output wire                                     rd_req_valid,
    input  wire                                     rd_req_ready,
    output wire [                   ADDR_WIDTH-1:0] rd_req_addr,
    input  wire                                     rd_rsp_valid,
    input  wire [                 8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                                     write,
    output wire [                    ADDR_BITS-1:0] write_addr,
    output wire [                 8*ATOM_BYTES-1:0] write_data,
    input  wire                                     release_valid,
    input  wire [                             13:0] release_slices,
    output wire [                      ADDR_BITS:0] first,
    output wire [                             13:0] slices
);
  localparam W = 8 * ATOM_BYTES;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam [ADDR_WIDTH-1:0] ATOM = {{(ADDR_WIDTH - 8) {1'b0}}, ATOM_BYTES[7:0]};
  localparam LOG2_BANK = $clog2(BANK_WORDS);
  localparam LOG2_ENTRY = $clog2(ENTRY_WORDS);

  `NVDLA_BUG(conv_src_line_stride)
  `NVDLA_BUG(conv_src_surface_stride)
  `NVDLA_BUG(conv_src_base)
  wire [12:0] width = cfg[32*(`CDMA_D_DATAIN_SIZE_0-`CDMA_OP_ENABLE)+:13];
  wire [12:0] height = cfg[32*(`CDMA_D_DATAIN_SIZE_0-`CDMA_OP_ENABLE)+16+:13];
  wire [12:0] surfaces = cfg[32*(`CDMA_D_DATAIN_SIZE_1-`CDMA_OP_ENABLE)+:13] >> LOG2_ATOM;
  wire [13:0] entries = cfg[32*(`CDMA_D_ENTRY_PER_SLICE-`CDMA_OP_ENABLE)+:14];
  wire [4:0] banks = cfg[32*(`CDMA_D_BANK-`CDMA_OP_ENABLE)+:5];
  /* verilator lint_off UNUSEDSIGNAL */
  wire [31:0] format = cfg[32*(`CDMA_D_DATAIN_FORMAT-`CDMA_OP_ENABLE)+:32];
  wire [31:0] misc = cfg[32*(`CDMA_D_MISC_CFG-`CDMA_OP_ENABLE)+:32];
  wire [31:0] convert = cfg[32*(`CDMA_D_CVT_CFG-`CDMA_OP_ENABLE)+:32];
  wire [31:0] padding = cfg[32*(`CDMA_D_ZERO_PADDING-`CDMA_OP_ENABLE)+:32];
  /* verilator lint_on UNUSEDSIGNAL */
  wire [ADDR_WIDTH-1:0] base_0 = cfg[32*(`CDMA_D_DAIN_ADDR_LOW_0-`CDMA_OP_ENABLE)+:ADDR_WIDTH];
  wire [ADDR_WIDTH-1:0] base_1 = cfg[32*(`CDMA_D_DAIN_ADDR_LOW_1-`CDMA_OP_ENABLE)+:ADDR_WIDTH];
  wire [ADDR_WIDTH-1:0] line_stride = cfg[32*(`CDMA_D_LINE_STRIDE-`CDMA_OP_ENABLE)+:ADDR_WIDTH];
  wire [ADDR_WIDTH-1:0] uv_stride = cfg[32*(`CDMA_D_LINE_UV_STRIDE-`CDMA_OP_ENABLE)+:ADDR_WIDTH];
  wire [ADDR_WIDTH-1:0] surface_stride = cfg[32*(`CDMA_D_SURF_STRIDE-`CDMA_OP_ENABLE)+:ADDR_WIDTH];
  wire is_image = format[0];

  wire [ADDR_BITS:0] capacity = ({{(ADDR_BITS - 4) {1'b0}}, banks} + 1'b1) << LOG2_BANK;
  wire [ADDR_BITS:0] slice_words = ({{(ADDR_BITS - 13) {1'b0}}, entries} + 1'b1) << LOG2_ENTRY;

  // A layer whose lines are all in the buffer already fetches none.
  wire reuse = misc[16] && (slices > {1'b0, height});
  wire fetch = start && !reuse;

  wire walking, dc_step, img_addr_valid, img_idle, words_idle;
  wire [ADDR_WIDTH-1:0] dc_addr, img_addr;
  wire addr_ready, word_valid, word_ready, img_word_ready;
  wire [W-1:0] word;

  assign dc_step = addr_ready && !is_image;

  // Memory order is surface, line, atom; a slice wants line, surface, atom.
  nvdla_cube_walker #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) dc_walker (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (fetch && !is_image),
      .base          (base_0 + (bug_conv_src_base ? line_stride : 0)),
      .width         (width),
      .height        (surfaces),
      .surfaces      (height),
      .beats         (2'd0),
      .line_stride   (surface_stride + (bug_conv_src_surface_stride ? ATOM : 0)),
      .surface_stride(line_stride + (bug_conv_src_line_stride ? ATOM : 0)),
      .valid         (walking),
      .ready         (dc_step),
      .addr          (dc_addr)
  );

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(W)
  ) read (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(is_image ? img_addr_valid : walking),
      .addr_ready(addr_ready),
      .addr      (is_image ? img_addr : dc_addr),
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

  // Where the last atom of a slice is
  reg [12:0] atom_x, atom_surface;
  wire dc_last = (atom_x == width) && (atom_surface == surfaces);
  wire slice_ready;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) {atom_x, atom_surface} <= 26'd0;
    else if (start) {atom_x, atom_surface} <= 26'd0;
    else if (word_valid && word_ready && !is_image) begin
      atom_x <= (atom_x == width) ? 13'd0 : atom_x + 13'd1;
      if (atom_x == width) atom_surface <= (atom_surface == surfaces) ? 13'd0 : atom_surface + 13'd1;
    end

  // A word of a feature cube, converted
  wire [15:0] offset = cfg[32*(`CDMA_D_CVT_OFFSET-`CDMA_OP_ENABLE)+:16];
  wire [15:0] scale = cfg[32*(`CDMA_D_CVT_SCALE-`CDMA_OP_ENABLE)+:16];
  wire [W-1:0] converted;

  genvar g;
  generate
    for (g = 0; g < ATOM_BYTES; g = g + 1) begin : element
      nvdla_cdma_cvt cvt (
          .x       ({{9{word[8*g+7]}}, word[8*g+:8]}),
          .offset  (offset),
          .scale   (scale),
          .truncate(convert[9:4]),
          .y       (converted[8*g+:8])
      );
    end
  endgenerate

  wire img_valid, img_last;
  wire [W-1:0] img_data;

  nvdla_cdma_img #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) img (
      .clk        (clk),
      .rst_n      (rst_n),
      .start      (fetch && is_image),
      .width      (width),
      .height     (height),
      .format     (format[13:8]),
      .x_offset   (cfg[32*(`CDMA_D_PIXEL_OFFSET-`CDMA_OP_ENABLE)+:5]),
      .pad_left   (padding[4:0]),
      .pad_right  (padding[13:8]),
      .base       ({base_1, base_0}),
      .line_stride({uv_stride, line_stride}),
      .is_signed  (format[20]),
      .padding    (cfg[32*(`CDMA_D_ZERO_PADDING_VALUE-`CDMA_OP_ENABLE)+:8]),
      .convert    (convert[0]),
      .use_means  (cfg[32*(`CDMA_D_MEAN_FORMAT-`CDMA_OP_ENABLE)]),
      .means      (cfg[32*(`CDMA_D_MEAN_GLOBAL_0-`CDMA_OP_ENABLE)+:64]),
      .offset     (offset),
      .scale      (scale),
      .truncate   (convert[9:4]),
      .addr_valid (img_addr_valid),
      .addr_ready (addr_ready && is_image),
      .addr       (img_addr),
      .word_valid (word_valid && is_image),
      .word_ready (img_word_ready),
      .word       (word),
      .out_valid  (img_valid),
      .out_ready  (slice_ready),
      .out_data   (img_data),
      .out_last   (img_last),
      .idle       (img_idle)
  );

  assign word_ready = is_image ? img_word_ready : slice_ready;
  assign idle       = !walking && img_idle && words_idle;

  nvdla_cdma_slices #(
      .WORD_BITS(W),
      .ADDR_BITS(ADDR_BITS)
  ) ring (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (start),
      .reuse         (misc[16]),
      .capacity      (capacity),
      .slice_words   (slice_words),
      .in_valid      (is_image ? img_valid : word_valid),
      .in_ready      (slice_ready),
      .in_data       (is_image ? img_data : convert[0] ? converted : word),
      .in_last       (is_image ? img_last : dc_last),
      .write         (write),
      .write_addr    (write_addr),
      .write_data    (write_data),
      .release_valid (release_valid),
      .release_slices(release_slices),
      .first         (first),
      .slices        (slices)
  );
endmodule
