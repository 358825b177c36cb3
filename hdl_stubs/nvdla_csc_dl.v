// CSC_DL: the input elements of one atomic operation, out of the convolution
// buffer, one clock.
//
// Feature cubes: one column of a line, the channels of one block, an atom from each
// of its surfaces. Images: elements of a line from a given one on, which start
// anywhere in a word; with channel post-extension of two or four lines below each
// other. Lines outside the cube, and columns outside a feature cube, are padding.
module nvdla_csc_dl #(
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter ATOMIC_C = 8,
    parameter LINES = 4
) (
    input  wire                                  clk,
    input  wire                                  rst_n,
    input  wire                                  advance,
    input  wire                                  is_image,
    input  wire [                          12:0] width,        // minus one
    input  wire [                          12:0] height,       // minus one
    input  wire [                          13:0] channels,     // per line of the kernel
    input  wire [                           7:0] pad_value,
    input  wire [                   ADDR_BITS:0] first,        // word of the oldest slice
    input  wire [                   ADDR_BITS:0] capacity,     // words
    input  wire [                   ADDR_BITS:0] slice_words,
    input  wire                                  issue,
    input  wire signed [                   17:0] x,            // column; not used for images
    input  wire signed [                   17:0] y,            // first line
    input  wire [                          19:0] element,      // first one; images only
    input  wire [                          12:0] block,        // of channels
    input  wire [                           2:0] lines,
    input  wire [                           2:0] lines_here,
    output wire [LINES*(ATOMIC_C/ATOM_BYTES+1)*ADDR_BITS-1:0] addr,
    input  wire [LINES*(ATOMIC_C/ATOM_BYTES+1)*8*ATOM_BYTES-1:0] data,
    output reg                                   valid,
    output reg  [                8*ATOMIC_C-1:0] elements
);
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam WORDS = ATOMIC_C / ATOM_BYTES;
  localparam PORTS = WORDS + 1;  // per line
  localparam W = 8 * ATOM_BYTES;
  localparam C = 8 * ATOMIC_C;
  localparam LOG2_WORDS = $clog2(WORDS);
  localparam [13:0] BLOCK = ATOMIC_C[13:0];

  // Words of slices since the oldest one; sums stay below the size of the buffer
  // for everything that is used.
  /* verilator lint_off UNUSEDSIGNAL */
  wire [31:0] surface_words = {18'd0, {1'b0, width} + 14'd1};
  wire [31:0] in_slice = is_image ? {12'd0, element} >> LOG2_ATOM :
                         ({19'd0, block} << LOG2_WORDS) * surface_words + {{14{x[17]}}, x};
  wire [31:0] word_step = is_image ? 32'd1 : surface_words;
  reg [31:0] line_word, word_at;
  /* verilator lint_on UNUSEDSIGNAL */
  reg [LINES*PORTS*ADDR_BITS-1:0] word_addr;
  integer a, b;

  assign addr = word_addr;

  always @* begin
    for (a = 0; a < LINES; a = a + 1) begin
      line_word = ({{14{y[17]}}, y} + a) * {{(31 - ADDR_BITS) {1'b0}}, slice_words} + in_slice +
                  {{(31 - ADDR_BITS) {1'b0}}, first};
      for (b = 0; b < PORTS; b = b + 1) begin
        word_at = line_word + b * word_step;
        if (word_at >= {{(31 - ADDR_BITS) {1'b0}}, capacity})
          word_at = word_at - {{(31 - ADDR_BITS) {1'b0}}, capacity};
        word_addr[ADDR_BITS*(PORTS*a+b)+:ADDR_BITS] = word_at[ADDR_BITS-1:0];
      end
    end
  end

  wire [13:0] behind = channels - block * BLOCK;  // channels from this block on
  wire [13:0] length = (behind < BLOCK) ? behind : BLOCK;
  wire outside_x = !is_image && (x < 18'sd0 || x > $signed({5'd0, width}));
  wire [C-1:0] used = ~({C{1'b1}} << {length, 3'd0});

  integer i;
  reg signed [17:0] line_y;
  reg [PORTS*W-1:0] line_data;
  reg [C-1:0] line, gathered;

  always @* begin
    gathered = 0;
    line_y = y;
    for (i = 0; i < LINES; i = i + 1) begin
      line_data = data[PORTS*W*i+:PORTS*W];
      if (is_image) line_data = line_data >> {element[LOG2_ATOM-1:0], 3'd0};
      line = (outside_x || line_y < 18'sd0 || line_y > $signed({5'd0, height})) ?
             {ATOMIC_C{pad_value}} : line_data[C-1:0];
      if (i < lines_here) gathered = gathered | ((line & used) << (i * 8 * (lines == 3'd1 ? 32'd0 : {18'd0, channels})));
      line_y = line_y + 18'sd1;
    end
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) valid <= 1'b0;
    else if (advance) valid <= issue;

  always @(posedge clk) if (advance && issue) elements <= gathered;
endmodule
