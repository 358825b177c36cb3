// The MAC cells of a CMAC in all precisions: 64 multipliers for one kernel, or for two
// of INT8, which comes widened to 16 bits.
//
// A slot has four sums, all but the first for Winograd, each {there is a NaN, 64 bits}:
// an integer, the bits of a double, or the NaN. In FP16 the products are exact, and the
// sum of 64 of them is made in the order of the channels, each addition rounded to 24
// bits. The hardware aligns all products before it adds them up; both stay within the
// published threshold. Infinity counts as 65536, in Winograd mode 65504. The NaN of an
// operation is the weights' first one, else the first one of the data.
//
// Winograd: four products are summed up for each of the 16 positions of a tile, and the
// post-addition (POA) makes four outputs of them, column by column, then row by row.
// Source: convolution pipeline; NaN as measured on the public nv_full RTL.
module nvdla_cmac_arithmetic_full #(
    parameter SLOTS = 16
) (
    input  wire                     clk,
    input  wire                     rst_n,
    input  wire [              2:0] mode,             // {Winograd, precision}
    input  wire                     fresh,            // a new set of weights begins
    input  wire                     store,
    input  wire [$clog2(SLOTS)-1:0] store_slot,
    input  wire [           1023:0] kernel_elements,
    input  wire                     weights_load,
    input  wire                     take,
    input  wire [           1023:0] op_elements,
    input  wire [             16:0] op_nan,           // {there is one, the first one}
    output reg  [   SLOTS*4*65-1:0] sums
);
  `include "nvdla_float.vh"

  localparam [1:0] FP16 = 2'd2;
  localparam KW = $clog2(SLOTS);

  wire winograd = mode[2];
  wire is_float = (mode[1:0] == FP16);

  // Weights, as integers or as doubles: the set in use and the one that arrives
  reg [63:0] factors[0:2*SLOTS*64-1];
  reg [16:0] factor_nan[0:2*SLOTS-1];
  reg [SLOTS-1:0] used, arrived;  // slots that hold a kernel
  reg in_use;
  integer i;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      in_use  <= 1'b0;
      used    <= 0;
      arrived <= 0;
    end else begin
      if (fresh) arrived <= 0;
      if (store) arrived[store_slot] <= 1'b1;
      if (weights_load) begin
        in_use <= !in_use;
        used   <= arrived;
      end
    end

  always @(posedge clk)
    if (store) begin
      /* verilator unroll_disable */
      for (i = 0; i < 64; i = i + 1)
        factors[{!in_use, store_slot, i[5:0]}] <= number(kernel_elements[16*i+:16], mode);
      factor_nan[{!in_use, store_slot}] <= first_nan(kernel_elements);
    end

  // Input elements as integers or as doubles, and the sums of all cells
  reg [64*64-1:0] data;
  integer e, k;

  always @* begin
    /* verilator unroll_disable */
    for (e = 0; e < 64; e = e + 1) data[64*e+:64] = number(op_elements[16*e+:16], mode);
  end

  always @(posedge clk)
    if (take) begin
      /* verilator unroll_disable */
      for (k = 0; k < SLOTS; k = k + 1) sums[4*65*k+:4*65] <= used[k] ? sums_of(k[KW-1:0]) : 260'd0;
    end

  function automatic [4*65-1:0] sums_of(input [KW-1:0] which);
    integer p;
    reg [64*16-1:0] tile;
    reg [16:0] nan;
    begin
      nan = factor_nan[{in_use, which}];
      if (!nan[16]) nan = op_nan;
      tile = 1024'd0;
      sums_of = 260'd0;
      if (is_float && nan[16]) sums_of = {4{1'b1, 48'd0, nan[15:0]}};
      else if (winograd) begin
        /* verilator unroll_disable */
        for (p = 0; p < 16; p = p + 1) tile[64*p+:64] = dot(which, 4 * p, 4);
        /* verilator unroll_disable */
        for (p = 0; p < 4; p = p + 1) sums_of[65*p+:64] = post_added(tile, p >> 1, p & 1);
      end else sums_of[63:0] = dot(which, 0, 64);
    end
  endfunction

  function automatic [63:0] dot(input [KW-1:0] which, input integer first, input integer count);
    integer n;
    begin
      dot = 64'd0;
      /* verilator unroll_disable */
      for (n = first; n < first + count; n = n + 1)
        if (is_float)
          dot = rounded_24($bitstoreal(dot) + $bitstoreal(data[64*n+:64]) * $bitstoreal(
              factors[{in_use, which, n[5:0]}]));
        else dot = dot + data[64*n+:64] * factors[{in_use, which, n[5:0]}];
    end
  endfunction

  // Row and column of an output in its 2x2: sums of three columns, then of three rows
  function automatic [63:0] post_added(input [64*16-1:0] products, input integer row, input integer column);
    integer r;
    reg [64*4-1:0] half;
    begin
      /* verilator unroll_disable */
      for (r = 0; r < 4; r = r + 1)
        half[64*r+:64] = three(products[64*(4*r+column)+:64], products[64*(4*r+column+1)+:64],
                               products[64*(4*r+column+2)+:64], column);
      post_added = three(half[64*row+:64], half[64*(row+1)+:64], half[64*(row+2)+:64], row);
    end
  endfunction

  function automatic [63:0] three(input [63:0] a, input [63:0] b, input [63:0] c, input integer minus);
    if (is_float && minus != 0)
      three = rounded_24($bitstoreal(rounded_24($bitstoreal(a) - $bitstoreal(b))) - $bitstoreal(c));
    else if (is_float) three = rounded_24($bitstoreal(rounded_24($bitstoreal(a) + $bitstoreal(b))) + $bitstoreal(c));
    else three = (minus != 0) ? a - b - c : a + b + c;
  endfunction

  function automatic [63:0] number(input [15:0] bits, input [2:0] as);
    if (as[1:0] != FP16) number = {{48{bits[15]}}, bits};
    else if (as[2] && bits[14:10] == 5'h1f) number = $realtobits(bits[15] ? -65504.0 : 65504.0);
    else number = $realtobits(from_fp16(bits));
  endfunction
endmodule
