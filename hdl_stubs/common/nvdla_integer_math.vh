// Integer arithmetic of several units.

// v / 2^amount, rounded to nearest, halves away from zero. |v| is below 2^62.
function automatic signed [63:0] shift_round(input signed [63:0] v, input [5:0] amount);
  reg signed [63:0] magnitude;
  begin
    magnitude = v[63] ? -v : v;
    if (amount != 6'd0) magnitude = ((magnitude >>> (amount - 6'd1)) + 64'sd1) >>> 1;
    shift_round = v[63] ? -magnitude : magnitude;
  end
endfunction

// v limited to two's complement of at most 32 bits.
function automatic signed [31:0] saturate(input signed [63:0] v, input integer bits);
  reg signed [63:0] highest;
  begin
    highest  = (64'sd1 <<< (bits - 1)) - 64'sd1;
    saturate = (v > highest) ? highest[31:0] : (v < ~highest) ? ~highest[31:0] : v[31:0];
  end
endfunction
