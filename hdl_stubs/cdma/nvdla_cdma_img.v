// CDMA_IMG: image lines from memory into slices. A line is fetched plane by plane
// into line buffers and then converted, one pixel per clock; left and right padding
// pixels become part of the slice, whose elements lie there without gaps.
//
// Source: convolution with image input, pixel formats, CDMA.PIXEL_X_OFFSET.
`include "nvdla_bugs.vh"

module nvdla_cdma_img #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    input  wire [            12:0] width,          // minus one
    input  wire [            12:0] height,         // minus one
    input  wire [             5:0] format,
    input  wire [             4:0] x_offset,       // pixels
    input  wire [             4:0] pad_left,
    input  wire [             5:0] pad_right,
    input  wire [2*ADDR_WIDTH-1:0] base,           // plane 0 lowest
    input  wire [            63:0] line_stride,
    input  wire [             1:0] precision,
    input  wire                    is_signed,
    input  wire [            15:0] padding,
    input  wire                    convert,
    input  wire                    use_means,
    input  wire [            63:0] means,
    input  wire [            15:0] offset,
    input  wire [            15:0] scale,
    input  wire [             5:0] truncate,
    output wire                    addr_valid,
    input  wire                    addr_ready,
    output wire [  ADDR_WIDTH-1:0] addr,
    input  wire                    word_valid,
    output wire                    word_ready,
    input  wire [8*ATOM_BYTES-1:0] word,
    output wire                    out_valid,
    input  wire                    out_ready,
    output wire [8*ATOM_BYTES-1:0] out_data,
    output wire                    out_last,       // of the line
    output wire                    idle
);
  localparam W = 8 * ATOM_BYTES;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  // The widest line, 8192 pixels of 8 bytes after an x offset, and of 4 bytes
  localparam WORDS_0 = (8192 + 32) * 8 / ATOM_BYTES;
  localparam WORDS_1 = (8192 + 32) * 4 / ATOM_BYTES;
  localparam AW_0 = $clog2(WORDS_0);
  localparam AW_1 = $clog2(WORDS_1);
  localparam [5:0] ATOM = ATOM_BYTES[5:0];
  localparam [4:0] ATOM_LAST = ATOM[4:0] - 5'd1;
  localparam [31:0] ATOM_STEP = ATOM_BYTES;

  localparam [1:0] IDLE = 2'd0, FETCH = 2'd1, CONVERT = 2'd2;
  localparam [1:0] INT8 = 2'd0;

  `NVDLA_BUG(conv_x_offset_ignored)
  `NVDLA_BUG(conv_image_line_stride)
  `NVDLA_BUG(conv_mean_ignored)
  `NVDLA_BUG(conv_pixel_sign)
  reg [1:0] state;
  reg plane;
  reg [12:0] y;
  reg [15:0] requested, received;
  reg [2*ADDR_WIDTH-1:0] line_base;

  wire [2:0] components;
  wire [1:0] log2_bytes_0, log2_bytes_1;
  wire two_planes = (components == 3'd3);
  wire [1:0] log2_bytes = plane ? log2_bytes_1 : log2_bytes_0;

  // Plane 1 begins in the atom of its first pixel (measured on the public nv_small
  // RTL), so of the offset only what lies inside an atom is left.
  wire [4:0] x_offset_1 = x_offset & (ATOM_LAST >> log2_bytes_1);

  /* verilator lint_off UNUSEDSIGNAL */
  wire [17:0] line_bytes = ({13'd0, plane ? x_offset_1 : x_offset} + {5'd0, width} + 18'd1) << log2_bytes;
  wire [17:0] line_words = (line_bytes + {12'd0, ATOM} - 18'd1) >> LOG2_ATOM;
  /* verilator lint_on UNUSEDSIGNAL */
  wire fetched = (received == line_words[15:0]);
  wire line_ends;

  assign idle       = (state == IDLE);
  assign addr_valid = (state == FETCH) && (requested != line_words[15:0]);
  assign addr       = line_base[ADDR_WIDTH*plane+:ADDR_WIDTH] +
                      ({{(ADDR_WIDTH - 16) {1'b0}}, requested} << LOG2_ATOM);
  assign word_ready = (state == FETCH);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state     <= IDLE;
      plane     <= 1'b0;
      y         <= 13'd0;
      requested <= 16'd0;
      received  <= 16'd0;
      line_base <= 0;
    end else if (start) begin
      state     <= FETCH;
      plane     <= 1'b0;
      y         <= 13'd0;
      requested <= 16'd0;
      received  <= 16'd0;
      line_base <= base;
    end else if (state == FETCH) begin
      if (addr_valid && addr_ready) requested <= requested + 16'd1;
      if (word_valid) received <= received + 16'd1;
      if (fetched) begin
        requested <= 16'd0;
        received  <= 16'd0;
        plane     <= two_planes && !plane;
        if (!two_planes || plane) state <= CONVERT;
      end
    end else if (line_ends) begin
      y         <= y + 13'd1;
      /* verilator lint_off WIDTHEXPAND */
      line_base <= {line_base[ADDR_WIDTH+:ADDR_WIDTH] + line_stride[63:32],
                    line_base[ADDR_WIDTH-1:0] + line_stride[31:0] + (bug_conv_image_line_stride ? ATOM_STEP : 32'd0)};
      /* verilator lint_on WIDTHEXPAND */
      state     <= (y == height) ? IDLE : FETCH;
    end

  reg [W-1:0] line_0[0:WORDS_0-1];
  reg [W-1:0] line_1[0:WORDS_1-1];

  always @(posedge clk)
    if (word_valid && word_ready && !plane) line_0[received[AW_0-1:0]] <= word;

  always @(posedge clk)
    if (word_valid && word_ready && plane) line_1[received[AW_1-1:0]] <= word;

  // One pixel of the padded line
  reg [13:0] pixel;
  wire [13:0] pixel_end = {9'd0, pad_left} + {1'b0, width} + {8'd0, pad_right};
  wire is_padding = (pixel < {9'd0, pad_left}) || (pixel - {9'd0, pad_left} > {1'b0, width});
  /* verilator lint_off UNUSEDSIGNAL */
  wire [17:0] column = {4'd0, pixel} - {13'd0, pad_left};
  wire [17:0] column_0 = column + {13'd0, bug_conv_x_offset_ignored ? 5'd0 : x_offset};
  wire [17:0] column_1 = column + {13'd0, bug_conv_x_offset_ignored ? 5'd0 : x_offset_1};
  wire [17:0] at_0 = column_0 << log2_bytes_0;
  wire [17:0] at_1 = column_1 << log2_bytes_1;
  wire [W-1:0] shifted_0 = line_0[at_0[LOG2_ATOM+:AW_0]] >> {at_0[LOG2_ATOM-1:0], 3'd0};
  wire [W-1:0] shifted_1 = line_1[at_1[LOG2_ATOM+:AW_1]] >> {at_1[LOG2_ATOM-1:0], 3'd0};
  /* verilator lint_on UNUSEDSIGNAL */
  wire [63:0] elements;

  nvdla_cdma_pixel pixel_math (
      .format      (format),
      .precision   (precision),
      .is_signed   (is_signed != bug_conv_pixel_sign),
      .is_padding  (is_padding),
      .padding     (padding),
      .convert     (convert),
      .use_means   (use_means),
      .means       (bug_conv_mean_ignored ? 64'd0 : means),
      .offset      (offset),
      .scale       (scale),
      .truncate    (truncate),
      .plane_0     (shifted_0[63:0]),
      .plane_1     (shifted_1[31:0]),
      .elements    (elements),
      .components  (components),
      .log2_bytes_0(log2_bytes_0),
      .log2_bytes_1(log2_bytes_1)
  );

  // Packing into words: elements that are kept wait in the lower bytes.
  reg [W-1:0] kept;
  reg [5:0] fill;
  reg flush;

  wire [3:0] pixel_bytes = {1'b0, components} << (precision != INT8);
  wire [63:0] valid_elements = elements & ~(64'hffff_ffff_ffff_ffff << {pixel_bytes, 3'd0});
  wire [2*W-1:0] joined = {{W{1'b0}}, kept} | ({{(2 * W - 64) {1'b0}}, valid_elements} << {fill, 3'd0});
  wire [5:0] total = fill + {2'd0, pixel_bytes};
  wire is_last = (pixel == pixel_end);
  wire emit = flush || is_last || (total >= ATOM);
  wire step = (state == CONVERT) && (!emit || out_ready);

  assign out_valid = (state == CONVERT) && emit;
  assign out_last  = flush || (is_last && total <= ATOM);
  assign out_data  = flush ? kept : joined[W-1:0];
  assign line_ends = step && out_last;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      pixel <= 14'd0;
      kept  <= 0;
      fill  <= 6'd0;
      flush <= 1'b0;
    end else if (start || line_ends) begin
      pixel <= 14'd0;
      kept  <= 0;
      fill  <= 6'd0;
      flush <= 1'b0;
    end else if (step) begin
      pixel <= pixel + 14'd1;
      kept  <= emit ? joined[W+:W] : joined[W-1:0];
      fill  <= emit ? total - ATOM : total;
      flush <= is_last;
    end
endmodule
