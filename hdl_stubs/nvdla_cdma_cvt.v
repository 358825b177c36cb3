// CDMA's converter for one element: (x - offset) * scale / 2^truncate, halves away from
// zero, limited to INT8.
`include "nvdla_bugs.vh"

module nvdla_cdma_cvt (
    input  wire signed [16:0] x,
    input  wire signed [15:0] offset,
    input  wire signed [15:0] scale,
    input  wire        [ 5:0] truncate,
    output reg         [ 7:0] y
);
  `NVDLA_BUG(conv_converter_offset_ignored)
  `NVDLA_BUG(conv_converter_truncate)
  reg signed [34:0] product;
  reg        [34:0] magnitude;
  wire       [ 5:0] amount = truncate + {5'd0, bug_conv_converter_truncate};

  always @* begin
    product   = {{18{x[16]}}, x} - (bug_conv_converter_offset_ignored ? 35'sd0 : {{19{offset[15]}}, offset});
    product   = product * {{19{scale[15]}}, scale};
    magnitude = product[34] ? -product : product;
    if (amount != 6'd0) magnitude = ((magnitude >> (amount - 6'd1)) + 35'd1) >> 1;
    if (product[34]) y = (magnitude >= 35'd128) ? 8'h80 : -magnitude[7:0];
    else y = (magnitude >= 35'd127) ? 8'h7f : magnitude[7:0];
  end
endmodule
