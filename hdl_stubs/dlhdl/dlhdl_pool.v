// Maximum and average pooling: the windows of one block of C features after the other, one
// position a clock.
`include "dlhdl_bugs.vh"

module dlhdl_pool #(
    parameter C = 2,
    parameter N = 2,
    parameter W = 8,
    parameter DATA_TYPE = 0,
    parameter LOG2_SOURCE = 18
) (
    input  wire                   clk,
    input  wire                   rst_n,
    input  wire                   enable,
    input  wire                   start,
    output wire                   busy,
    // Layer
    input  wire                   average,
    input  wire                   relu,
    input  wire [           15:0] width,
    input  wire [           15:0] height,
    input  wire [           15:0] features,
    input  wire [           31:0] blocks,
    input  wire [            7:0] kernel_width,
    input  wire [            7:0] kernel_height,
    input  wire [            7:0] stride_x,
    input  wire [            7:0] stride_y,
    input  wire [            7:0] pad_left,
    input  wire [            7:0] pad_top,
    input  wire [           15:0] out_width,
    input  wire [           15:0] out_height,
    input  wire signed [    15:0] up,             // exponent of the source minus that of the destination
    // Source and results
    output wire [LOG2_SOURCE-1:0] source_index,
    input  wire [        N*W-1:0] source,
    output wire                   result_valid,
    input  wire                   result_ready,
    output reg  [        N*W-1:0] result
);
  `DLHDL_BUG(average_divisor)
  `DLHDL_BUG(max_padding_zero)
  `DLHDL_BUG(average_exponent_ignored)
  `include "dlhdl_values.vh"
  localparam [1:0] REST = 2'd0, TAP = 2'd1, FINISH = 2'd2, EMIT = 2'd3;

  reg [1:0] state;
  reg [31:0] block, out_x, out_y, r, s;
  reg [32*N-1:0] held;   // largest value, or sum, of each lane
  reg [15:0] taken;      // positions of the window that lie in the source

  wire signed [31:0] x = out_x * {24'd0, stride_x} + s - {24'd0, pad_left};
  wire signed [31:0] y = out_y * {24'd0, stride_y} + r - {24'd0, pad_top};
  wire covered = x >= 0 && x < {16'd0, width} && y >= 0 && y < {16'd0, height};
  /* verilator lint_off UNUSEDSIGNAL */
  wire [31:0] position = (block * {16'd0, height} + y) * {16'd0, width} + x;
  /* verilator lint_on UNUSEDSIGNAL */
  wire last_s = s + 32'd1 == {24'd0, kernel_width};
  wire last_r = r + 32'd1 == {24'd0, kernel_height};
  wire last_x = out_x + 32'd1 == {16'd0, out_width};
  wire last_y = out_y + 32'd1 == {16'd0, out_height};
  wire last_block = block + 32'd1 == blocks;
  wire [N-1:0] used = lanes(1'b0, block * C, features);
  wire [15:0] window = bug_average_divisor ? taken : {8'd0, kernel_width} * {8'd0, kernel_height};
  wire signed [15:0] used_up = bug_average_exponent_ignored ? 16'sd0 : up;

  assign busy         = state != REST;
  assign source_index = position[LOG2_SOURCE-1:0];
  assign result_valid = state == EMIT;

  function [31:0] gathered(input [31:0] so_far, input [31:0] value, input first);
    if (DATA_TYPE == 0) begin
      if (average) gathered = so_far + value;
      else gathered = (first || $signed(value) > $signed(so_far)) ? value : so_far;
    end else if (average) gathered = single_sum(so_far, value);
    else gathered = first ? single_larger(value, value) : single_larger(so_far, value);
  endfunction

  function [W-1:0] pooled(input [31:0] value, input [15:0] count, input signed [15:0] scale);
    reg [31:0] outcome;
    begin
      if (!average) outcome = value;
      else if (DATA_TYPE == 0) outcome = int8_average(value, count, scale);
      else outcome = single_product(value, single_reciprocal(count));
      outcome = rectified(outcome, relu);
      pooled = outcome[W-1:0];
    end
  endfunction

  integer i;
  always @(posedge clk)
    if (!rst_n) begin
      state  <= REST;
      result <= 0;
    end else if (enable)
      case (state)
        REST:
        if (start) begin
          state <= TAP;
          block <= 32'd0;
          out_x <= 32'd0;
          out_y <= 32'd0;
          r     <= 32'd0;
          s     <= 32'd0;
          held  <= 0;
          taken <= 16'd0;
        end
        TAP: begin
          if (covered || (bug_max_padding_zero && !average)) begin
            for (i = 0; i < N; i = i + 1)
              held[32*i+:32] <= gathered(
                  held[32*i+:32], covered ? widened(source[W*i+:W], bug_source_unsigned) : 32'd0, taken == 16'd0);
            taken <= taken + 16'd1;
          end
          s <= last_s ? 32'd0 : s + 32'd1;
          if (last_s) r <= r + 32'd1;
          if (last_s && last_r) state <= FINISH;
        end
        FINISH: begin
          for (i = 0; i < N; i = i + 1)
            result[W*i+:W] <= used[i] ? pooled(held[32*i+:32], window, used_up) : {W{1'b0}};
          state <= EMIT;
        end
        default:
        if (result_ready) begin
          r     <= 32'd0;
          s     <= 32'd0;
          held  <= 0;
          taken <= 16'd0;
          out_x <= last_x ? 32'd0 : out_x + 32'd1;
          if (last_x) out_y <= last_y ? 32'd0 : out_y + 32'd1;
          if (last_x && last_y) block <= block + 32'd1;
          state <= (last_x && last_y && last_block) ? REST : TAP;
        end
      endcase
endmodule
