// Integer arithmetic shared by the SDP stages.

// v / 2^amount, rounded to nearest, halves away from zero. |v| is at most 2^47.
function automatic signed [48:0] shift_round(input signed [48:0] v, input [5:0] amount);
  reg [48:0] magnitude;
  begin
    magnitude = v[48] ? -v : v;
    if (amount != 6'd0) magnitude = ((magnitude >> (amount - 6'd1)) + 49'd1) >> 1;
    shift_round = v[48] ? -magnitude : magnitude;
  end
endfunction

// v limited to two's complement of at most 32 bits.
function automatic signed [31:0] saturate(input signed [48:0] v, input integer bits);
  reg signed [48:0] highest;
  begin
    highest  = (49'sd1 <<< (bits - 1)) - 49'sd1;
    saturate = (v > highest) ? highest[31:0] : (v < ~highest) ? ~highest[31:0] : v[31:0];
  end
endfunction
