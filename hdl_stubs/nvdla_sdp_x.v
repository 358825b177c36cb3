// One lane of an X stage (X1 and X2 are alike): ALU, multiplier, ReLU, on 32-bit
// values, one clock.
//
//   operand  16 bits, shifted left by ALU_SHIFT_VALUE, limited to 32 bits
//   ALU      max, min or sum; a sum keeps its 33rd bit for the multiplier
//   MUL      times 16 bits, then shifted right by MUL_SHIFT_VALUE with halves
//            away from zero; PReLU leaves values from 0 up as they are
//   result   limited to 32 bits, then ReLU
//
// Decided by golden traces of the hardware: a bypassed multiplier still shifts,
// and PReLU leaves positive values unshifted. The limit at the end of the stage
// and the rounding were measured on the public RTL. The specification leaves
// open, and here it is so: the sum is not limited on its way to the multiplier,
// shifts beyond 63 give 0, and PReLU has no effect on a bypassed multiplier.
module nvdla_sdp_x (
    input  wire               clk,
    input  wire               advance,
    input  wire               bypass,
    input  wire               alu_bypass,
    input  wire        [ 1:0] alu_algo,
    input  wire        [ 5:0] alu_shift,
    input  wire               mul_bypass,
    input  wire               mul_prelu,
    input  wire        [ 7:0] mul_shift,
    input  wire               relu_bypass,
    input  wire signed [31:0] x,
    input  wire signed [15:0] alu_operand,
    input  wire signed [15:0] mul_operand,
    output reg  signed [31:0] y
);
  `include "nvdla_sdp_math.vh"

  localparam [1:0] ALGO_MAX = 2'd0, ALGO_MIN = 2'd1, ALGO_SUM = 2'd2;

  // From 31 on every shifted operand but 0 is at or beyond the 32-bit limits.
  localparam [5:0] LARGEST_SHIFT = 6'd31;

  always @(posedge clk) if (advance) y <= bypass ? x : processed(x, alu_operand, mul_operand);

  function automatic signed [31:0] processed(input signed [31:0] data, input signed [15:0] addend,
                                             input signed [15:0] factor);
    reg signed [48:0] value;
    reg signed [48:0] operand;
    reg signed [31:0] narrow;
    begin
      value = {{17{data[31]}}, data};
      if (!alu_bypass) begin
        operand = {{33{addend[15]}}, addend};
        narrow  = saturate(operand <<< (alu_shift > LARGEST_SHIFT ? LARGEST_SHIFT : alu_shift), 32);
        operand = {{17{narrow[31]}}, narrow};
        case (alu_algo)
          ALGO_MAX: if (operand > value) value = operand;
          ALGO_MIN: if (operand < value) value = operand;
          ALGO_SUM: value = value + operand;
          default:  value = value;
        endcase
      end
      if (mul_bypass || !mul_prelu || value[48]) begin
        if (!mul_bypass) value = value * {{33{factor[15]}}, factor};
        value = (mul_shift > 8'd63) ? 49'sd0 : shift_round(value, mul_shift[5:0]);
      end
      narrow    = saturate(value, 32);
      processed = (!relu_bypass && narrow[31]) ? 32'sd0 : narrow;
    end
  endfunction
endmodule
