// One lane of an X stage (X1 and X2 are alike): ALU, multiplier, ReLU, on 32-bit
// values, one clock.
//
//   operand  16 bits, shifted left by ALU_SHIFT_VALUE (0..63), limited to 32 bits
//   ALU      max, min or sum; the result keeps its 33rd bit
//   MUL      times 16 bits, then shifted right by MUL_SHIFT_VALUE with halves
//            away from zero, then limited to 32 bits
//   ReLU     on the 32-bit result
//
// Measured on the public nv_small RTL, where the specification is silent:
//   - all shifts and limits as above; ALU algorithm code 3 is a sum;
//   - the ALU result goes to the multiplier with 33 bits, unlimited;
//   - of the 8 bits of MUL_SHIFT_VALUE the lower 6 count; since no product
//     exceeds 2^47, shifts of 49 or more give 0;
//   - a bypassed multiplier still shifts, and MUL_PRELU has no effect on it;
//   - PReLU multiplies, shifts and limits negative values only; of the others it
//     passes the low 32 bits, so that a sum beyond 32 bits wraps.
// Open, and here it is so: ReLU after PReLU acts on the wrapped value.
`include "nvdla_bugs.vh"

module nvdla_sdp_x (
    input  wire               clk,
    input  wire               advance,
    input  wire               bypass,
    input  wire               alu_bypass,
    input  wire        [ 1:0] alu_algo,
    input  wire        [ 5:0] alu_shift,
    input  wire               mul_bypass,
    input  wire               mul_prelu,
    input  wire        [ 5:0] mul_shift,
    input  wire               relu_bypass,
    input  wire signed [31:0] x,
    input  wire signed [15:0] alu_operand,
    input  wire signed [15:0] mul_operand,
    output reg  signed [31:0] y
);
  `include "nvdla_sdp_math.vh"

  localparam [1:0] ALGO_MAX = 2'd0, ALGO_MIN = 2'd1;

  // From 31 on every shifted operand but 0 is at or beyond the 32-bit limits.
  localparam [5:0] LARGEST_SHIFT = 6'd31;

  `NVDLA_BUG(sdp_relu_missing)
  `NVDLA_BUG(sdp_relu_first)
  `NVDLA_BUG(sdp_prelu_multiplies_all)
  `NVDLA_BUG(sdp_alu_shift_missing)
  `NVDLA_BUG(sdp_maximum_is_minimum)
  `NVDLA_BUG(sdp_compare_unsigned)
  `NVDLA_BUG(sdp_minimum_unsigned)
  `NVDLA_BUG(sdp_sum_carry)
  `NVDLA_BUG(sdp_multiplier_missing)
  `NVDLA_BUG(sdp_truncation_shift)
  `NVDLA_BUG(sdp_truncation_floors)
  always @(posedge clk) if (advance) y <= bypass ? x : processed(x, alu_operand, mul_operand);

  wire [5:0] left = bug_sdp_alu_shift_missing ? 6'd0 : alu_shift;
  wire [5:0] amount = mul_shift + {5'd0, bug_sdp_truncation_shift};

  function automatic signed [31:0] processed(input signed [31:0] data, input signed [15:0] addend,
                                             input signed [15:0] factor);
    reg signed [48:0] value;
    reg signed [48:0] operand;
    reg signed [31:0] narrow;
    reg above, flipped;
    begin
      value = (bug_sdp_relu_first && !relu_bypass && data[31]) ? 49'sd0 : {{17{data[31]}}, data};
      if (!alu_bypass) begin
        operand = {{33{addend[15]}}, addend};
        narrow  = saturate(operand <<< (left > LARGEST_SHIFT ? LARGEST_SHIFT : left), 32);
        operand = {{17{narrow[31]}}, narrow};
        above   = operand > value;
        // Numbers of one sign compare the same way as unsigned ones.
        flipped = (bug_sdp_compare_unsigned || (bug_sdp_minimum_unsigned && alu_algo == ALGO_MIN)) &&
            (operand[48] != value[48]);
        case (alu_algo)
          ALGO_MAX: if ((above ^ flipped) != bug_sdp_maximum_is_minimum) value = operand;
          ALGO_MIN: if ((operand < value) ^ flipped) value = operand;
          default:  value = value + operand + {48'd0, bug_sdp_sum_carry};
        endcase
      end
      if (!mul_bypass && mul_prelu && !value[48] && !bug_sdp_prelu_multiplies_all) narrow = value[31:0];
      else begin
        if (!mul_bypass && !bug_sdp_multiplier_missing) value = value * {{33{factor[15]}}, factor};
        narrow = saturate(bug_sdp_truncation_floors ? value >>> amount : shift_round(value, amount), 32);
      end
      processed = (!relu_bypass && !bug_sdp_relu_missing && !bug_sdp_relu_first && narrow[31]) ? 32'sd0 : narrow;
    end
  endfunction
endmodule
