// Accumulators of INT8: a stripe of totals in 34 bits, and the results of the last one
// that was complete.
`include "nvdla_bugs.vh"

module nvdla_cacc_arithmetic #(
    parameter SLOTS = 8,
    parameter SUM_BITS = 20,
    parameter LOG2_STRIPE = 6
) (
    input  wire                      clk,
    input  wire [               5:0] truncate,
    input  wire                      floors,   // instead of rounding
    input  wire                      take,
    input  wire [SUM_BITS*SLOTS-1:0] sums,
    input  wire [   LOG2_STRIPE-1:0] index,
    input  wire                      first,
    input  wire                      last,
    output reg  [      32*SLOTS-1:0] results,
    output reg  [              31:0] limited   // of them
);
  `include "nvdla_cacc_math.vh"

  `NVDLA_BUG(conv_accumulator_narrow)

  localparam A = 34;
  localparam NARROW = 16;

  reg [A*SLOTS-1:0] accumulators[0:(1<<LOG2_STRIPE)-1];
  reg [A*SLOTS-1:0] earlier, totals;
  reg [SUM_BITS-1:0] sum;
  reg [33*SLOTS-1:0] delivered;  // each {limited, 32 bits}
  integer i, k, c;

  always @* begin
    earlier = first ? 0 : accumulators[index];
    for (i = 0; i < SLOTS; i = i + 1) begin
      sum = sums[SUM_BITS*i+:SUM_BITS];
      totals[A*i+:A] = earlier[A*i+:A] + {{(A - SUM_BITS) {sum[SUM_BITS-1]}}, sum};
      if (bug_conv_accumulator_narrow) totals[A*i+NARROW+:A-NARROW] = {(A - NARROW) {totals[A*i+NARROW-1]}};
    end
  end

  always @(posedge clk) if (take) accumulators[index] <= totals;

  always @(posedge clk)
    if (take && last)
      for (k = 0; k < SLOTS; k = k + 1)
        delivered[33*k+:33] <= clipped({{(64 - A) {totals[A*k+A-1]}}, totals[A*k+:A]}, truncate, floors);

  always @* begin
    limited = 32'd0;
    for (c = 0; c < SLOTS; c = c + 1) begin
      results[32*c+:32] = delivered[33*c+:32];
      limited = limited + {31'd0, delivered[33*c+32]};
    end
  end
endmodule
