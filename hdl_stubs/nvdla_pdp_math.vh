// Arithmetic of pooling on one element. ACC bits hold the sum of 64 INT8 elements
// and padding values with room to spare.
localparam ACC = 24;

localparam [1:0] METHOD_AVERAGE = 2'd0, METHOD_MAX = 2'd1, METHOD_MIN = 2'd2;

// An accumulator and one more element or partial result.
function automatic signed [ACC-1:0] combine(input [1:0] by, input signed [ACC-1:0] a,
                                            input signed [ACC-1:0] b);
  case (by)
    METHOD_MAX: combine = (b > a) ? b : a;
    METHOD_MIN: combine = (b < a) ? b : a;
    default:    combine = a + b;
  endcase
endfunction

// sum * reciprocal / 2^16, rounded to nearest, halves away from zero.
function automatic signed [ACC-1:0] scale(input signed [ACC-1:0] sum, input [16:0] reciprocal);
  reg [ACC+16:0] magnitude;
  begin
    magnitude = {17'd0, sum[ACC-1] ? -sum : sum} * {{ACC{1'b0}}, reciprocal};
    magnitude = ((magnitude >> 15) + 1'b1) >> 1;
    scale     = sum[ACC-1] ? -magnitude[ACC-1:0] : magnitude[ACC-1:0];
  end
endfunction

// INT8 result of a window.
function automatic [7:0] pooled(input [1:0] by, input signed [ACC-1:0] total, input [16:0] by_width,
                                input [16:0] by_height);
  reg signed [ACC-1:0] value;
  begin
    value = total;
    if (by == METHOD_AVERAGE) value = scale(scale(total, by_width), by_height);
    pooled = (value > 24'sd127) ? 8'h7f : (value < -24'sd128) ? 8'h80 : value[7:0];
  end
endfunction
