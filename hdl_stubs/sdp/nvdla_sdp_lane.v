// One lane of SDP: X1, X2, of FULL also Y and lookup, output converter; a stage each, one
// clock per stage. Values between stages are INT32 or, of FULL, the bits of FP32. Without
// Y (EW, LUT) data pass it unchanged, whatever its registers say.
`include "nvdla_bugs.vh"

module nvdla_sdp_lane #(
    parameter FULL = 0
) (
    input  wire         clk,
    input  wire         advance,
    input  wire         is_float,
    input  wire         nan_to_zero,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [159:0] bs_cfg,         // D_DP_BS_CFG to D_DP_BS_MUL_SRC_VALUE
    input  wire [159:0] bn_cfg,
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [383:0] ew_cfg,         // D_DP_EW_CFG to D_DP_EW_TRUNCATE_VALUE; this and below: FULL
    input  wire [ 95:0] cvt,
    input  wire [  1:0] out_precision,
    input  wire [319:0] settings,       // of the tables
    input  wire [ 31:0] x,
    input  wire [ 95:0] operands,       // {EW, BN, BS}, each {multiplier, ALU}
    output wire [  5:0] le_index,
    output wire [  7:0] lo_index,
    input  wire [ 31:0] le_pair,
    input  wire [ 31:0] lo_pair,
    output wire         unequal,        // after three stages
    output wire [  4:0] lookup_events,  // after four
    output wire [ 15:0] y,              // after all
    output wire         saturated,
    output wire         is_nan
);
  `NVDLA_BUG(sdp_x2_bypassed)
  wire [31:0] x1, x2, y_result;
  wire signed [31:0] x1_integer, x2_integer;
  reg [63:0] operands_1;  // after X1
  reg [31:0] operands_2;  // after X2

  always @(posedge clk)
    if (advance) begin
      operands_1 <= operands[95:32];
      operands_2 <= operands_1[63:32];
    end

  nvdla_sdp_x integer_x1 (
      .clk        (clk),
      .advance    (advance),
      .bypass     (bs_cfg[0]),
      .alu_bypass (bs_cfg[1]),
      .alu_algo   (bs_cfg[3:2]),
      .alu_shift  (bs_cfg[45:40]),
      .mul_bypass (bs_cfg[4]),
      .mul_prelu  (bs_cfg[5]),
      .mul_shift  (bs_cfg[109:104]),
      .relu_bypass(bs_cfg[6]),
      .x          (x),
      .alu_operand(operands[15:0]),
      .mul_operand(operands[31:16]),
      .y          (x1_integer)
  );

  nvdla_sdp_x integer_x2 (
      .clk        (clk),
      .advance    (advance),
      .bypass     (bn_cfg[0] || bug_sdp_x2_bypassed),
      .alu_bypass (bn_cfg[1]),
      .alu_algo   (bn_cfg[3:2]),
      .alu_shift  (bn_cfg[45:40]),
      .mul_bypass (bn_cfg[4]),
      .mul_prelu  (bn_cfg[5]),
      .mul_shift  (bn_cfg[109:104]),
      .relu_bypass(bn_cfg[6]),
      .x          (x1),
      .alu_operand(operands_1[15:0]),
      .mul_operand(operands_1[31:16]),
      .y          (x2_integer)
  );

  generate
    if (FULL != 0) begin : all_precisions
      wire [31:0] x1_float, x2_float, pointwise;

      assign x1 = is_float ? x1_float : x1_integer;
      assign x2 = is_float ? x2_float : x2_integer;

      nvdla_sdp_x_float float_x1 (
          .clk        (clk),
          .advance    (advance),
          .nan_to_zero(nan_to_zero),
          .bypass     (bs_cfg[0]),
          .alu_bypass (bs_cfg[1]),
          .alu_algo   (bs_cfg[3:2]),
          .mul_bypass (bs_cfg[4]),
          .mul_prelu  (bs_cfg[5]),
          .relu_bypass(bs_cfg[6]),
          .x          (x),
          .alu_operand(operands[15:0]),
          .mul_operand(operands[31:16]),
          .y          (x1_float)
      );

      nvdla_sdp_x_float float_x2 (
          .clk        (clk),
          .advance    (advance),
          .nan_to_zero(nan_to_zero),
          .bypass     (bn_cfg[0]),
          .alu_bypass (bn_cfg[1]),
          .alu_algo   (bn_cfg[3:2]),
          .mul_bypass (bn_cfg[4]),
          .mul_prelu  (bn_cfg[5]),
          .relu_bypass(bn_cfg[6]),
          .x          (x1),
          .alu_operand(operands_1[15:0]),
          .mul_operand(operands_1[31:16]),
          .y          (x2_float)
      );

      nvdla_sdp_y stage_y (
          .clk        (clk),
          .advance    (advance),
          .is_float   (is_float),
          .nan_to_zero(nan_to_zero),
          .cfg        (ew_cfg),
          .x          (x2),
          .alu_memory (operands_2[15:0]),
          .mul_memory (operands_2[31:16]),
          .y          (pointwise),
          .unequal    (unequal)
      );

      nvdla_sdp_tables tables (
          .clk     (clk),
          .advance (advance),
          .bypass  (ew_cfg[0] || ew_cfg[6]),
          .is_float(is_float),
          .settings(settings),
          .x       (pointwise),
          .le_index(le_index),
          .lo_index(lo_index),
          .le_pair (le_pair),
          .lo_pair (lo_pair),
          .y       (y_result),
          .events  (lookup_events)
      );
    end else begin : int8
      wire unused_bits = &{1'b0, operands_2, ew_cfg, settings, le_pair, lo_pair};

      assign x1            = x1_integer;
      assign x2            = x2_integer;
      assign y_result      = x2;
      assign le_index      = 6'd0;
      assign lo_index      = 8'd0;
      assign unequal       = 1'b0;
      assign lookup_events = 5'd0;
    end
  endgenerate

  nvdla_sdp_out #(
      .FULL(FULL)
  ) converter (
      .clk          (clk),
      .advance      (advance),
      .is_float     (is_float),
      .out_precision(out_precision),
      .nan_to_zero  (nan_to_zero),
      .cvt          (cvt),
      .x            (y_result),
      .y            (y),
      .saturated    (saturated),
      .is_nan       (is_nan)
  );
endmodule
