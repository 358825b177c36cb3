// Pre-addition of Winograd convolution (PRA): a 4x4 tile of four channels, the channel
// innermost, then the column, becomes C^T d C. Every sum of two is rounded, in FP17 to
// nearest even, and the result to FP16; integers are divided by 2^PRA_TRUNCATE, halves
// away from zero, and limited to their own precision.
// Source: convolution pipeline; integers as measured on the pre-addition cell of the
// public nv_full RTL; infinity of 65504 from the FP16 data format.
module nvdla_csc_pra (
    input  wire          clk,
    input  wire          take,
    input  wire [   1:0] precision,
    input  wire [   1:0] truncate,
    input  wire [1023:0] tile,
    output reg  [1023:0] transformed
);
  `include "nvdla_float.vh"
  `include "nvdla_integer_math.vh"

  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;

  always @(posedge clk)
    if (take)
      transformed <= (precision == FP16) ? pre_added_float(tile) :
                     pre_added(tile, truncate, (precision == INT8) ? 8 : 16);

  function automatic [1023:0] pre_added(input [1023:0] d, input [1:0] amount, input integer bits);
    integer e;
    reg signed [63:0] sum;
    reg [64*64-1:0] half;  // C^T d
    begin
      /* verilator unroll_disable */
      for (e = 0; e < 64; e = e + 1) begin
        sum = combined(integer_at(d, 16 * first_of(e >> 4) + (e & 15)),
                       integer_at(d, 16 * second_of(e >> 4) + (e & 15)), e >> 4);
        half[64*e+:64] = sum;
      end
      /* verilator unroll_disable */
      for (e = 0; e < 64; e = e + 1) begin
        sum = combined(half[64*((e&51)+4*first_of((e>>2)&3))+:64], half[64*((e&51)+4*second_of((e>>2)&3))+:64],
                       (e >> 2) & 3);
        pre_added[16*e+:16] = limited(shift_round(sum, {4'd0, amount}), bits);
      end
    end
  endfunction

  function automatic [1023:0] pre_added_float(input [1023:0] d);
    integer e;
    reg [64*64-1:0] half;
    begin
      /* verilator unroll_disable */
      for (e = 0; e < 64; e = e + 1)
        half[64*e+:64] = combined_float(float_at(d, 16 * first_of(e >> 4) + (e & 15)),
                                        float_at(d, 16 * second_of(e >> 4) + (e & 15)), e >> 4);
      /* verilator unroll_disable */
      for (e = 0; e < 64; e = e + 1)
        pre_added_float[16*e+:16] = to_fp16($bitstoreal(
            combined_float(half[64*((e&51)+4*first_of((e>>2)&3))+:64], half[64*((e&51)+4*second_of((e>>2)&3))+:64],
                           (e >> 2) & 3)));
    end
  endfunction

  // Row or column n of C^T d C is a sum (1) or difference of two rows or columns of d.
  function automatic integer first_of(input integer n);
    first_of = (n == 0) ? 0 : (n == 2) ? 2 : 1;
  endfunction

  function automatic integer second_of(input integer n);
    second_of = (n == 3) ? 3 : (n == 2) ? 1 : 2;
  endfunction

  function automatic signed [63:0] combined(input signed [63:0] one, input signed [63:0] other, input integer n);
    combined = (n == 1) ? one + other : one - other;
  endfunction

  function automatic [63:0] combined_float(input [63:0] one, input [63:0] other, input integer n);
    combined_float = $realtobits(to_fp17((n == 1) ? $bitstoreal(one) + $bitstoreal(other) :
                                                    $bitstoreal(one) - $bitstoreal(other)));
  endfunction

  function automatic signed [63:0] integer_at(input [1023:0] d, input integer e);
    integer_at = {{48{d[16*e+15]}}, d[16*e+:16]};
  endfunction

  // The bits of a double
  function automatic [63:0] float_at(input [1023:0] d, input integer e);
    if (d[16*e+10+:5] == 5'h1f) float_at = $realtobits(d[16*e+15] ? -65504.0 : 65504.0);
    else float_at = $realtobits(from_fp16(d[16*e+:16]));
  endfunction

  function automatic [15:0] limited(input signed [63:0] v, input integer bits);
    /* verilator lint_off UNUSEDSIGNAL */
    reg signed [31:0] whole;  // its upper half repeats the sign
    /* verilator lint_on UNUSEDSIGNAL */
    begin
      whole   = saturate(v, bits);
      limited = whole[15:0];
    end
  endfunction
endmodule
