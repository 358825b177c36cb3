// CSC_DL of a configuration with all precisions: the input elements of one atomic
// operation, out of the convolution buffer, one clock; INT8 is widened to 16 bits.
//
// Direct convolution: one column of a line, the channels of one block; columns and
// lines outside the cube are padding. Winograd, in 16 bits: a 4x4 tile of four
// channels, the channel innermost, then the column, passed through the pre-addition
// (PRA): every sum of two is rounded, in FP17 to nearest even, and the result to FP16;
// integers are divided by 2^PRA_TRUNCATE, halves away from zero, and limited.
// Source: convolution pipeline; Winograd's infinity of 65504 from the FP16 data format.
module nvdla_csc_full_dl #(
    parameter ADDR_BITS = 14
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    advance,
    input  wire                    winograd,
    input  wire [             1:0] precision,
    input  wire [             1:0] pra_truncate,
    input  wire [            12:0] width,         // minus one
    input  wire [            12:0] height,        // minus one
    input  wire [            15:0] pad_value,
    input  wire [     ADDR_BITS:0] first,         // word of the oldest slice
    input  wire [     ADDR_BITS:0] capacity,      // words
    input  wire [     ADDR_BITS:0] slice_words,
    input  wire                    issue,
    input  wire signed [     17:0] x,             // first column
    input  wire signed [     17:0] y,             // first line
    input  wire [            12:0] block,         // of channels
    input  wire [             6:0] length,        // channels of it; direct convolution only
    output wire [16*ADDR_BITS-1:0] addr,
    input  wire [      16*256-1:0] data,
    output reg                     valid,
    output reg  [          1023:0] elements,
    output reg  [            16:0] nan
);
  `include "nvdla_float.vh"
  `include "nvdla_integer_math.vh"

  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;

  wire is_byte = (precision == INT8);

  // Words since the oldest slice; sums stay below twice the size of the buffer for
  // everything that is used.
  wire [31:0] surface_words = {18'd0, {1'b0, width} + 14'd1};
  wire [31:0] surface = {19'd0, winograd ? block >> 2 : is_byte ? block << 1 : block << 2};
  /* verilator lint_off UNUSEDSIGNAL */
  reg [31:0] word_at;
  /* verilator lint_on UNUSEDSIGNAL */
  reg [16*ADDR_BITS-1:0] word_addr;
  integer a;

  assign addr = word_addr;

  always @* begin
    /* verilator unroll_disable */
    for (a = 0; a < 16; a = a + 1) begin
      word_at = winograd ? ({{14{y[17]}}, y} + (a >> 2)) * slice_words + surface * surface_words + (a & 3) :
                           {{14{y[17]}}, y} * slice_words + (surface + a) * surface_words;
      word_at = word_at + {{14{x[17]}}, x} + {{(31 - ADDR_BITS) {1'b0}}, first};
      if (word_at >= {{(31 - ADDR_BITS) {1'b0}}, capacity})
        word_at = word_at - {{(31 - ADDR_BITS) {1'b0}}, capacity};
      word_addr[ADDR_BITS*a+:ADDR_BITS] = word_at[ADDR_BITS-1:0];
    end
  end

  wire outside = x < 18'sd0 || x > $signed({5'd0, width}) || y < 18'sd0 || y > $signed({5'd0, height});
  reg [1023:0] gathered;
  reg [16:0] gathered_nan;
  integer i;

  // Elements as they lie in the buffer
  always @* begin
    gathered = 1024'd0;
    gathered_nan = 17'd0;
    /* verilator unroll_disable */
    for (i = 0; i < 64; i = i + 1)
      if (winograd) begin
        gathered[16*i+:16] = data[256*(i/4)+64*block[1:0]+16*(i%4)+:16];
      end else if (i < {25'd0, length}) begin
        if (outside) gathered[16*i+:16] = is_byte ? widened(pad_value[7:0]) : pad_value;
        else if (is_byte) gathered[16*i+:16] = widened(data[8*i+:8]);
        else gathered[16*i+:16] = data[16*i+:16];
      end
    if (precision == FP16) begin
      /* verilator unroll_disable */
      for (i = 63; i >= 0; i = i - 1)
        if (is_nan16(gathered[16*i+:16])) gathered_nan = {1'b1, gathered[16*i+:16]};
    end
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) valid <= 1'b0;
    else if (advance) valid <= issue;

  always @(posedge clk)
    if (advance && issue) begin
      nan      <= gathered_nan;
      elements <= !winograd ? gathered : (precision == FP16) ? pre_added_float(gathered) : pre_added(gathered);
    end

  function automatic [15:0] widened(input [7:0] byte_value);
    widened = {{8{byte_value[7]}}, byte_value};
  endfunction

  function automatic [1023:0] pre_added(input [1023:0] tile);
    integer e;
    reg signed [63:0] sum;
    reg [64*64-1:0] half;  // C^T d
    begin
      /* verilator unroll_disable */
      for (e = 0; e < 64; e = e + 1) begin
        sum = combined(integer_at(tile, 16 * first_of(e >> 4) + (e & 15)),
                       integer_at(tile, 16 * second_of(e >> 4) + (e & 15)), e >> 4);
        half[64*e+:64] = sum;
      end
      /* verilator unroll_disable */
      for (e = 0; e < 64; e = e + 1) begin
        sum = combined(half[64*((e&51)+4*first_of((e>>2)&3))+:64], half[64*((e&51)+4*second_of((e>>2)&3))+:64],
                       (e >> 2) & 3);
        pre_added[16*e+:16] = saturated(shift_round(sum, {4'd0, pra_truncate}));
      end
    end
  endfunction

  function automatic [1023:0] pre_added_float(input [1023:0] tile);
    integer e;
    reg [64*64-1:0] half;
    begin
      /* verilator unroll_disable */
      for (e = 0; e < 64; e = e + 1)
        half[64*e+:64] = combined_float(float_at(tile, 16 * first_of(e >> 4) + (e & 15)),
                                        float_at(tile, 16 * second_of(e >> 4) + (e & 15)), e >> 4);
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

  function automatic signed [63:0] integer_at(input [1023:0] tile, input integer e);
    integer_at = {{48{tile[16*e+15]}}, tile[16*e+:16]};
  endfunction

  // The bits of a double
  function automatic [63:0] float_at(input [1023:0] tile, input integer e);
    if (tile[16*e+10+:5] == 5'h1f) float_at = $realtobits(tile[16*e+15] ? -65504.0 : 65504.0);
    else float_at = $realtobits(from_fp16(tile[16*e+:16]));
  endfunction

  function automatic [15:0] saturated(input signed [63:0] v);
    /* verilator lint_off UNUSEDSIGNAL */
    reg signed [31:0] limited;  // its upper half repeats the sign
    /* verilator lint_on UNUSEDSIGNAL */
    begin
      limited   = saturate(v, 16);
      saturated = limited[15:0];
    end
  endfunction
endmodule
