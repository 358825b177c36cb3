// CDP on FP16: the arithmetic of nvdla_cdp_core's stages with the same timing.
//
// Squares, sum, interpolation and product are doubles and rounded once, to FP16 at
// the end, where the hardware rounds every step to FP32 or FP17. Measured on the
// public nv_full RTL and the same here: infinity counts as (2 - 2^-10) * 2^31, a NaN
// in the centre passes unchanged, else that of the nearest channel, the lower first,
// else that of the table's entries, and the result is at most 65504.
module nvdla_cdp_float (
    input  wire            clk,
    input  wire            advance,
    input  wire [     1:0] local_size,
    input  wire            sum_bypass,
    input  wire            multiply_bypass,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [  9*17-1:0] window,   // 16 of 17 bits per element
    input  wire [ 32*14-1:0] settings,
    /* verilator lint_on UNUSEDSIGNAL */
    output wire [     5:0] le_index,
    output wire [     7:0] lo_index,
    input  wire [    31:0] le_pair,
    input  wire [    31:0] lo_pair,
    output wire [     4:0] events,
    output wire [    15:0] out,
    output wire            saturated
);
  `include "nvdla_float.vh"

  localparam X = 17;
  localparam CENTRE = 4;

  // Sum and the NaN that decides the result
  reg sum_is_nan, value_is_nan;
  reg [15:0] sum_nan, value_nan, sum_centre, value_centre;
  reg [63:0] sum, value;
  always @(posedge clk)
    if (advance) begin
      {sum_is_nan, sum_nan} <= deciding_nan(window, local_size);
      sum_centre   <= window[X*CENTRE+:16];
      sum          <= $realtobits(sum_bypass ? from_fp16_limited(window[X*CENTRE+:16]) : squares(window, local_size));
      value_is_nan <= sum_is_nan || entry_nan[16];
      value_nan    <= sum_is_nan ? sum_nan : entry_nan[15:0];
      value_centre <= sum_centre;
      value        <= use_lo ? lo_y : le_y;
    end

  wire [1:0] underflow, overflow;
  wire [63:0] le_y, lo_y;
  wire use_lo;
  wire [16:0] le_nan, lo_nan;
  wire [16:0] entry_nan = use_lo ? lo_nan : le_nan;

  nvdla_lut_table_float #(
      .INDEX(6)
  ) le (
      .exponent   (!settings[0]),
      .offset     (settings[39:32]),
      .select     (settings[47:40]),
      .first      (settings[95:64]),
      .past       (settings[159:128]),
      .slope_scale(settings[351:320]),
      .is_nan     (sum_is_nan),
      .x          (sum),
      .underflow  (underflow[0]),
      .overflow   (overflow[0]),
      .index      (le_index),
      .pair       (le_pair),
      .y          (le_y),
      .entry_nan  (le_nan)
  );

  nvdla_lut_table_float #(
      .INDEX(8)
  ) lo (
      .exponent   (1'b0),
      .offset     (8'd0),
      .select     (settings[55:48]),
      .first      (settings[223:192]),
      .past       (settings[287:256]),
      .slope_scale(settings[415:384]),
      .is_nan     (sum_is_nan),
      .x          (sum),
      .underflow  (underflow[1]),
      .overflow   (overflow[1]),
      .index      (lo_index),
      .pair       (lo_pair),
      .y          (lo_y),
      .entry_nan  (lo_nan)
  );

  nvdla_lut_choice #(
      .COUNTS_ONCE(1)
  ) choice (
      .priorities(settings[6:4]),
      .underflow (underflow),
      .overflow  (overflow),
      .use_lo    (use_lo),
      .events    (events)
  );

  wire [15:0] product =
      to_fp16($bitstoreal(value) * (multiply_bypass ? 1.0 : from_fp16_limited(value_centre)));

  assign out       = value_is_nan ? value_nan : product;
  assign saturated = !value_is_nan && (product[14:0] == 15'h7bff);

  function automatic real squares(input [9*X-1:0] elements, input [1:0] size);
    integer i;
    real e;
    begin
      squares = 0.0;
      for (i = 0; i < 9; i = i + 1) begin
        e = from_fp16_limited(elements[X*i+:16]);
        if (i + 1 + {30'd0, size} >= CENTRE && i <= CENTRE + 1 + {30'd0, size}) squares = squares + e * e;
      end
    end
  endfunction

  // {found, bits}: the centre's NaN, else the nearest, of two the lower channel's,
  // which is the older one.
  function automatic [16:0] deciding_nan(input [9*X-1:0] elements, input [1:0] size);
    integer reach;
    begin
      deciding_nan = 17'd0;
      for (reach = CENTRE; reach >= 0; reach = reach - 1)
        if (reach <= 1 + {30'd0, size} && !(sum_bypass && reach != 0)) begin
          if (is_nan16(elements[X*(CENTRE-reach)+:16])) deciding_nan = {1'b1, elements[X*(CENTRE-reach)+:16]};
          if (is_nan16(elements[X*(CENTRE+reach)+:16])) deciding_nan = {1'b1, elements[X*(CENTRE+reach)+:16]};
        end
    end
  endfunction
endmodule
