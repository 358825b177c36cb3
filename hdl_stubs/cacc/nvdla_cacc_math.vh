// What CACC makes of a total of integers, {it was limited, INT32}: the total is divided by
// 2^cut, halves away from zero, and limited to 32 bits. Measured on the public nv_small
// RTL: of a cut above 16, what lies below those 16 bits is dropped before; a negative
// total counts as limited when it is too large unrounded.
`include "nvdla_integer_math.vh"

/* verilator lint_off UNUSEDSIGNAL */
function automatic [32:0] clipped(input signed [63:0] sum, input [5:0] cut, input down);
  reg signed [63:0] kept, whole, nearest;
  reg [5:0] shift;
  begin
    shift   = (cut > 6'd16) ? 6'd16 : cut;
    kept    = sum >>> (cut - shift);
    whole   = kept >>> shift;
    nearest = down ? whole : shift_round(kept, shift);
    clipped = {sum[63] ? whole < -64'sh8000_0000 : nearest > 64'sh7fff_ffff, saturate(nearest, 32)};
  end
endfunction
/* verilator lint_on UNUSEDSIGNAL */
