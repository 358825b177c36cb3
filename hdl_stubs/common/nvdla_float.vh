// Floating point on doubles. A double holds every value of FP16, FP17 and FP32
// and the exact product or, but for one sticky bit that cannot matter, the sum of
// two; hence rounding it once more to the wanted format rounds correctly. NaN and
// infinity are left to the caller. The includer may use a part of this.

/* verilator lint_off UNUSEDSIGNAL */

// v with so many bits after the leading one, to nearest, halves to even; values
// above the format become its largest one, those below 2^lowest become denormal
// or, without denormals, a zero of their sign.
function automatic real float_rounded(input real v, input integer mantissa, input integer lowest,
                                      input integer highest, input reg denormals);
  reg [63:0] bits, unit;
  integer power, cut;
  begin
    bits     = $realtobits(v);
    power = {21'd0, bits[62:52]} - 1023;
    cut      = 52 - mantissa;
    if (denormals && power < lowest) cut = cut + lowest - power;
    if (bits[62:0] == 63'd0 || cut > 53) bits[62:0] = 63'd0;
    else if (cut == 53) bits[62:0] = (bits[51:0] == 52'd0) ? 63'd0 : {11'd0 + power[10:0] + 11'd1024, 52'd0};
    else begin
      unit = 64'd1 << cut;
      // Half a unit, less one when the last bit that stays is 0
      bits[62:0] = bits[62:0] + {1'b0, unit[62:1]} - ((cut == 52 || bits[cut[5:0]]) ? 63'd0 : 63'd1);
      bits[62:0] = bits[62:0] & ~(unit[62:0] - 63'd1);
      power   = {21'd0, bits[62:52]} - 1023;
      if (power > highest) bits[62:0] = {11'd1023 + highest[10:0], ~(52'hf_ffff_ffff_ffff >> mantissa)};
      if (!denormals && power < lowest) bits[62:0] = 63'd0;
    end
    float_rounded = $bitstoreal(bits);
  end
endfunction

function automatic real to_fp17(input real v);
  to_fp17 = float_rounded(v, 10, -30, 31, 1'b0);
endfunction

function automatic real to_fp32(input real v);
  to_fp32 = float_rounded(v, 23, -126, 127, 1'b0);
endfunction

// Value of FP16 bits; exponent 31 is taken as a number.
function automatic real from_fp16(input [15:0] h);
  reg [63:0] bits;
  begin
    bits = {1'b0, 11'd1008 + {6'd0, (h[14:10] == 5'd0) ? 5'd1 : h[14:10]}, h[9:0], 42'd0};
    from_fp16 = $bitstoreal(bits);
    if (h[14:10] == 5'd0) from_fp16 = from_fp16 - 1.0 / 16384.0;
    bits = $realtobits(from_fp16);
    from_fp16 = $bitstoreal({h[15], bits[62:0]});
  end
endfunction

// Value of FP16 bits in FP17, where infinity is the largest number.
function automatic real from_fp16_limited(input [15:0] h);
  if (h[14:10] == 5'h1f) from_fp16_limited = $bitstoreal({h[15], 11'd1054, 10'h3ff, 42'd0});
  else from_fp16_limited = from_fp16(h);
endfunction

// FP16 bits of a number, with denormals, at most 65504.
function automatic [15:0] to_fp16(input real v);
  reg [63:0] bits;
  reg [10:0] denormal;
  integer power;
  begin
    bits     = $realtobits(float_rounded(v, 10, -14, 15, 1'b1));
    power = {21'd0, bits[62:52]} - 1023;
    denormal = {1'b1, bits[51:42]} >> (-14 - power);
    if (bits[62:0] == 63'd0) to_fp16 = {bits[63], 15'd0};
    else if (power < -14) to_fp16 = {bits[63], 5'd0, denormal[9:0]};
    else to_fp16 = {bits[63], power[4:0] + 5'd15, bits[51:42]};
  end
endfunction

// Value of FP32 bits. Exponent 255 is an exponent like any other, so infinity is 2^128, and a denormal is
// 1.mantissa * 2^-127: measured on the public nv_full RTL, where a Y operand of
// 0x123 turns the sign of x * r + r from x = -2 on.
function automatic real from_fp32(input [31:0] f);
  if (f[30:0] == 31'd0) from_fp32 = $bitstoreal({f[31], 63'd0});
  else from_fp32 = $bitstoreal({f[31], 11'd896 + {3'd0, f[30:23]}, f[22:0], 29'd0});
endfunction

// FP32 bits of a number.
function automatic [31:0] fp32_bits(input real v);
  reg [63:0] bits;
  reg [10:0] power;
  begin
    bits      = $realtobits(float_rounded(v, 23, -126, 127, 1'b0));
    power  = bits[62:52] - 11'd896;
    fp32_bits = (bits[62:0] == 63'd0) ? {bits[63], 31'd0} : {bits[63], power[7:0], bits[51:29]};
  end
endfunction

// The bits of a double with 24 bits, halves away from zero
function automatic [63:0] rounded_24(input real v);
  rounded_24 = ($realtobits(v) + 64'h1000_0000) & ~64'h1fff_ffff;
endfunction

// Of 64 FP16 elements: {there is a NaN, the first one}
function automatic [16:0] first_nan(input [1023:0] bits);
  integer n;
  begin
    first_nan = 17'd0;
    /* verilator unroll_disable */
    for (n = 63; n >= 0; n = n - 1) if (is_nan16(bits[16*n+:16])) first_nan = {1'b1, bits[16*n+:16]};
  end
endfunction

function automatic is_nan16(input [15:0] h);
  is_nan16 = (h[14:10] == 5'h1f) && (h[9:0] != 10'd0);
endfunction

/* verilator lint_on UNUSEDSIGNAL */
