// One lane of an X stage on FP16 layers: ALU, multiplier, ReLU on the bits of FP32;
// one clock, as nvdla_sdp_x. The shifts do not apply.
module nvdla_sdp_x_float (
    input  wire        clk,
    input  wire        advance,
    input  wire        nan_to_zero,
    input  wire        bypass,
    input  wire        alu_bypass,
    input  wire [ 1:0] alu_algo,
    input  wire        mul_bypass,
    input  wire        mul_prelu,
    input  wire        relu_bypass,
    input  wire [31:0] x,
    input  wire [15:0] alu_operand,
    input  wire [15:0] mul_operand,
    output reg  [31:0] y
);
  `include "nvdla_sdp_float.vh"

  reg [31:0] value;

  always @* begin
    value = x;
    if (!bypass) begin
      if (!alu_bypass) value = fp_alu(alu_algo, value, fp_widened(alu_operand, nan_to_zero));
      if (!mul_bypass && !(mul_prelu && !value[31])) value = fp_product(value, fp_widened(mul_operand, nan_to_zero));
      if (!relu_bypass && value[31] && !fp_is_nan(value)) value = 32'd0;
    end
  end

  always @(posedge clk) if (advance) y <= value;
endmodule
