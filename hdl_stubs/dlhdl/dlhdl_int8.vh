// Integer arithmetic of int8.
  `DLHDL_BUG(requantise_truncates)
  `DLHDL_BUG(requantise_wraps)
  `DLHDL_BUG(average_truncates)

  // Limited to what int8 holds
  function [31:0] int8_limit(input signed [95:0] value);
    if (bug_requantise_wraps) int8_limit = {{24{value[7]}}, value[7:0]};
    else if (value > 96'sd127) int8_limit = 32'd127;
    else if (value < -96'sd128) int8_limit = 32'hFFFFFF80;
    else int8_limit = value[31:0];
  endfunction

  // value * 2^-wanted, halves up, limited
  function [31:0] int8_requantise(input signed [95:0] value, input signed [15:0] wanted);
    reg signed [15:0] limited;
    reg [5:0] distance;
    reg signed [95:0] half;
    begin
      limited = (wanted > 16'sd47) ? 16'sd47 : (wanted < -16'sd31) ? -16'sd31 : wanted;
      distance = (limited > 16'sd0) ? limited[5:0] : -limited[5:0];
      half = bug_requantise_truncates ? 96'sd0 : (96'sd1 <<< distance) >>> 1;
      if (limited > 16'sd0) int8_requantise = int8_limit((value + half) >>> distance);
      else int8_requantise = int8_limit(value <<< distance);
    end
  endfunction

  // sum * 2^scale / count, halves up, limited
  function [31:0] int8_average(input signed [31:0] sum, input [15:0] count, input signed [15:0] scale);
    reg signed [95:0] n, d, top, quotient;
    begin
      n = {{64{sum[31]}}, sum};
      d = {80'd0, count};
      if (scale > 16'sd0) n = n <<< scale[7:0];
      else d = d <<< -scale[7:0];
      top = bug_average_truncates ? (n <<< 1) : ((n <<< 1) + d);
      quotient = top / (d <<< 1);
      // Division rounds to zero; a quotient that is negative is one too large unless it is exact.
      if (top < 96'sd0 && quotient * (d <<< 1) != top) quotient = quotient - 96'sd1;
      int8_average = int8_limit(quotient);
    end
  endfunction
