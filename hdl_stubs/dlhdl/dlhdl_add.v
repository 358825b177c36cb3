// Addition: the second source streams by, each beat with that of the first source.
`include "dlhdl_bugs.vh"

module dlhdl_add #(
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
    input  wire                   relu,
    input  wire                   fc_format,
    input  wire [           31:0] area,
    input  wire [           15:0] features,
    input  wire [           31:0] source_beats,
    input  wire signed [     7:0] exponent,
    input  wire signed [     7:0] second_exponent,
    input  wire signed [     7:0] out_exponent,
    // Sources and results
    output wire [LOG2_SOURCE-1:0] source_index,
    input  wire [        N*W-1:0] source,
    output wire                   read_valid,
    input  wire                   read_ready,
    input  wire                   data_valid,
    output wire                   data_ready,
    input  wire [        N*W-1:0] data,
    output wire                   result_valid,
    input  wire                   result_ready,
    output reg  [        N*W-1:0] result
);
  `DLHDL_BUG(addition_exponents_ignored)
  `DLHDL_BUG(addition_second_twice)
  `include "dlhdl_values.vh"
  localparam [1:0] REST = 2'd0, READ = 2'd1, BEAT = 2'd2, EMIT = 2'd3;

  reg [1:0] state;
  reg [31:0] beat, place, earlier;

  wire signed [15:0] wide = {{8{exponent[7]}}, exponent};
  wire signed [15:0] wide_second = bug_addition_exponents_ignored ? wide : {{8{second_exponent[7]}}, second_exponent};
  wire signed [15:0] wide_out = {{8{out_exponent[7]}}, out_exponent};
  wire signed [15:0] smaller = (wide < wide_second) ? wide : wide_second;
  wire last_place = fc_format || place + 32'd1 == area;
  wire [N-1:0] used = lanes(fc_format, earlier, features);

  assign busy         = state != REST;
  assign source_index = beat[LOG2_SOURCE-1:0];
  assign read_valid   = state == READ;
  assign data_ready   = state == BEAT;
  assign result_valid = state == EMIT;

  function signed [95:0] scaled(input [31:0] value, input [15:0] up);
    scaled = $signed({{64{value[31]}}, value}) <<< up;
  endfunction

  function [W-1:0] added(input [W-1:0] a, input [W-1:0] b);
    reg [31:0] first, second, outcome;
    begin
      first = widened(a, bug_source_unsigned);
      second = bug_addition_second_twice ? widened(b, 1'b0) << 1 : widened(b, 1'b0);
      if (DATA_TYPE == 0)
        outcome = int8_requantise(
            scaled(first, wide - smaller) + scaled(second, wide_second - smaller), wide_out - smaller);
      else outcome = single_sum(first, second);
      outcome = rectified(outcome, relu);
      added = outcome[W-1:0];
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
          state  <= READ;
          beat   <= 32'd0;
          place  <= 32'd0;
          earlier <= 32'd0;
        end
        READ: if (read_ready) state <= BEAT;
        BEAT:
        if (data_valid) begin
          for (i = 0; i < N; i = i + 1)
            result[W*i+:W] <= used[i] ? added(source[W*i+:W], data[W*i+:W]) : {W{1'b0}};
          state <= EMIT;
        end
        default:
        if (result_ready) begin
          beat  <= beat + 32'd1;
          place <= last_place ? 32'd0 : place + 32'd1;
          if (last_place) earlier <= earlier + (fc_format ? N : C);
          state <= (beat + 32'd1 == source_beats) ? REST : BEAT;
        end
      endcase
endmodule
