// One lane of one lookup table on integers: where a value lies in the table, and
// what the table makes of it. No clock.
//
// Linear: entry i stands for START + (i << SELECT). Exponent: entry i stands for
// START + 2^(OFFSET + i). Between two entries the result is interpolated, outside
// it follows the slope of that end from the end's entry. A value at START
// underflows, one at the last entry overflows; below an exponent table the slope
// begins at its first entry, START + 2^OFFSET.
// Source: LUT programming guide; the fraction keeps FRACTION bits, and the product
// that is rounded (half away from zero) is that of the difference in CDP and the
// sum of two products in SDP (TWO_PRODUCTS): measured on the public nv_full RTL.
`include "nvdla_bugs.vh"

module nvdla_lut_table #(
    parameter X = 38,  // bits of a value
    parameter Y = 16,  // bits of a result
    parameter FRACTION = 16,
    parameter INDEX = 6,  // bits of an index
    parameter TWO_PRODUCTS = 0
) (
    input  wire                exponent,
    input  wire signed [  7:0] offset,
    input  wire signed [  7:0] select,
    input  wire signed [X-1:0] first,       // START
    input  wire signed [X-1:0] past,        // END
    input  wire        [ 31:0] slope_scale, // {overflow, underflow}
    input  wire        [  9:0] slope_shift,
    input  wire signed [X-1:0] x,
    output reg                 underflow,
    output reg                 overflow,
    output reg  [   INDEX-1:0] index,
    input  wire        [ 31:0] pair,
    output reg  signed [Y-1:0] y
);
  localparam ENTRIES = 1 << INDEX;
  localparam W = X + 34;  // a distance shifted left by up to 16, times 16 bits
  localparam D = X + 1 + 64;  // a distance with room for the fraction or a left shift

  `NVDLA_BUG(lut_interpolation_missing)

  reg [D-1:0] distance, position;
  reg [FRACTION-1:0] fraction;
  reg [7:0] top;

  integer i;

  // Index and fraction: the distance from START with the fraction below the point.
  always @* begin
    distance = {{(D - X) {x[X-1]}}, x} - {{(D - X) {first[X-1]}}, first};
    top      = 8'd0;
    for (i = 0; i <= X; i = i + 1) if (distance[i]) top = i[7:0];
    underflow = distance[D-1] || (distance == 0);
    if (exponent) begin
      // The leading one leaves, what follows it becomes the fraction.
      position = (distance << FRACTION) >> top;
      fraction = position[FRACTION-1:0];
      position = {{(D - 9) {1'b0}}, {1'b0, top}} - {{(D - 8) {offset[7]}}, offset};
      if (position[D-1]) underflow = 1'b1;
    end else begin
      position = select[7] ? (distance << FRACTION) << -select : (distance << FRACTION) >> select;
      fraction = position[FRACTION-1:0];
      position = position >> FRACTION;
    end
    if (bug_lut_interpolation_missing) fraction = {FRACTION{1'b0}};
    overflow = !underflow && (position >= ENTRIES);
    index    = underflow ? {INDEX{1'b0}} : overflow ? {INDEX{1'b1}} : position[INDEX-1:0];
  end

  wire signed [15:0] y0 = pair[15:0];
  wire signed [15:0] y1 = pair[31:16];
  wire signed [15:0] scale = overflow ? slope_scale[31:16] : slope_scale[15:0];
  wire signed [4:0] shift = overflow ? slope_shift[9:5] : slope_shift[4:0];

  reg signed [W-1:0] product;

  always @* begin
    product = 0;
    if (underflow || overflow) begin
      product = {{(W - X) {x[X-1]}}, x} - (overflow ? {{(W - X) {past[X-1]}}, past} : {{(W - X) {first[X-1]}}, first});
      if (underflow && exponent && !offset[7]) product = product - ({{(W - 1) {1'b0}}, 1'b1} << offset);
      product = product * {{(W - 16) {scale[15]}}, scale};
      product = shift[4] ? product <<< -shift : halves_away(product, {3'd0, shift});
      product = product + (overflow ? {{(W - 16) {y1[15]}}, y1} : {{(W - 16) {y0[15]}}, y0});
    end else if (TWO_PRODUCTS != 0) begin
      product = {{(W - 16) {y0[15]}}, y0} * ({{(W - FRACTION - 1) {1'b0}}, 1'b1, {FRACTION{1'b0}}} - {{(W - FRACTION) {1'b0}}, fraction})
          + {{(W - 16) {y1[15]}}, y1} * {{(W - FRACTION) {1'b0}}, fraction};
      product = halves_away(product, FRACTION[7:0]);
    end else begin
      product = {{(W - 16) {y1[15]}}, y1} - {{(W - 16) {y0[15]}}, y0};
      product = product * {{(W - FRACTION) {1'b0}}, fraction};
      product = halves_away(product, FRACTION[7:0]) + {{(W - 16) {y0[15]}}, y0};
    end
    y = limited(product);
  end

  function automatic signed [W-1:0] halves_away(input signed [W-1:0] v, input [7:0] amount);
    reg signed [W-1:0] magnitude;
    begin
      magnitude = v[W-1] ? -v : v;
      if (amount != 8'd0) magnitude = ((magnitude >>> (amount - 8'd1)) + {{(W - 1) {1'b0}}, 1'b1}) >>> 1;
      halves_away = v[W-1] ? -magnitude : magnitude;
    end
  endfunction

  function automatic signed [Y-1:0] limited(input signed [W-1:0] v);
    reg fits;
    begin
      fits    = (v[W-1:Y-1] == {(W - Y + 1) {v[W-1]}});
      limited = fits ? v[Y-1:0] : {v[W-1], {(Y - 1) {!v[W-1]}}};
    end
  endfunction
endmodule
