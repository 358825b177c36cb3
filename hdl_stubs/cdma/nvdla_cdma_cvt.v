// CDMA's converter for one element of an integer: (x - offset) * scale / 2^truncate,
// halves away from zero, limited to INT8 or INT16, or rounded to FP16, to nearest
// even, with 65504 as its limit. INT8 fills the lower byte.
// Source: pixel precision conversion; rounding and limits as measured on the
// converter cell of the public nv_full RTL.
`include "nvdla_bugs.vh"

module nvdla_cdma_cvt (
    input  wire signed [16:0] x,
    input  wire signed [15:0] offset,
    input  wire signed [15:0] scale,
    input  wire        [ 5:0] truncate,
    input  wire        [ 1:0] precision,
    output reg         [15:0] y
);
  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;
  localparam [34:0] LARGEST = 35'd65504;

  `NVDLA_BUG(conv_converter_offset_ignored)
  `NVDLA_BUG(conv_converter_truncate)
  reg signed [34:0] product;
  reg        [34:0] magnitude, limit;
  wire       [ 5:0] amount = truncate + {5'd0, bug_conv_converter_truncate};

  always @* begin
    product   = {{18{x[16]}}, x} - (bug_conv_converter_offset_ignored ? 35'sd0 : {{19{offset[15]}}, offset});
    product   = product * {{19{scale[15]}}, scale};
    magnitude = product[34] ? -product : product;
    if (amount != 6'd0) magnitude = ((magnitude >> (amount - 6'd1)) + 35'd1) >> 1;
    limit = (precision == FP16) ? LARGEST : ((precision == INT8) ? 35'd127 : 35'd32767) + {34'd0, product[34]};
    if (magnitude > limit) magnitude = limit;
    if (precision == FP16) y = {product[34] && magnitude != 35'd0, float(magnitude[15:0])};
    else y = product[34] ? -magnitude[15:0] : magnitude[15:0];
  end

  // FP16 without its sign, of at most 65504
  function automatic [14:0] float(input [15:0] number);
    reg [16:0] rest;
    reg [4:0] power;
    begin
      rest  = {number, 1'b0};
      power = 5'd30;
      while (power != 5'd0 && !rest[16]) begin
        rest  = rest << 1;
        power = power - 5'd1;
      end
      // Eleven bits stay; a carry out of them goes up into the exponent.
      float = {power, rest[15:6]} + {14'd0, rest[5] && (rest[6] || rest[4:0] != 5'd0)};
      if (number == 16'd0) float = 15'd0;
    end
  endfunction
endmodule
