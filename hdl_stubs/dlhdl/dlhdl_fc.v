// Fully connected layer: its weights stream by, one row after the other, each beat with the
// beat of the source that it belongs to.
`include "dlhdl_bugs.vh"

module dlhdl_fc #(
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
    input  wire [           31:0] weights,        // address
    input  wire [           31:0] area,           // width * height of the source
    input  wire [           15:0] features,
    input  wire [           31:0] source_beats,
    input  wire [           15:0] rows,
    input  wire signed [    15:0] shift,
    // Biases, source, weights, results
    output wire [           15:0] bias_index,
    input  wire [           31:0] bias,
    output wire [LOG2_SOURCE-1:0] source_index,
    input  wire [        N*W-1:0] source,
    output wire                   read_valid,
    input  wire                   read_ready,
    output wire [           31:0] read_address,
    output wire [           31:0] read_beats,
    input  wire                   data_valid,
    output wire                   data_ready,
    input  wire [        N*W-1:0] data,
    output wire                   result_valid,
    input  wire                   result_ready,
    output reg  [        N*W-1:0] result
);
  `DLHDL_BUG(bias_lost)
  `DLHDL_BUG(fc_tail_not_padded)
  `DLHDL_BUG(fc_padding_counts)
  `include "dlhdl_values.vh"
  localparam [2:0] REST = 3'd0, READ = 3'd1, ROW = 3'd2, BEAT = 3'd3, FINISH = 3'd4, EMIT = 3'd5;
  localparam LOG2_N = $clog2(N);

  reg [2:0] state;
  // Beat of the source, and its block and position in it; features before the block
  reg [31:0] beat, place, earlier;
  reg [15:0] row;
  reg [31:0] sum;

  wire [LOG2_N-1:0] lane = row[LOG2_N-1:0];
  wire last_row = row + 16'd1 == rows;
  wire last_place = fc_format || place + 32'd1 == area;

  assign busy         = state != REST;
  assign bias_index   = row;
  assign source_index = beat[LOG2_SOURCE-1:0];
  assign read_valid   = state == READ;
  assign read_address = weights;
  assign read_beats   = source_beats * {16'd0, rows};
  assign data_ready   = state == BEAT;
  assign result_valid = state == EMIT;

  wire [N-1:0] used = bug_fc_padding_counts ? {N{1'b1}} : lanes(fc_format, earlier, features);

  always @(posedge clk)
    if (!rst_n) begin
      state  <= REST;
      result <= 0;
    end else if (enable)
      case (state)
        REST:
        if (start) begin
          state  <= READ;
          row    <= 16'd0;
          result <= 0;
        end
        READ: if (read_ready) state <= ROW;
        ROW: begin
          state  <= BEAT;
          beat   <= 32'd0;
          place  <= 32'd0;
          earlier <= 32'd0;
          sum    <= bug_bias_lost ? 32'd0 : bias;
        end
        BEAT:
        if (data_valid) begin
          sum   <= multiplied(sum, source, data, used);
          beat  <= beat + 32'd1;
          place <= last_place ? 32'd0 : place + 32'd1;
          if (last_place) earlier <= earlier + (fc_format ? N : C);
          if (beat + 32'd1 == source_beats) state <= FINISH;
        end
        FINISH: begin
          result[W*lane+:W] <= finished(sum, shift, relu);
          state <= (last_row || &lane) ? EMIT : ROW;
          row   <= row + 16'd1;
        end
        default:
        if (result_ready) begin
          if (!bug_fc_tail_not_padded) result <= 0;
          state <= (row == rows) ? REST : ROW;
        end
      endcase
endmodule
