// Which of the two tables gives the result, LE in bit 0 and LO in bit 1 of the
// flags, and what is counted. Measured on the public RTL:
//
//   SDP  a hit of a table whether or not its result is used, as hybrid every input that
//        hits at all, as underflow or overflow a miss of both, by the table whose result
//        is used
//   CDP  each input once: a hit of one table only, as underflow or overflow what lies on
//        that side of both tables, as hybrid all others
//
// Source: LUT programming guide, hit/miss behaviour.
module nvdla_lut_choice #(
    parameter COUNTS_ONCE = 0  // the rule of CDP
) (
    input  wire [2:0] priorities,  // {hybrid, overflow, underflow}: 1 for LO
    input  wire [1:0] underflow,
    input  wire [1:0] overflow,
    output wire       use_lo,
    output wire [4:0] events       // {LO hit, LE hit, hybrid, overflow, underflow}
);
  wire [1:0] hits = ~(underflow | overflow);
  wire one_hits = ^hits;
  wire both_under = &underflow;
  wire both_over = &overflow;

  assign use_lo = one_hits ? hits[1] : both_under ? priorities[0] : both_over ? priorities[1] : priorities[2];
  assign events = (COUNTS_ONCE == 0) ? {hits, |hits, overflow[use_lo], underflow[use_lo]} :
      {one_hits ? hits : 2'd0, !one_hits && !both_over && !both_under, both_over, both_under};
endmodule
