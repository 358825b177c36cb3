// One lane of the output converter: (x - offset) * scale >> shift with halves
// away from zero, limited to 17 bits, then to INT8; one clock. `saturated` says
// that the 17-bit limit was hit, which is what OUT_SATURATION counts for integers
// (measured on the public nv_small RTL).
`include "nvdla_bugs.vh"

module nvdla_sdp_cvt (
    input  wire               clk,
    input  wire               advance,
    input  wire signed [31:0] offset,
    input  wire signed [15:0] scale,
    input  wire        [ 5:0] shift,
    input  wire signed [31:0] x,
    output reg         [ 7:0] y,
    output reg                saturated
);
  `include "nvdla_sdp_math.vh"

  `NVDLA_BUG(sdp_converter_floors)
  `NVDLA_BUG(sdp_converter_rounds_half_up)
  `NVDLA_BUG(sdp_converter_wraps)
  `NVDLA_BUG(sdp_converter_shift)
  `NVDLA_BUG(sdp_converter_scale_unsigned)
  `NVDLA_BUG(sdp_converter_offset_added)
  `NVDLA_BUG(sdp_converter_offset_ignored)
  always @(posedge clk) if (advance) {saturated, y} <= converted(x);

  wire [5:0] amount = shift + {5'd0, bug_sdp_converter_shift};

  function automatic [8:0] converted(input signed [31:0] data);  // {saturated, INT8}
    reg signed [48:0] value;
    reg signed [48:0] half;
    reg signed [31:0] limited;
    begin
      value   = {{17{data[31]}}, data} - ((bug_sdp_converter_offset_ignored) ? 49'sd0 : {{17{offset[31]}}, offset});
      if (bug_sdp_converter_offset_added) value = {{17{data[31]}}, data} + {{17{offset[31]}}, offset};
      value   = value * (bug_sdp_converter_scale_unsigned ? {34'd0, scale[14:0]} : {{33{scale[15]}}, scale});
      half    = (amount == 6'd0) ? 49'sd0 : 49'sd1 <<< (amount - 6'd1);
      value   = bug_sdp_converter_floors ? value >>> amount :
                bug_sdp_converter_rounds_half_up ? (value + half) >>> amount : shift_round(value, amount);
      limited = saturate(value, 17);
      converted[8] = (value != {{17{limited[31]}}, limited});
      converted[7:0] = (limited > 32'sd127) ? 8'h7f : (limited < -32'sd128) ? 8'h80 : limited[7:0];
      if (bug_sdp_converter_wraps) converted[7:0] = value[7:0];
    end
  endfunction
endmodule
