// FP16 layers of SDP on the bits of FP32: each operation rounds to nearest even and
// is limited to the largest number; a result below 2^-126 becomes a zero of its
// sign. The rules of NaN and zeros were measured on the public nv_full RTL.

`include "nvdla_float.vh"

/* verilator lint_off UNUSEDSIGNAL */

function automatic fp_is_nan(input [31:0] f);
  fp_is_nan = (f[30:23] == 8'hff) && (f[22:0] != 23'd0);
endfunction

// FP16 to FP32: infinity becomes the largest number, a NaN keeps its sign and, in
// the low bits, its payload, unless it is to become 0.
function automatic [31:0] fp_widened(input [15:0] h, input reg flush);
  if (is_nan16(h)) fp_widened = flush ? 32'd0 : {h[15], 8'hff, 13'd0, h[9:0]};
  else if (h[14:10] == 5'h1f) fp_widened = {h[15], 31'h7f7f_ffff};
  else fp_widened = fp32_bits(from_fp16(h));
endfunction

function automatic [15:0] fp_narrowed(input [31:0] f);
  fp_narrowed = fp_is_nan(f) ? {f[31], 5'h1f, f[9:0]} : to_fp16(from_fp32(f));
endfunction

// What counts in a sum of an operand beside one that may be infinite: the adder
// shifts it out altogether when its exponent is more than 48 below.
function automatic real fp_summand(input [31:0] f, input [31:0] other);
  fp_summand = (other[30:23] == 8'hff && f[30:23] < 8'd207) ? 0.0 : from_fp32(f);
endfunction

// Data come first: of two NaN theirs passes, and an exact zero has their sign. A sum
// with infinity keeps exponent 255 unless it carries, and then looks like infinity or
// NaN; any other sum of 2^128 and more becomes the largest number.
function automatic [31:0] fp_sum(input [31:0] data, input [31:0] operand);
  real exact;
  reg [31:0] quarter;
  begin
    exact   = fp_summand(data, operand) + fp_summand(operand, data);
    quarter = fp32_bits(exact / 4.0);
    if (fp_is_nan(data)) fp_sum = data;
    else if (fp_is_nan(operand)) fp_sum = operand;
    else if (exact == 0.0) fp_sum = {data[31], 31'd0};
    else if ((data[30:23] == 8'hff || operand[30:23] == 8'hff) && fp_reaches(exact) && quarter[30:23] == 8'd253)
      fp_sum = {quarter[31], 8'hff, quarter[22:0]};
    else fp_sum = fp32_bits(exact);
  end
endfunction

// Whether a number is 2^128 or larger in magnitude
function automatic fp_reaches(input real v);
  reg [63:0] bits;
  begin
    bits       = $realtobits(v);
    fp_reaches = bits[62:52] >= 11'd1151;
  end
endfunction

function automatic [31:0] fp_product(input [31:0] data, input [31:0] operand);
  if (fp_is_nan(data)) fp_product = data;
  else if (fp_is_nan(operand)) fp_product = operand;
  else fp_product = fp32_bits(from_fp32(data) * from_fp32(operand));
endfunction

// Whether a comes after b; +0 comes after -0.
function automatic fp_above(input [31:0] a, input [31:0] b);
  fp_above = (a[31] ? ~a : {1'b1, a[30:0]}) > (b[31] ? ~b : {1'b1, b[30:0]});
endfunction

function automatic [31:0] fp_alu(input [1:0] algorithm, input [31:0] data, input [31:0] operand);
  if (algorithm[1]) fp_alu = fp_sum(data, operand);
  else if (fp_is_nan(data)) fp_alu = data;
  else if (fp_is_nan(operand)) fp_alu = operand;
  else fp_alu = (fp_above(operand, data) != algorithm[0]) ? operand : data;
endfunction

/* verilator lint_on UNUSEDSIGNAL */
