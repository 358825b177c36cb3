// CSC_DL: the input elements of one atomic operation, out of the convolution
// buffer, one clock; of FULL, with INT8 widened to 16 bits.
//
// Feature cubes: one column of a line, the channels of one block, an atom from each
// of its surfaces. Images: elements of a line from a given one on, which start
// anywhere in a word; with channel post-extension of two or four lines below each
// other. Lines outside the cube, and columns outside a feature cube, are padding.
// Winograd: a 4x4 tile of four channels, which passes through the pre-addition.
module nvdla_csc_dl #(
    parameter FULL = 0,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter ATOMIC_C = 8,
    parameter ELEMENT_BITS = 8,
    parameter LINES = 4,
    parameter PORTS = 8
) (
    input  wire                             clk,
    input  wire                             rst_n,
    input  wire                             advance,
    input  wire                             is_image,
    input  wire                             winograd,
    input  wire [                      1:0] precision,
    input  wire [                      1:0] pra_truncate,
    input  wire [                     12:0] width,         // minus one
    input  wire [                     12:0] height,        // minus one
    input  wire [                     13:0] channels,      // per line of the kernel
    input  wire [                     15:0] pad_value,
    input  wire [              ADDR_BITS:0] first,         // word of the oldest slice
    input  wire [              ADDR_BITS:0] capacity,      // words
    input  wire [                     31:0] line_words,    // of all cubes
    input  wire [                     31:0] cube_words,    // of the line before this cube's part
    input  wire                             issue,
    input  wire signed [              17:0] x,             // first column; not used for images
    input  wire signed [              17:0] y,             // first line
    input  wire [                     19:0] element,       // first one; images only
    input  wire [                     12:0] block,         // of channels
    input  wire [                     13:0] length,        // elements of a line
    input  wire [                      2:0] lines,
    input  wire [                      2:0] lines_here,
    output wire [      PORTS*ADDR_BITS-1:0] addr,
    input  wire [   PORTS*8*ATOM_BYTES-1:0] data,
    output reg                              valid,
    output wire [ATOMIC_C*ELEMENT_BITS-1:0] elements,
    output wire [                     16:0] nan            // {there is one, the first one}
);
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam LINE_PORTS = PORTS / LINES;
  localparam W = 8 * ATOM_BYTES;
  localparam C = ELEMENT_BITS * ATOMIC_C;
  localparam LOG2_WORDS = $clog2(ATOMIC_C / ATOM_BYTES);  // of a block of INT8
  localparam [1:0] INT8 = 2'd0;

  wire is_byte = (precision == INT8);
  wire log2_bytes = !is_byte;  // of an element
  wire [2:0] log2_bits = is_byte ? 3'd3 : 3'd4;
  wire [20:0] first_byte = {1'b0, element} << log2_bytes;

  // Words of slices since the oldest one; sums stay below twice the size of the buffer
  // for everything that is used.
  /* verilator lint_off UNUSEDSIGNAL */
  wire [31:0] surface_words = {18'd0, {1'b0, width} + 14'd1};
  wire [31:0] surface = winograd ? {19'd0, block} >> (is_byte ? LOG2_ATOM - 2 : LOG2_ATOM - 3) :
                                   {19'd0, block} << (is_byte ? LOG2_WORDS : LOG2_WORDS + 1);
  wire [31:0] in_slice = is_image ? {11'd0, first_byte} >> LOG2_ATOM : surface * surface_words + {{14{x[17]}}, x};
  wire [31:0] word_step = (is_image || winograd) ? 32'd1 : surface_words;
  reg [31:0] line_word, word_at;
  /* verilator lint_on UNUSEDSIGNAL */
  reg [PORTS*ADDR_BITS-1:0] word_addr;
  integer a, b;

  assign addr = word_addr;

  always @* begin
    for (a = 0; a < LINES; a = a + 1) begin
      line_word = ({{14{y[17]}}, y} + a) * line_words + cube_words + in_slice + {{(31 - ADDR_BITS) {1'b0}}, first};
      for (b = 0; b < LINE_PORTS; b = b + 1) begin
        word_at = line_word + b * word_step;
        if (word_at >= {{(31 - ADDR_BITS) {1'b0}}, capacity})
          word_at = word_at - {{(31 - ADDR_BITS) {1'b0}}, capacity};
        word_addr[ADDR_BITS*(LINE_PORTS*a+b)+:ADDR_BITS] = word_at[ADDR_BITS-1:0];
      end
    end
  end

  wire outside_x = !is_image && (x < 18'sd0 || x > $signed({5'd0, width}));
  wire [C-1:0] used = ~({C{1'b1}} << ({18'd0, length} << log2_bits));
  wire [31:0] line_bits = {18'd0, channels} << log2_bits;  // of a line in a block of several
  wire [C-1:0] padding = is_byte ? {C / 8{pad_value[7:0]}} : {C / 8 / 2{pad_value}};

  integer i;
  reg signed [17:0] line_y;
  reg [LINE_PORTS*W-1:0] line_data;
  reg [C-1:0] line, gathered;

  // Elements as they lie in the buffer, lines one after the other
  always @* begin
    gathered = 0;
    line_data = 0;
    line = 0;
    line_y = y;
    for (i = 0; i < LINES; i = i + 1)
      if (i < lines_here) begin
        line_data = data[LINE_PORTS*W*i+:LINE_PORTS*W];
        if (is_image) line_data = line_data >> {first_byte[LOG2_ATOM-1:0], 3'd0};
        line = (outside_x || line_y < 18'sd0 || line_y > $signed({5'd0, height})) ? padding : line_data[C-1:0];
        line = line & used;
        if (lines == 3'd1) gathered = line;
        else gathered = gathered | (line << (i * line_bits));
        line_y = line_y + 18'sd1;
      end
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) valid <= 1'b0;
    else if (advance) valid <= issue;

  wire [C-1:0] widened;
  reg [C-1:0] plain;

  nvdla_csc_widen #(
      .COUNT       (ATOMIC_C),
      .ELEMENT_BITS(ELEMENT_BITS)
  ) widen (
      .is_byte        (is_byte),
      .packed_elements(gathered),
      .elements       (widened)
  );

  always @(posedge clk) if (advance && issue) plain <= widened;

  generate
    if (FULL != 0) begin : all_precisions
      wire [C-1:0] transformed;

      nvdla_csc_tile #(
          .ATOM_BYTES(ATOM_BYTES),
          .LINE_PORTS(LINE_PORTS)
      ) tile (
          .clk         (clk),
          .take        (advance && issue),
          .winograd    (winograd),
          .precision   (precision),
          .pra_truncate(pra_truncate),
          .block       (block),
          .data        (data),
          .direct      (widened),
          .transformed (transformed),
          .nan         (nan)
      );

      assign elements = winograd ? transformed : plain;
    end else begin : int8
      wire unused_bits = &{1'b0, pra_truncate};

      assign elements = plain;
      assign nan      = 17'd0;
    end
  endgenerate
endmodule
