// Arithmetic of single: IEEE 754, to nearest, halves to even; subnormal operands and results
// count as 0. A result is subnormal when its exponent is too small before it is rounded.
// Every NaN that is computed is SINGLE_NAN.
  `DLHDL_BUG(single_product_short)
  `DLHDL_BUG(single_sum_unsigned)
  localparam [31:0] SINGLE_NAN = 32'h7FC00000;

  /* verilator lint_off UNUSEDSIGNAL */
  function single_nan(input [31:0] v);
    single_nan = (v[30:23] == 8'hFF) && (v[22:0] != 23'd0);
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */

  function [31:0] single_flush(input [31:0] v);
    single_flush = (v[30:23] == 8'd0) ? {v[31], 31'd0} : v;
  endfunction

  // 1.mantissa * 2^(exponent - 127), with what lies below the last bit
  function [31:0] single_round(input sign, input signed [11:0] power, input [23:0] mantissa, input half, input rest);
    /* verilator lint_off UNUSEDSIGNAL */
    reg [24:0] rounded;
    /* verilator lint_on UNUSEDSIGNAL */
    reg signed [11:0] e;
    begin
      rounded = {1'b0, mantissa} + {24'd0, half && (rest || mantissa[0])};
      e = power + {11'd0, rounded[24]};
      if (power <= 12'sd0) single_round = {sign, 31'd0};
      else if (e >= 12'sd255) single_round = {sign, 8'hFF, 23'd0};
      else single_round = {sign, e[7:0], rounded[22:0]};
    end
  endfunction

  function [31:0] single_product(input [31:0] a, input [31:0] b);
    reg sign;
    reg signed [11:0] e;
    reg [47:0] p;
    begin
      sign = a[31] ^ b[31];
      p = {24'd0, 1'b1, a[22:0]} * {24'd0, 1'b1, b[22:0]};
      e = $signed({4'd0, a[30:23]}) + $signed({4'd0, b[30:23]}) - 12'sd127;
      if (single_nan(a) || single_nan(b)) single_product = SINGLE_NAN;
      else if (a[30:23] == 8'hFF || b[30:23] == 8'hFF)
        single_product = (a[30:23] == 8'd0 || b[30:23] == 8'd0) ? SINGLE_NAN : {sign, 8'hFF, 23'd0};
      else if (a[30:23] == 8'd0 || b[30:23] == 8'd0) single_product = {sign, 31'd0};
      else if (p[47]) single_product = single_round(sign, e + 12'sd1, p[47:24], p[23], |p[22:0]);
      else single_product = single_round(sign, e, p[46:23], p[22], |p[21:0]);
      if (bug_single_product_short) single_product = single_product & 32'hFFFFF000;
    end
  endfunction

  function [31:0] single_sum(input [31:0] first, input [31:0] second);
    reg [31:0] a, b;
    reg [7:0] apart;
    reg signed [11:0] e;
    reg [51:0] high, low, sum;
    integer i;
    begin
      // a is the one of the larger magnitude
      a = (first[30:0] >= second[30:0]) ? first : second;
      b = (first[30:0] >= second[30:0]) ? second : first;
      apart = a[30:23] - b[30:23];
      high = {2'b01, a[22:0], 27'd0};
      low = (apart > 8'd26) ? 52'd1 : ({2'b01, b[22:0], 27'd0} >> apart);
      sum = (a[31] == b[31] || bug_single_sum_unsigned) ? high + low : high - low;
      e = {4'd0, a[30:23]};
      if (single_nan(a) || single_nan(b)) single_sum = SINGLE_NAN;
      else if (a[30:23] == 8'hFF)
        single_sum = (b[30:23] == 8'hFF && a[31] != b[31]) ? SINGLE_NAN : a;
      else if (a[30:23] == 8'd0) single_sum = {a[31] & b[31], 31'd0};
      else if (b[30:23] == 8'd0) single_sum = a;
      else if (sum == 52'd0) single_sum = 32'd0;
      else if (sum[51]) single_sum = single_round(a[31], e + 12'sd1, sum[51:28], sum[27], |sum[26:0]);
      else begin
        for (i = 5; i >= 0; i = i - 1)
          if ((sum[50:0] >> (51 - (1 << i))) == 51'd0) begin
            sum = sum << (1 << i);
            e = e - (12'sd1 <<< i);
          end
        single_sum = single_round(a[31], e, sum[50:27], sum[26], |sum[25:0]);
      end
    end
  endfunction

  // The larger one; a NaN is larger than all, +0 than -0.
  function [31:0] single_larger(input [31:0] first, input [31:0] second);
    reg [31:0] a, b;
    begin
      a = single_flush(first);
      b = single_flush(second);
      if (single_nan(a) || single_nan(b)) single_larger = SINGLE_NAN;
      else single_larger = ((a[31] ? ~a : {1'b1, a[30:0]}) >= (b[31] ? ~b : {1'b1, b[30:0]})) ? a : b;
    end
  endfunction

  // The nearest single to 1 / count
  function [31:0] single_reciprocal(input [15:0] count);
    reg [4:0] log2;
    /* verilator lint_off UNUSEDSIGNAL */
    reg [63:0] top, mantissa;
    /* verilator lint_on UNUSEDSIGNAL */
    integer i;
    begin
      log2 = 5'd0;
      for (i = 1; i < 16; i = i + 1) if (count[i]) log2 = i[4:0];
      if (count == (16'd1 << log2)) single_reciprocal = {1'b0, 8'd127 - {3'd0, log2}, 23'd0};
      else begin
        // No quotient lies half-way, as no such count divides a power of two.
        top = 64'd1 << (6'd24 + {1'b0, log2});
        mantissa = ((top << 1) / {48'd0, count} + 64'd1) >> 1;
        single_reciprocal = {1'b0, 8'd126 - {3'd0, log2}, 23'd0} + mantissa[31:0] - 32'h00800000;
      end
    end
  endfunction
