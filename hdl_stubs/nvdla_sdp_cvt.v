// One lane of the output converter: (x - offset) * scale >> shift with halves
// away from zero, limited to 17 bits, then to INT8; one clock. `saturated` says
// that the 17-bit limit was hit, which is what OUT_SATURATION counts for integers
// (measured on the public nv_small RTL).
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

  always @(posedge clk) if (advance) {saturated, y} <= converted(x);

  function automatic [8:0] converted(input signed [31:0] data);  // {saturated, INT8}
    reg signed [48:0] value;
    reg signed [31:0] limited;
    begin
      value   = {{17{data[31]}}, data} - {{17{offset[31]}}, offset};
      value   = shift_round(value * {{33{scale[15]}}, scale}, shift);
      limited = saturate(value, 17);
      converted[8] = (value != {{17{limited[31]}}, limited});
      converted[7:0] = (limited > 32'sd127) ? 8'h7f : (limited < -32'sd128) ? 8'h80 : limited[7:0];
    end
  endfunction
endmodule
