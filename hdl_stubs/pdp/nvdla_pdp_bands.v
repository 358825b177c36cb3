// Bands of a pooling layer: with SPLIT_NUM above 0 the cube is pooled in vertical
// bands, each over all surfaces and lines, so that a line of partial results fits
// the hardware's buffer. Gives the columns that the current band reads and writes.
//
// The registers say how many columns each band adds to those before it. A band
// after the first reads kernel - stride columns more, to its left, because its
// first window begins there; with a stride above the kernel it skips as many.
// Without a split there is one band, and the partial widths do not apply.
//
// Source: PDP programming, offline processing with split width.
module nvdla_pdp_bands (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        start,        // go to the first band
    input  wire        next,         // go to the band after
    input  wire [ 7:0] split_num,    // bands minus one
    input  wire [ 3:0] kernel,       // this and all widths: minus one
    input  wire [ 3:0] stride,
    input  wire [12:0] full_in,
    input  wire [12:0] full_out,
    input  wire [29:0] partial_in,   // {mid, last, first}
    input  wire [29:0] partial_out,
    output wire        is_first,
    output wire        is_last,
    output reg  [12:0] in_start,
    output reg  [12:0] in_width,
    output reg  [12:0] out_start,
    output reg  [12:0] out_width
);
  reg  [ 7:0] band;
  // Columns of the band after this one
  wire        next_is_last = (band + 8'd1 == split_num);
  wire [12:0] next_in = {3'd0, next_is_last ? partial_in[19:10] : partial_in[29:20]};
  wire [12:0] next_out = {3'd0, next_is_last ? partial_out[19:10] : partial_out[29:20]};
  wire [12:0] overlap = {9'd0, kernel} - {9'd0, stride};

  assign is_first = (band == 8'd0);
  assign is_last  = (band == split_num);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      band      <= 8'd0;
      in_start  <= 13'd0;
      in_width  <= 13'd0;
      out_start <= 13'd0;
      out_width <= 13'd0;
    end else if (start) begin
      band      <= 8'd0;
      in_start  <= 13'd0;
      in_width  <= (split_num == 8'd0) ? full_in : {3'd0, partial_in[9:0]};
      out_start <= 13'd0;
      out_width <= (split_num == 8'd0) ? full_out : {3'd0, partial_out[9:0]};
    end else if (next) begin
      band      <= band + 8'd1;
      in_start  <= in_start + in_width + 13'd1 - overlap;
      in_width  <= next_in + overlap;
      out_start <= out_start + out_width + 13'd1;
      out_width <= next_out;
    end
endmodule
