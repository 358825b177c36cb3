// Accumulators of all precisions: a stripe of totals, four for each slot, and the
// results of the last one that was complete. A total is {there is a NaN, 64 bits}.
//
// FP16 sums are added up with 24 bits and become FP32; the first NaN of an output
// stays. A slot is a channel of INT8; the other precisions use the even ones.
module nvdla_cacc_arithmetic_full #(
    parameter SLOTS = 32,
    parameter LOG2_STRIPE = 5
) (
    input  wire                   clk,
    input  wire [            2:0] mode,      // {Winograd, precision}
    input  wire [            5:0] truncate,
    input  wire                   floors,    // instead of rounding
    input  wire                   take,
    input  wire [ SLOTS*4*65-1:0] sums,
    input  wire [LOG2_STRIPE-1:0] index,
    input  wire                   first,
    input  wire                   last,
    input  wire [            1:0] position,  // of a 2x2
    output reg  [   32*SLOTS-1:0] results,
    output reg  [           31:0] limited    // of them
);
  `include "nvdla_float.vh"
  `include "nvdla_cacc_math.vh"

  localparam KW = $clog2(4 * SLOTS);
  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;

  wire winograd = mode[2];
  wire is_byte = (mode[1:0] == INT8);
  wire is_float = (mode[1:0] == FP16);

  reg [64:0] accumulators[0:(1<<(LOG2_STRIPE+KW))-1];
  reg [4*SLOTS*33-1:0] delivered;  // each {limited, 32 bits}
  integer i, c;

  always @(posedge clk)
    if (take) begin
      /* verilator unroll_disable */
      for (i = 0; i < 4 * SLOTS; i = i + 1)
        if ((is_byte || !i[2]) && (winograd || i[1:0] == 2'd0)) begin
          accumulators[{index, i[KW-1:0]}] <= total(sums[65*i+:65], accumulators[{index, i[KW-1:0]}]);
          if (last)
            delivered[33*(SLOTS*i[1:0]+(is_byte?i>>2 : i>>3))+:33] <= result(
                total(sums[65*i+:65], accumulators[{index, i[KW-1:0]}]));
        end
    end

  always @* begin
    limited = 32'd0;
    /* verilator unroll_disable */
    for (c = 0; c < SLOTS; c = c + 1)
      if (is_byte || c < SLOTS / 2) begin
        results[32*c+:32] = delivered[33*(SLOTS*position+c)+:32];
        limited = limited + {31'd0, delivered[33*(SLOTS*position+c)+32]};
      end else results[32*c+:32] = 32'd0;
  end

  function automatic [64:0] total(input [64:0] sum, input [64:0] earlier);
    if (first) total = sum;
    else if (earlier[64]) total = earlier;
    else if (sum[64]) total = sum;
    else if (is_float) total = {1'b0, rounded_24($bitstoreal(earlier[63:0]) + $bitstoreal(sum[63:0]))};
    else total = {1'b0, earlier[63:0] + sum[63:0]};
  endfunction

  function automatic [32:0] result(input [64:0] value);  // {limited, 32 bits}
    if (value[64]) result = {1'b0, value[15], 8'hff, 13'd0, value[9:0]};
    else if (is_float) result = {1'b0, fp32_bits($bitstoreal(value[63:0]))};
    else result = clipped(value[63:0], truncate, floors);
  endfunction
endmodule
