// One lane of one lookup table on floating point: the counterpart of
// nvdla_lut_table for FP16 layers. Values are the bits of a double, START and END
// those of FP32, entries and slopes FP16. No clock.
//
// With STEPS set every step is rounded as the hardware was measured to do in SDP:
// distances to FP32, fractions cut to 35 bits, and all that is made of the entries
// to FP17. Without it only the caller rounds, so that the result stays within the
// published threshold and is seldom equal.
module nvdla_lut_table_float #(
    parameter INDEX = 6,
    parameter STEPS = 0
) (
    input  wire              exponent,
    input  wire signed [7:0] offset,
    input  wire signed [7:0] select,
    input  wire [      31:0] first,        // START
    input  wire [      31:0] past,         // END
    input  wire [      31:0] slope_scale,  // {overflow, underflow}
    input  wire              is_nan,
    input  wire [      63:0] x,
    output reg               underflow,
    output reg               overflow,
    output reg  [ INDEX-1:0] index,
    input  wire [      31:0] pair,
    output wire [      63:0] y,
    output reg  [      16:0] entry_nan     // {what the table used holds a NaN, its bits}
);
  `include "nvdla_float.vh"

  localparam ENTRIES = 1 << INDEX;
  localparam CUT = 34359738368.0;  // 2^35

  real distance, scaled, edge_value;
  /* verilator lint_off UNUSEDSIGNAL */
  reg [63:0] bits;
  /* verilator lint_on UNUSEDSIGNAL */
  integer top, place;
  reg [63:0] fraction;  // bits of a double

  always @* begin
    distance  = step32($bitstoreal(x) - from_fp32(first));
    bits      = $realtobits(distance);
    top       = {21'd0, bits[62:52]} - 1023;
    underflow = is_nan || !(distance > 0.0);
    place     = 0;
    scaled    = 0.0;
    fraction  = 64'd0;
    if (!underflow) begin
      if (exponent) begin
        place     = top - {{24{offset[7]}}, offset};
        fraction = $realtobits($bitstoreal({12'h3ff, bits[51:0]}) - 1.0);
      end else begin
        // Divided by 2^select; a number beyond any table stays an overflow.
        top      = top - {{24{select[7]}}, select};
        scaled   = (top > 20) ? 1048576.0 : (top < -200) ? 0.0 : $bitstoreal({1'b0, top[10:0] + 11'd1023, bits[51:0]});
        place     = $rtoi(scaled);
        scaled   = (scaled - $itor(place)) * CUT;
        fraction = $realtobits(((STEPS != 0) ? $floor(scaled) : scaled) / CUT);
      end
    end
    if (place < 0) underflow = 1'b1;
    overflow = !underflow && (place >= ENTRIES);
    index    = underflow ? {INDEX{1'b0}} : overflow ? {INDEX{1'b1}} : place[INDEX-1:0];
  end

  real y0, y1, share, result;

  always @* begin
    y0 = from_fp16_limited(pair[15:0]);
    y1 = from_fp16_limited(pair[31:16]);
    share = $bitstoreal(fraction);
    edge_value = overflow ? from_fp32(past) : from_fp32(first);
    if (underflow && exponent) edge_value = step32(edge_value + power_of_two(offset));
    if (underflow)
      result = step17(step17(step17(step32($bitstoreal(x) - edge_value)) * from_fp16_limited(slope_scale[15:0])) + y0);
    else if (overflow)
      result = step17(step17(step17(step32($bitstoreal(x) - edge_value)) * from_fp16_limited(slope_scale[31:16])) + y1);
    else result = step17(step17(step17(1.0 - share) * y0) + step17(step17(share) * y1));
  end

  assign y = $realtobits(result);

  wire [15:0] earlier = underflow ? slope_scale[15:0] : overflow ? slope_scale[31:16] : pair[15:0];
  wire [15:0] later = underflow ? pair[15:0] : pair[31:16];

  always @* begin
    entry_nan = {is_nan16(later), later};
    if (is_nan16(earlier)) entry_nan = {1'b1, earlier};
  end

  function automatic real step17(input real v);
    step17 = (STEPS != 0) ? to_fp17(v) : v;
  endfunction

  function automatic real step32(input real v);
    step32 = (STEPS != 0) ? to_fp32(v) : v;
  endfunction

  function automatic real power_of_two(input signed [7:0] n);
    power_of_two = $bitstoreal({1'b0, {{3{n[7]}}, n} + 11'd1023, 52'd0});
  endfunction
endmodule
