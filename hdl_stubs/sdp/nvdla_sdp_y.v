// One lane of the Y stage (EW) without its tables: multiplier, then ALU; one clock.
//
// A memory operand passes its converter, (operand - offset) * scale >> truncate,
// unless that is bypassed; a register operand has 32 bits and does not. The product
// is shifted right by EW_TRUNCATE; everything rounds halves away from zero and is
// limited to 32 bits. In FP16 layers neither converters nor truncation apply, and a
// register operand is raw FP32 that the NaN flush does not reach.
// Source: SDP programming; measured on the public nv_full RTL.
module nvdla_sdp_y (
    input  wire         clk,
    input  wire         advance,
    input  wire         is_float,
    input  wire         nan_to_zero,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [383:0] cfg,          // D_DP_EW_CFG to D_DP_EW_TRUNCATE_VALUE
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [ 31:0] x,
    input  wire [ 15:0] alu_memory,
    input  wire [ 15:0] mul_memory,
    output reg  [ 31:0] y,
    output reg          unequal
);
  `include "nvdla_integer_math.vh"
  `include "nvdla_sdp_float.vh"

  localparam [1:0] ALGO_MAX = 2'd0, ALGO_MIN = 2'd1, ALGO_EQL = 2'd3;

  wire bypass = cfg[0];
  wire alu_bypass = cfg[1];
  wire [1:0] algo = cfg[3:2];
  wire mul_bypass = cfg[4];
  wire prelu = cfg[5];

  wire [31:0] alu_operand = operand(cfg[32], cfg[33], cfg[95:64], cfg[127:96], cfg[143:128], cfg[165:160], alu_memory);
  wire [31:0] mul_operand = operand(cfg[192], cfg[193], cfg[255:224], cfg[287:256], cfg[303:288], cfg[325:320], mul_memory);

  reg signed [63:0] wide;
  reg [31:0] value;
  reg differs;

  always @* begin
    value   = x;
    differs = 1'b0;
    wide    = 64'sd0;
    if (!bypass) begin
      if (!mul_bypass && !(prelu && !value[31])) begin
        wide  = $signed({{32{value[31]}}, value}) * $signed({{32{mul_operand[31]}}, mul_operand});
        value = is_float ? fp_product(value, mul_operand) : saturate(shift_right(wide, cfg[361:352]), 32);
      end
      if (!alu_bypass) begin
        wide    = {{32{value[31]}}, value} + {{32{alu_operand[31]}}, alu_operand};
        differs = (algo == ALGO_EQL) && (value != alu_operand);
        if (algo == ALGO_EQL) value = x;
        else if (is_float) value = fp_alu(algo, value, alu_operand);
        else
          case (algo)
            ALGO_MAX: if ($signed(alu_operand) > $signed(value)) value = alu_operand;
            ALGO_MIN: if ($signed(alu_operand) < $signed(value)) value = alu_operand;
            default:  value = saturate(wide, 32);
          endcase
      end
    end
  end

  always @(posedge clk)
    if (advance) begin
      y       <= value;
      unequal <= differs;
    end

  function automatic [31:0] operand(input from_memory, input cvt_bypass, input [31:0] register, input [31:0] offset,
                                    input [15:0] scale, input [5:0] truncate, input [15:0] memory);
    reg signed [63:0] v;
    begin
      v = {{48{memory[15]}}, memory};
      if (!cvt_bypass) v = shift_round((v - {{32{offset[31]}}, offset}) * {{48{scale[15]}}, scale}, truncate);
      operand = !from_memory ? register : is_float ? fp_widened(memory, nan_to_zero) : saturate(v, 32);
    end
  endfunction

  function automatic signed [63:0] shift_right(input signed [63:0] v, input [9:0] amount);
    shift_right = (amount > 10'd63) ? 64'sd0 : shift_round(v, amount[5:0]);
  endfunction
endmodule
