// Convolution: for each block of C features of the destination its kernels are read; then
// each result is a sum over one beat of the source a clock, one kernel after the other.
`include "dlhdl_bugs.vh"

module dlhdl_conv #(
    parameter C = 2,
    parameter N = 2,
    parameter W = 8,
    parameter DATA_TYPE = 0,
    parameter LOG2_SOURCE = 18,
    parameter LOG2_KERNELS = 16
) (
    input  wire                   clk,
    input  wire                   rst_n,
    input  wire                   enable,
    input  wire                   start,
    output wire                   busy,
    // Layer
    input  wire                   relu,
    input  wire [           31:0] weights,        // address
    input  wire [           15:0] width,
    input  wire [           15:0] height,
    input  wire [           15:0] features,
    input  wire [           31:0] blocks,         // of the source
    input  wire [           15:0] kernels,
    input  wire [            7:0] kernel_width,
    input  wire [            7:0] kernel_height,
    input  wire [            7:0] stride_x,
    input  wire [            7:0] stride_y,
    input  wire [            7:0] pad_left,
    input  wire [            7:0] pad_top,
    input  wire [           15:0] out_width,
    input  wire [           15:0] out_height,
    input  wire signed [    15:0] shift,
    // Biases, source, kernels, results
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
  `DLHDL_BUG(x_y_swapped)
  `DLHDL_BUG(second_block_late)
  `DLHDL_BUG(n_c_swapped)
  `DLHDL_BUG(padding_lane_not_zero)
  `DLHDL_BUG(kernel_rows_columns_swapped)
  `DLHDL_BUG(weights_stale)
  `DLHDL_BUG(strides_swapped)
  `DLHDL_BUG(bias_lost)
  `DLHDL_BUG(bias_of_block)
  `include "dlhdl_values.vh"
  localparam BEAT_BYTES = N * W / 8;
  localparam [2:0] REST = 3'd0, READ = 3'd1, FILL = 3'd2, LANE = 3'd3, TAP = 3'd4, FINISH = 3'd5, EMIT = 3'd6;

  reg [2:0] state;
  // Kernels of the block, in order; how many of their beats have come
  reg [N*W-1:0] store[0:(1<<LOG2_KERNELS)-1];
  reg [31:0] filled;
  reg ever_filled;
  // First kernel of the block, kernel within it, position of the result, beat of the kernel
  reg [31:0] first, lane, out_x, out_y, block, r, s;
  reg [31:0] tap;  // beat within the kernels of the block
  reg [31:0] block_address;
  reg [31:0] sum;

  wire [31:0] lanes_used = bug_n_c_swapped ? N : C;
  wire [31:0] in_block = ({16'd0, kernels} - first < lanes_used) ? {16'd0, kernels} - first : lanes_used;
  wire [31:0] kernel_beats = blocks * {24'd0, kernel_width} * {24'd0, kernel_height};
  /* verilator lint_off UNUSEDSIGNAL */
  wire [31:0] tap_beats = bug_kernel_rows_columns_swapped ?
      (lane * blocks + block) * {24'd0, kernel_width} * {24'd0, kernel_height} + s * {24'd0, kernel_height} + r : tap;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [31:0] across = {24'd0, bug_strides_swapped ? stride_y : stride_x};
  wire [31:0] down = {24'd0, bug_strides_swapped ? stride_x : stride_y};
  wire signed [31:0] x = out_x * across + s - {24'd0, pad_left};
  wire signed [31:0] y = out_y * down + r - {24'd0, pad_top};
  wire covered = x >= 0 && x < {16'd0, width} && y >= 0 && y < {16'd0, height};
  /* verilator lint_off UNUSEDSIGNAL */
  wire [31:0] position = (bug_x_y_swapped ? (block * {16'd0, width} + x) * {16'd0, height} + y
                                          : (block * {16'd0, height} + y) * {16'd0, width} + x) +
      {31'd0, bug_second_block_late && block != 32'd0};
  wire [31:0] bias_number = bug_bias_of_block ? first : first + lane;
  /* verilator lint_on UNUSEDSIGNAL */

  wire last_s = s + 32'd1 == {24'd0, kernel_width};
  wire last_r = r + 32'd1 == {24'd0, kernel_height};
  wire last_block = block + 32'd1 == blocks;
  wire last_lane = lane + 32'd1 == in_block;
  wire last_x = out_x + 32'd1 == {16'd0, out_width};
  wire last_y = out_y + 32'd1 == {16'd0, out_height};
  wire last_kernels = first + in_block == {16'd0, kernels};

  assign busy         = state != REST;
  assign bias_index   = bias_number[15:0];
  assign source_index = position[LOG2_SOURCE-1:0];
  assign read_valid   = state == READ;
  assign read_address = block_address;
  assign read_beats   = in_block * kernel_beats;
  assign data_ready   = state == FILL;
  assign result_valid = state == EMIT;

  always @(posedge clk)
    if (!rst_n) begin
      state       <= REST;
      ever_filled <= 1'b0;
      result      <= 0;
    end else if (enable)
      case (state)
        REST:
        if (start) begin
          state         <= READ;
          first         <= 32'd0;
          block_address <= weights;
        end
        READ:
        if (read_ready) begin
          state  <= FILL;
          filled <= 32'd0;
          block_address <= block_address + read_beats * BEAT_BYTES;
        end
        FILL:
        if (data_valid) begin
          if (!(bug_weights_stale && ever_filled && filled == 32'd0)) store[filled[LOG2_KERNELS-1:0]] <= data;
          filled <= filled + 32'd1;
          if (filled + 32'd1 == read_beats) begin
            state       <= LANE;
            ever_filled <= 1'b1;
            out_x       <= 32'd0;
            out_y       <= 32'd0;
            lane        <= 32'd0;
            tap         <= 32'd0;
            result      <= {N * W{bug_padding_lane_not_zero}};
          end
        end
        LANE: begin
          state <= TAP;
          block <= 32'd0;
          r     <= 32'd0;
          s     <= 32'd0;
          sum   <= bug_bias_lost ? 32'd0 : bias;
        end
        TAP: begin
          if (covered)
            sum <= multiplied(sum, source, store[tap_beats[LOG2_KERNELS-1:0]], lanes(1'b0, block * C, features));
          tap <= tap + 32'd1;
          s   <= last_s ? 32'd0 : s + 32'd1;
          if (last_s) r <= last_r ? 32'd0 : r + 32'd1;
          if (last_s && last_r) block <= block + 32'd1;
          if (last_s && last_r && last_block) state <= FINISH;
        end
        FINISH: begin
          result[W*lane+:W] <= finished(sum, shift, relu);
          lane  <= lane + 32'd1;
          state <= last_lane ? EMIT : LANE;
        end
        default:
        if (result_ready) begin
          result <= {N * W{bug_padding_lane_not_zero}};
          lane   <= 32'd0;
          tap    <= 32'd0;
          out_x  <= last_x ? 32'd0 : out_x + 32'd1;
          if (last_x) out_y <= out_y + 32'd1;
          state <= LANE;
          if (last_x && last_y) begin
            first <= first + in_block;
            state <= last_kernels ? REST : READ;
          end
        end
      endcase
endmodule
