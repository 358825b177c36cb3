// Values of either data type, widened to 32 bits; the including module has the parameters
// N, W (bits of a value), C and DATA_TYPE.
  `DLHDL_BUG(source_unsigned)
  `DLHDL_BUG(weights_unsigned)
  `DLHDL_BUG(relu_lost)
`include "dlhdl_int8.vh"
`include "dlhdl_single.vh"

  function [31:0] widened(input [W-1:0] value, input unsigned_one);
    reg signed [W-1:0] narrow;
    reg signed [31:0] wide;
    begin
      narrow = value;
      /* verilator lint_off WIDTHEXPAND */
      wide = narrow;
      /* verilator lint_on WIDTHEXPAND */
      widened = (unsigned_one && DATA_TYPE == 0) ? wide & 32'hFF : wide;
    end
  endfunction

  // sum + the products of those lanes that the mask names
  function [31:0] multiplied(input [31:0] sum, input [N*W-1:0] a, input [N*W-1:0] b, input [N-1:0] mask);
    reg [31:0] x, y;
    integer i;
    begin
      multiplied = sum;
      for (i = 0; i < N; i = i + 1)
        if (mask[i]) begin
          x = widened(a[W*i+:W], bug_source_unsigned);
          y = widened(b[W*i+:W], bug_weights_unsigned);
          if (DATA_TYPE == 0) multiplied = multiplied + x * y;
          else multiplied = single_sum(multiplied, single_product(x, y));
        end
    end
  endfunction

  function [31:0] rectified(input [31:0] value, input rectify);
    rectified = (rectify && !bug_relu_lost && value[31] && !(DATA_TYPE == 1 && single_nan(value))) ? 32'd0 : value;
  endfunction

  // The result that a sum of products becomes
  function [W-1:0] finished(input [31:0] sum, input signed [15:0] down_by, input rectify);
    reg [31:0] value;
    begin
      value = (DATA_TYPE == 0) ? int8_requantise({{64{sum[31]}}, sum}, down_by) : single_flush(sum);
      value = rectified(value, rectify);
      finished = value[W-1:0];
    end
  endfunction

  // Lanes that hold a value; `number` is that of lane 0. Convolution data has C in a beat, fully
  // connected data is packed.
  function [N-1:0] lanes(input packed_values, input [31:0] number, input [15:0] amount);
    integer i;
    for (i = 0; i < N; i = i + 1)
      lanes[i] = (packed_values || i < C) && (number + i < {16'd0, amount});
  endfunction
