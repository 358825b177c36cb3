// Both lookup tables of CDP on one integer, and the choice between them. No clock.
// Source: LUT programming guide, hit/miss behaviour.
`include "nvdla_bugs.vh"

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
  `NVDLA_BUG(cdp_lookup_priority)
  `NVDLA_BUG(cdp_lookup_index)
  `NVDLA_BUG(cdp_lookup_slope)
  `NVDLA_BUG(cdp_lookup_linear)
  `NVDLA_BUG(cdp_lookup_counts_twice)
  wire [1:0] underflow, overflow;
  wire signed [15:0] le_y, lo_y;
  wire [7:0] lo_place;
  wire use_lo;
  wire [4:0] choice_events;

  nvdla_lut_table #(
      .INDEX(6)
  ) le (
      .exponent   (!settings[0] && !bug_cdp_lookup_linear),
      .offset     (settings[39:32]),
      .select     (settings[47:40]),
      .first      (settings[64+:38]),
      .past       (settings[128+:38]),
      .slope_scale(bug_cdp_lookup_slope ? 32'd0 : settings[320+:32]),
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
      .index      (lo_place),
      .pair       (lo_pair),
      .y          (lo_y)
  );

  nvdla_lut_choice #(
      .COUNTS_ONCE(1)
  ) choice (
      .priorities(settings[6:4] ^ {bug_cdp_lookup_priority, 2'b00}),
      .underflow (underflow),
      .overflow  (overflow),
      .use_lo    (use_lo),
      .events    (choice_events)
  );

  assign lo_index = lo_place + {7'd0, bug_cdp_lookup_index && lo_place != 8'hff};
  assign events = {bug_cdp_lookup_counts_twice ? ~(underflow | overflow) : choice_events[4:3], choice_events[2:0]};
  assign y = use_lo ? lo_y : le_y;
endmodule
