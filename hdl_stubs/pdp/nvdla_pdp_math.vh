// Arithmetic of pooling on one element. Nothing is limited: every value has the
// width that was measured on the public nv_small RTL and wraps in two's
// complement.
localparam ROW = 11;  // elements of one line of a window with its padded columns
localparam ROWS = 14;  // what the padded lines of a window add
localparam SUM = 15;  // a window
localparam PRODUCT = 31;  // a sum times a reciprocal with 16 fraction bits

localparam [1:0] METHOD_AVERAGE = 2'd0, METHOD_MAX = 2'd1, METHOD_MIN = 2'd2;

// An accumulator and one more element or partial result.
function automatic signed [SUM-1:0] combine(input [1:0] by, input signed [SUM-1:0] a,
                                            input signed [SUM-1:0] b);
  case (by)
    METHOD_MAX: combine = (b > a) ? b : a;
    METHOD_MIN: combine = (b < a) ? b : a;
    default:    combine = a + b;
  endcase
endfunction

// A product ready to have its 16 fraction bits cut, so that it is rounded to
// nearest, halves away from zero. From 0 up it first loses the bits above the
// magnitude of a result of `bits` bits; rounding may then carry into the sign.
function automatic [PRODUCT-1:0] rounded_up(input signed [PRODUCT-1:0] p, input integer bits);
  reg [PRODUCT-1:0] magnitude;
  begin
    magnitude  = ~({PRODUCT{1'b1}} << (bits - 1 + 16));
    rounded_up = p[PRODUCT-1] ? p + 31'sd32767 : (p & magnitude) + 31'sd32768;
  end
endfunction

// A window's sum times both reciprocals, over a middle value of ROW bits; `floors` cuts the
// fractions without rounding, which is a seeded bug.
function automatic [7:0] averaged(input signed [SUM-1:0] sum, input [16:0] by_width,
                                  input [16:0] by_height, input floors);
  reg [PRODUCT-1:0] product;
  reg [ROW-1:0] middle;
  reg [3:0] unused_high;
  reg [6:0] unused_higher;
  reg [15:0] unused_fraction;
  begin
    product = {{(PRODUCT - SUM) {sum[SUM-1]}}, sum} * {14'd0, by_width};
    {unused_high, middle, unused_fraction} = floors ? product : rounded_up(product, ROW);
    product = {{(PRODUCT - ROW) {middle[ROW-1]}}, middle} * {14'd0, by_height};
    {unused_higher, averaged, unused_fraction} = floors ? product : rounded_up(product, 8);
  end
endfunction
