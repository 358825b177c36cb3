// Integer part of the output converter, one lane: (x - offset) * scale >> shift with
// halves away from zero, limited to 17 bits. `saturated` is what OUT_SATURATION counts
// for integers: that this limit was hit (measured on the public nv_small RTL) or, with
// FULL, that it is exceeded by more than one before rounding (on the public nv_full RTL).
`include "nvdla_bugs.vh"

module nvdla_sdp_cvt #(
    parameter FULL = 0
) (
    input  wire signed [31:0] offset,
    input  wire signed [15:0] scale,
    input  wire        [ 5:0] shift,
    input  wire signed [31:0] x,
    output reg  signed [31:0] y,
    output reg                saturated
);
  `include "nvdla_sdp_math.vh"

  `NVDLA_BUG(sdp_converter_floors)
  `NVDLA_BUG(sdp_converter_rounds_half_up)
  `NVDLA_BUG(sdp_converter_wraps)
  `NVDLA_BUG(sdp_converter_symmetric)
  `NVDLA_BUG(sdp_converter_shift)
  `NVDLA_BUG(sdp_converter_scale_unsigned)
  `NVDLA_BUG(sdp_converter_offset_added)
  `NVDLA_BUG(sdp_converter_offset_ignored)
  wire [5:0] amount = shift + {5'd0, bug_sdp_converter_shift};
  reg signed [48:0] value, half, cut_off;
  reg signed [31:0] limited;

  always @* begin
    value = {{17{x[31]}}, x} - (bug_sdp_converter_offset_ignored ? 49'sd0 : {{17{offset[31]}}, offset});
    if (bug_sdp_converter_offset_added) value = {{17{x[31]}}, x} + {{17{offset[31]}}, offset};
    value   = value * (bug_sdp_converter_scale_unsigned ? {34'd0, scale[14:0]} : {{33{scale[15]}}, scale});
    cut_off = value >>> amount;
    half    = (amount == 6'd0) ? 49'sd0 : 49'sd1 <<< (amount - 6'd1);
    value   = bug_sdp_converter_floors ? value >>> amount :
              bug_sdp_converter_rounds_half_up ? (value + half) >>> amount : shift_round(value, amount);
    limited = saturate(value, 17);
    saturated = (FULL != 0) ? (cut_off > 49'sd65536 || cut_off < -49'sd65537) : (value != {{17{limited[31]}}, limited});
    y = bug_sdp_converter_wraps ? {{24{value[7]}}, value[7:0]} :
        (bug_sdp_converter_symmetric && limited < -32'sd127) ? -32'sd127 : limited;
  end
endmodule
