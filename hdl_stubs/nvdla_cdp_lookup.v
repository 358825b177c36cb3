// Both lookup tables of CDP on one integer, and the choice between them. No clock.
// Source: LUT programming guide, hit/miss behaviour.
module nvdla_cdp_lookup (
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [     32*14-1:0] settings,  // S_LUT_CFG, INFO, LE and LO start and end, slopes
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire signed [   37:0] x,
    output wire        [    5:0] le_index,
    output wire        [    7:0] lo_index,
    input  wire        [   31:0] le_pair,
    input  wire        [   31:0] lo_pair,
    output wire        [    4:0] events,    // {LO hit, LE hit, hybrid, overflow, underflow}
    output wire signed [   15:0] y
);
  wire [1:0] underflow, overflow;
  wire signed [15:0] le_y, lo_y;
  wire use_lo;

  nvdla_lut_table #(
      .INDEX(6)
  ) le (
      .exponent   (!settings[0]),
      .offset     (settings[39:32]),
      .select     (settings[47:40]),
      .first      (settings[64+:38]),
      .past       (settings[128+:38]),
      .slope_scale(settings[320+:32]),
      .slope_shift(settings[352+:10]),
      .x          (x),
      .underflow  (underflow[0]),
      .overflow   (overflow[0]),
      .index      (le_index),
      .pair       (le_pair),
      .y          (le_y)
  );

  nvdla_lut_table #(
      .INDEX(8)
  ) lo (
      .exponent   (1'b0),
      .offset     (8'd0),
      .select     (settings[55:48]),
      .first      (settings[192+:38]),
      .past       (settings[256+:38]),
      .slope_scale(settings[384+:32]),
      .slope_shift(settings[416+:10]),
      .x          (x),
      .underflow  (underflow[1]),
      .overflow   (overflow[1]),
      .index      (lo_index),
      .pair       (lo_pair),
      .y          (lo_y)
  );

  nvdla_lut_choice choice (
      .priorities(settings[6:4]),
      .underflow (underflow),
      .overflow  (overflow),
      .use_lo    (use_lo),
      .events    (events)
  );

  assign y = use_lo ? lo_y : le_y;
endmodule
