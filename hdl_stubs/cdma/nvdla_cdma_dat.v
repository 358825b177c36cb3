// CDMA, data side: one memory client, shared by CDMA_DC and CDMA_WG (feature cubes)
// and CDMA_IMG (images), and the slices that they fill.
//
// A slice of a feature cube holds one line of all surfaces, surface by surface, atom
// by atom; of several cubes, that line of each in turn. For Winograd the slices are lines
// of the extended cube: CDMA puts the padding around the cube, where direct convolution
// leaves it to CSC. Measured on the public nv_small RTL: the converter applies to feature
// cubes, too, without means.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_cdma_dat #(
    parameter FULL = 0,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter ENTRY_WORDS = 1,
    parameter BANK_WORDS = 512
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`CDMA_WORDS-`CDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [             7:0] mode,            // {cubes minus one, Winograd, precision}
    input  wire                    flush_nan,
    input  wire                    reuse,           // the lines in the buffer stay
    input  wire                    fetches,         // lines of its own
    output wire                    idle,
    output wire                    rd_req_valid,
    input  wire                    rd_req_ready,
    output wire [  ADDR_WIDTH-1:0] rd_req_addr,
    input  wire                    rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                    write,
    output wire [   ADDR_BITS-1:0] write_addr,
    output wire [8*ATOM_BYTES-1:0] write_data,
    input  wire                    release_valid,
    input  wire [            13:0] release_slices,
    output wire [     ADDR_BITS:0] first,
    output wire [            13:0] slices,
    output wire [             4:0] nans,
    output wire [             4:0] infinities
);
  localparam W = 8 * ATOM_BYTES;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam LOG2_BANK = $clog2(BANK_WORDS);
  localparam LOG2_ENTRY = $clog2(ENTRY_WORDS);
  localparam [31:0] ATOM = ATOM_BYTES;
  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;

  `NVDLA_BUG(conv_src_line_stride)
  `NVDLA_BUG(conv_src_surface_stride)
  `NVDLA_BUG(conv_src_base)
  `NVDLA_BUG(conv_src_batch_stride)
  /* verilator lint_off UNUSEDSIGNAL */
  wire [31:0] format = cfg[32*(`CDMA_D_DATAIN_FORMAT-`CDMA_OP_ENABLE)+:32];
  wire [31:0] convert = cfg[32*(`CDMA_D_CVT_CFG-`CDMA_OP_ENABLE)+:32];
  wire [31:0] padding = cfg[32*(`CDMA_D_ZERO_PADDING-`CDMA_OP_ENABLE)+:32];
  wire [63:0] base_0 = {
    cfg[32*(`CDMA_D_DAIN_ADDR_HIGH_0-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_DAIN_ADDR_LOW_0-`CDMA_OP_ENABLE)+:32]
  };
  wire [63:0] base_1 = {
    cfg[32*(`CDMA_D_DAIN_ADDR_HIGH_1-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_DAIN_ADDR_LOW_1-`CDMA_OP_ENABLE)+:32]
  };
  wire [63:0] cube_base = base_0 + (bug_conv_src_base ? {32'd0, line_stride} : 64'd0);
  /* verilator lint_on UNUSEDSIGNAL */
  wire [31:0] line_stride = cfg[32*(`CDMA_D_LINE_STRIDE-`CDMA_OP_ENABLE)+:32];
  wire [31:0] uv_stride = cfg[32*(`CDMA_D_LINE_UV_STRIDE-`CDMA_OP_ENABLE)+:32];
  wire [31:0] surface_stride = cfg[32*(`CDMA_D_SURF_STRIDE-`CDMA_OP_ENABLE)+:32];
  wire [31:0] batch_stride = cfg[32*(`CDMA_D_BATCH_STRIDE-`CDMA_OP_ENABLE)+:32];
  wire [4:0] cubes = mode[7:3];
  wire is_image = format[0];
  wire is_byte = (mode[1:0] == INT8);
  wire winograd = mode[2];
  wire [12:0] width = cfg[32*(`CDMA_D_DATAIN_SIZE_0-`CDMA_OP_ENABLE)+:13];
  wire [12:0] height = cfg[32*(`CDMA_D_DATAIN_SIZE_0-`CDMA_OP_ENABLE)+16+:13];
  wire [12:0] channels = cfg[32*(`CDMA_D_DATAIN_SIZE_1-`CDMA_OP_ENABLE)+:13];
  wire [12:0] surfaces = is_byte ? channels >> LOG2_ATOM : channels >> (LOG2_ATOM - 1);
  wire [12:0] slice_width = winograd ? cfg[32*(`CDMA_D_DATAIN_SIZE_EXT_0-`CDMA_OP_ENABLE)+:13] : width;
  wire [12:0] slice_count = winograd ? cfg[32*(`CDMA_D_DATAIN_SIZE_EXT_0-`CDMA_OP_ENABLE)+16+:13] : height;
  wire [12:0] left = winograd ? {8'd0, padding[4:0]} : 13'd0;
  wire [12:0] top = winograd ? {8'd0, padding[20:16]} : 13'd0;
  wire [15:0] pad_value = cfg[32*(`CDMA_D_ZERO_PADDING_VALUE-`CDMA_OP_ENABLE)+:16];
  wire [13:0] entries = cfg[32*(`CDMA_D_ENTRY_PER_SLICE-`CDMA_OP_ENABLE)+:14];
  wire [4:0] banks = cfg[32*(`CDMA_D_BANK-`CDMA_OP_ENABLE)+:5];

  wire [ADDR_BITS:0] capacity = ({{(ADDR_BITS - 4) {1'b0}}, banks} + 1'b1) << LOG2_BANK;
  wire [ADDR_BITS:0] part_words = ({{(ADDR_BITS - 13) {1'b0}}, entries} + 1'b1) << LOG2_ENTRY;
  wire [ADDR_BITS+6:0] line_words = {6'd0, part_words} * {{(ADDR_BITS + 1) {1'b0}}, {1'b0, cubes} + 6'd1};
  // Lines of so many cubes that no buffer has room for one do not become small ones.
  wire [ADDR_BITS:0] slice_words = (line_words[ADDR_BITS+6:ADDR_BITS+1] != 6'd0) ? {(ADDR_BITS + 1) {1'b1}} :
                                   line_words[ADDR_BITS:0];

  wire fetch = start && fetches;

  wire walking, img_addr_valid, img_idle, words_idle;
  wire [ADDR_WIDTH-1:0] cube_addr, img_addr;
  wire addr_ready, word_valid, word_ready, img_word_ready;
  wire [W-1:0] word;

  // Memory order is cube, surface, line, atom; a slice wants line, cube, surface, atom.
  nvdla_walker #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .LOOPS     (4)
  ) walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (fetch && !is_image),
      .base   (cube_base[ADDR_WIDTH-1:0]),
      .last   ({height, 8'd0, cubes, surfaces, width}),
      .strides({
        line_stride + (bug_conv_src_line_stride ? ATOM : 32'd0),
        batch_stride + (bug_conv_src_batch_stride ? line_stride : 32'd0),
        surface_stride + (bug_conv_src_surface_stride ? ATOM : 32'd0),
        ATOM
      }),
      .valid  (walking),
      .ready  (addr_ready && !is_image),
      .addr   (cube_addr)
  );

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(W)
  ) read (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(is_image ? img_addr_valid : walking),
      .addr_ready(addr_ready),
      .addr      (is_image ? img_addr : cube_addr),
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

  // Position of the next word of a cube in the slices
  reg filling;
  reg [12:0] x, surface, line;
  reg [4:0] cube;
  wire slice_ready;
  wire in_cube = (x >= left) && (x - left <= width) && (line >= top) && (line - top <= height);
  wire part_ends = (x == slice_width) && (surface == surfaces);
  wire slice_ends = part_ends && (cube == cubes);
  wire cube_valid = filling && (!in_cube || word_valid);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      filling <= 1'b0;
      {x, surface, line} <= 39'd0;
      cube    <= 5'd0;
    end else if (start) begin
      filling <= fetch && !is_image;
      {x, surface, line} <= 39'd0;
      cube    <= 5'd0;
    end else if (cube_valid && slice_ready) begin
      x <= (x == slice_width) ? 13'd0 : x + 13'd1;
      if (x == slice_width) surface <= (surface == surfaces) ? 13'd0 : surface + 13'd1;
      if (part_ends) cube <= slice_ends ? 5'd0 : cube + 5'd1;
      if (slice_ends) line <= line + 13'd1;
      if (slice_ends && line == slice_count) filling <= 1'b0;
    end

  // A word of a cube, converted: each element in the cell of its lowest byte
  wire [15:0] offset = cfg[32*(`CDMA_D_CVT_OFFSET-`CDMA_OP_ENABLE)+:16];
  wire [15:0] scale = cfg[32*(`CDMA_D_CVT_SCALE-`CDMA_OP_ENABLE)+:16];
  wire [W-1:0] converted;

  genvar g;
  generate
    for (g = 0; g < ATOM_BYTES; g = g + 1) begin : element
      wire [15:0] y;

      if (FULL != 0 && g % 2 == 0) begin : of_two_bytes
        nvdla_cdma_cvt cvt (
            .x        (is_byte ? {{9{word[8*g+7]}}, word[8*g+:8]} : {word[8*g+15], word[8*g+:16]}),
            .offset   (offset),
            .scale    (scale),
            .truncate (convert[9:4]),
            .precision(mode[1:0]),
            .y        (y)
        );
      end else begin : of_a_byte
        nvdla_cdma_cvt cvt (
            .x        ({{9{word[8*g+7]}}, word[8*g+:8]}),
            .offset   (offset),
            .scale    (scale),
            .truncate (convert[9:4]),
            .precision(INT8),
            .y        (y)
        );
      end

      if (g % 2 == 0) begin : lower
        wire unused_upper = &{1'b0, y[15:8]};
        assign converted[8*g+:8] = y[7:0];
      end else begin : upper
        wire unused_upper = &{1'b0, y[15:8]};
        assign converted[8*g+:8] = is_byte ? y[7:0] : element[g-1].y[15:8];
      end
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
      .base       ({base_1[ADDR_WIDTH-1:0], base_0[ADDR_WIDTH-1:0]}),
      .line_stride({uv_stride, line_stride}),
      .precision  (mode[1:0]),
      .is_signed  (format[20]),
      .padding    (pad_value),
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

  assign word_ready = is_image ? img_word_ready : filling && slice_ready && in_cube;
  assign idle       = !walking && img_idle && words_idle && !filling;

  wire [W-1:0] fetched, clean;
  wire is_padding = !is_image && !in_cube;

  assign fetched = is_image ? img_data : convert[0] ? converted : word;

  nvdla_cdma_special #(
      .WORD_BITS(W)
  ) special (
      .taken     (write && !is_padding),
      .is_float  (mode[1:0] == FP16),
      .flush_nan (flush_nan),
      .in        (fetched),
      .out       (clean),
      .nans      (nans),
      .infinities(infinities)
  );

  nvdla_cdma_slices #(
      .WORD_BITS(W),
      .ADDR_BITS(ADDR_BITS)
  ) ring (
      .clk           (clk),
      .rst_n         (rst_n),
      .start         (start),
      .reuse         (reuse),
      .capacity      (capacity),
      .part_words    (part_words),
      .slice_words   (slice_words),
      .in_valid      (is_image ? img_valid : cube_valid),
      .in_ready      (slice_ready),
      .in_data       (!is_padding ? clean : is_byte ? {ATOM_BYTES{pad_value[7:0]}} : {ATOM_BYTES / 2{pad_value}}),
      .in_part_last  (is_image ? img_last : part_ends),
      .in_last       (is_image ? img_last : slice_ends),
      .write         (write),
      .write_addr    (write_addr),
      .write_data    (write_data),
      .release_valid (release_valid),
      .release_slices(release_slices),
      .first         (first),
      .slices        (slices)
  );
endmodule
