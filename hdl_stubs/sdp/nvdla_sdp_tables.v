// Lookup of one lane of SDP after its Y stage, in integers and FP16; one clock.
// Source: LUT programming guide; measured on the public nv_full RTL: fractions of
// 35 bits, steps in FP17; a NaN counts as underflow and passes, as does the NaN of an entry.
module nvdla_sdp_tables (
    input  wire         clk,
    input  wire         advance,
    input  wire         bypass,
    input  wire         is_float,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [319:0] settings,  // S_LUT_CFG, INFO, LE and LO start and end, slopes
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [ 31:0] x,
    output wire [  5:0] le_index,
    output wire [  7:0] lo_index,
    input  wire [ 31:0] le_pair,
    input  wire [ 31:0] lo_pair,
    output reg  [ 31:0] y,
    output reg  [  4:0] events
);
  `include "nvdla_sdp_float.vh"

  wire [1:0] underflow, overflow, f_underflow, f_overflow;
  wire signed [31:0] le_y, lo_y;
  wire [63:0] f_le_y, f_lo_y;
  wire [5:0] i_le_index, f_le_index;
  wire [7:0] i_lo_index, f_lo_index;
  wire [4:0] now;
  wire [16:0] le_nan, lo_nan;
  wire use_lo;
  wire is_nan = fp_is_nan(x);
  wire [63:0] number = $realtobits(from_fp32(x));

  assign le_index = is_float ? f_le_index : i_le_index;
  assign lo_index = is_float ? f_lo_index : i_lo_index;

  nvdla_lut_table #(
      .X           (32),
      .Y           (32),
      .FRACTION    (35),
      .INDEX       (6),
      .TWO_PRODUCTS(1)
  ) le (
      .exponent   (!settings[0]),
      .offset     (settings[39:32]),
      .select     (settings[47:40]),
      .first      (settings[95:64]),
      .past       (settings[127:96]),
      .slope_scale(settings[223:192]),
      .slope_shift(settings[233:224]),
      .x          (x),
      .underflow  (underflow[0]),
      .overflow   (overflow[0]),
      .index      (i_le_index),
      .pair       (le_pair),
      .y          (le_y)
  );

  nvdla_lut_table #(
      .X           (32),
      .Y           (32),
      .FRACTION    (35),
      .INDEX       (8),
      .TWO_PRODUCTS(1)
  ) lo (
      .exponent   (1'b0),
      .offset     (8'd0),
      .select     (settings[55:48]),
      .first      (settings[159:128]),
      .past       (settings[191:160]),
      .slope_scale(settings[287:256]),
      .slope_shift(settings[297:288]),
      .x          (x),
      .underflow  (underflow[1]),
      .overflow   (overflow[1]),
      .index      (i_lo_index),
      .pair       (lo_pair),
      .y          (lo_y)
  );

  nvdla_lut_table_float #(
      .INDEX(6),
      .STEPS(1)
  ) le_float (
      .exponent   (!settings[0]),
      .offset     (settings[39:32]),
      .select     (settings[47:40]),
      .first      (settings[95:64]),
      .past       (settings[127:96]),
      .slope_scale(settings[223:192]),
      .is_nan     (is_nan),
      .x          (number),
      .underflow  (f_underflow[0]),
      .overflow   (f_overflow[0]),
      .index      (f_le_index),
      .pair       (le_pair),
      .y          (f_le_y),
      .entry_nan  (le_nan)
  );

  nvdla_lut_table_float #(
      .INDEX(8),
      .STEPS(1)
  ) lo_float (
      .exponent   (1'b0),
      .offset     (8'd0),
      .select     (settings[55:48]),
      .first      (settings[159:128]),
      .past       (settings[191:160]),
      .slope_scale(settings[287:256]),
      .is_nan     (is_nan),
      .x          (number),
      .underflow  (f_underflow[1]),
      .overflow   (f_overflow[1]),
      .index      (f_lo_index),
      .pair       (lo_pair),
      .y          (f_lo_y),
      .entry_nan  (lo_nan)
  );

  nvdla_lut_choice choice (
      .priorities(settings[6:4]),
      .underflow (is_float ? f_underflow : underflow),
      .overflow  (is_float ? f_overflow : overflow),
      .use_lo    (use_lo),
      .events    (now)
  );

  wire [16:0] entry_nan = use_lo ? lo_nan : le_nan;

  always @(posedge clk)
    if (advance) begin
      events <= bypass ? 5'd0 : now;
      if (bypass || (is_float && is_nan)) y <= x;
      else if (is_float && entry_nan[16]) y <= fp_widened(entry_nan[15:0], 1'b0);
      else if (is_float) y <= fp32_bits($bitstoreal(use_lo ? f_lo_y : f_le_y));
      else y <= use_lo ? lo_y : le_y;
    end
endmodule
