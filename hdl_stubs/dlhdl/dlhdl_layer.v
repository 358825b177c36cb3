// Plays one layer: reads the source into a buffer and the biases, then lets the engine of the
// layer's type work, whose results leave in the order of their addresses.
`include "dlhdl_bugs.vh"

module dlhdl_layer #(
    parameter C = 2,
    parameter N = 2,
    parameter W = 8,
    parameter DATA_TYPE = 0
) (
    input  wire           clk,
    input  wire           rst_n,
    input  wire           enable,
    input  wire           start,
    output wire           busy,
    output wire           refused,           // of no known type, or larger than the buffers
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [  383:0] words,             // words 0 to 11 of the layer
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [   31:0] frame_input,
    input  wire [   31:0] frame_output,
    input  wire [   31:0] system_buffer,
    input  wire [   31:0] conv_weights,
    input  wire [   31:0] fc_weights,
    // Activation read master
    output wire           source_valid,
    input  wire           source_ready,
    output wire [   31:0] source_address,
    output wire [   31:0] source_beats,
    input  wire           source_data_valid,
    output wire           source_data_ready,
    input  wire [N*W-1:0] source_data,
    // Weight read master
    output wire           weight_valid,
    input  wire           weight_ready,
    output wire [   31:0] weight_address,
    output wire [   31:0] weight_beats,
    input  wire           weight_data_valid,
    output wire           weight_data_ready,
    input  wire [N*W-1:0] weight_data,
    // Activation write master
    output wire           result_command,
    input  wire           result_command_ready,
    output wire [   31:0] result_address,
    output wire [   31:0] result_beats,
    output wire           result_valid,
    input  wire           result_ready,
    output wire [N*W-1:0] result,
    input  wire           result_idle
);
  `DLHDL_BUG(exponents_stale)
  `DLHDL_BUG(exponent_destination_ignored)
  `DLHDL_BUG(exponent_weights_ignored)
  `DLHDL_BUG(bias_stale)
  `DLHDL_BUG(n_c_swapped)
  `DLHDL_BUG(relu_always)
  `DLHDL_BUG(second_source_offset_ignored)
  localparam BEAT_BYTES = N * W / 8;
  localparam LOG2_SOURCE = 18;
  localparam LOG2_KERNELS = 16;
  localparam [7:0] CONV = 8'd1, MAXIMUM = 8'd2, AVERAGE = 8'd3, FC = 8'd4, ADD = 8'd5;
  localparam [3:0] REST = 4'd0, CHECK = 4'd1, ASK_SOURCE = 4'd2, SOURCE = 4'd3, ASK_BIAS = 4'd4, BIAS = 4'd5;
  localparam [3:0] COMMAND = 4'd6, BEGIN = 4'd7, RUN = 4'd8, REFUSED = 4'd9;

  // What the words say
  wire [7:0] kind = words[7:0];
  wire relu = words[8] || bug_relu_always;
  wire fc_format = words[12] && (kind == FC || kind == ADD);
  wire [15:0] width = words[32*6+:16];
  wire [15:0] height = words[32*6+16+:16];
  wire [15:0] features = words[32*7+:16];
  wire [15:0] out_features = words[32*7+16+:16];
  wire [7:0] kernel_width = words[32*8+:8];
  wire [7:0] kernel_height = words[32*8+8+:8];
  wire [7:0] stride_x = words[32*8+16+:8];
  wire [7:0] stride_y = words[32*8+24+:8];
  wire [7:0] pad_left = words[32*9+:8];
  wire [7:0] pad_top = words[32*9+8+:8];
  wire [15:0] out_width = words[32*10+:16];
  wire [15:0] out_height = words[32*10+16+:16];
  wire weighted = kind == CONV || kind == FC;

  reg [31:0] first_exponents;
  reg exponents_known;
  wire [31:0] exponents = (bug_exponents_stale && exponents_known) ? first_exponents : words[32*11+:32];
  wire signed [15:0] e_source = {{8{exponents[7]}}, exponents[7:0]};
  wire signed [15:0] e_weights = bug_exponent_weights_ignored ? 16'sd0 : {{8{exponents[23]}}, exponents[23:16]};
  wire signed [15:0] e_result = bug_exponent_destination_ignored ? 16'sd0 : {{8{exponents[31]}}, exponents[31:24]};

  // Sizes in beats
  localparam [31:0] LANES = C;
  wire [31:0] out_lanes = (bug_n_c_swapped && kind == CONV) ? N : C;
  wire [31:0] area = {16'd0, width} * {16'd0, height};
  wire [31:0] out_area = {16'd0, out_width} * {16'd0, out_height};
  wire [31:0] blocks = ({16'd0, features} + LANES - 32'd1) / LANES;
  wire [31:0] out_blocks = ({16'd0, out_features} + out_lanes - 32'd1) / out_lanes;
  wire [31:0] kernel_beats = blocks * {24'd0, kernel_width} * {24'd0, kernel_height};
  wire [31:0] all_beats = fc_format ? ({16'd0, features} + N - 1) / N : area * blocks;
  wire [31:0] bias_beats = ({14'd0, out_features, 2'd0} + BEAT_BYTES - 1) / BEAT_BYTES;
  wire known = kind >= CONV && kind <= ADD;
  wire fits = all_beats <= (32'd1 << LOG2_SOURCE) &&
      (kind != CONV || kernel_beats * LANES <= (32'd1 << LOG2_KERNELS));

  reg [3:0] state;
  reg [31:0] filled;
  reg [N*W-1:0] buffer[0:(1<<LOG2_SOURCE)-1];
  reg bias_known;

  wire conv_busy, pool_busy, fc_busy, add_busy;
  wire engine_busy = conv_busy || pool_busy || fc_busy || add_busy;
  wire begin_engine = state == BEGIN;
  wire loading = state == SOURCE && source_data_valid;

  assign busy    = state != REST;
  assign refused = state == REFUSED;

  always @(posedge clk)
    if (!rst_n) begin
      state           <= REST;
      exponents_known <= 1'b0;
      first_exponents <= 32'd0;
      bias_known      <= 1'b0;
      filled          <= 32'd0;
    end else if (enable)
      case (state)
        REST: if (start) state <= CHECK;
        CHECK: state <= (known && fits) ? ASK_SOURCE : REFUSED;
        ASK_SOURCE: begin
          filled <= 32'd0;
          if (source_ready) state <= SOURCE;
        end
        SOURCE:
        if (loading) begin
          buffer[filled[LOG2_SOURCE-1:0]] <= source_data;
          filled <= filled + 32'd1;
          if (filled + 32'd1 == all_beats) state <= weighted ? ASK_BIAS : COMMAND;
        end
        ASK_BIAS: begin
          filled <= 32'd0;
          if (weight_ready) state <= BIAS;
        end
        BIAS:
        if (weight_data_valid) begin
          filled <= filled + 32'd1;
          if (filled + 32'd1 == bias_beats) state <= COMMAND;
        end
        COMMAND: if (result_command_ready) state <= BEGIN;
        BEGIN: state <= RUN;
        RUN:
        if (!engine_busy && result_idle) begin
          state      <= REST;
          bias_known <= 1'b1;
          if (!exponents_known) first_exponents <= words[32*11+:32];
          exponents_known <= 1'b1;
        end
        default: state <= REST;
      endcase

  // Biases
  wire [15:0] bias_index, conv_bias_index, fc_bias_index;
  wire [31:0] bias;
  assign bias_index = fc_busy ? fc_bias_index : conv_bias_index;

  dlhdl_words #(
      .BEAT_BYTES(BEAT_BYTES),
      .LOG2_WORDS(16)
  ) biases (
      .clk    (clk),
      .restart(state == ASK_BIAS),
      .valid  (state == BIAS && weight_data_valid && enable && !(bug_bias_stale && bias_known)),
      .data   (weight_data),
      .first  (bias_index),
      .group  (bias)
  );

  // The buffer, read by the engine that works
  wire [LOG2_SOURCE-1:0] conv_index, pool_index, fc_index, add_index;
  wire [LOG2_SOURCE-1:0] index = conv_busy ? conv_index : pool_busy ? pool_index : fc_busy ? fc_index : add_index;
  wire [N*W-1:0] source = buffer[index];

  // Masters
  wire conv_read, conv_take, fc_read, fc_take, add_read, add_take;
  wire [31:0] conv_address, conv_beats, fc_address, fc_beats;
  wire [31:0] from = words[9] ? system_buffer : frame_input;
  wire [31:0] from_second = words[10] ? system_buffer : frame_input;
  wire [31:0] weight_base = (kind == FC) ? fc_weights : conv_weights;
  wire [31:0] weight_start = weight_base + words[32*4+:32];
  wire [31:0] second_offset = bug_second_source_offset_ignored ? 32'd0 : words[32*2+:32];

  assign source_valid      = state == ASK_SOURCE || add_read;
  assign source_address    = add_read ? from_second + second_offset : from + words[32*1+:32];
  assign source_beats      = all_beats;
  assign source_data_ready = state == SOURCE || add_take;
  assign weight_valid      = state == ASK_BIAS || conv_read || fc_read;
  assign weight_address    = conv_read ? conv_address : fc_read ? fc_address : weight_base + words[32*5+:32];
  assign weight_beats      = conv_read ? conv_beats : fc_read ? fc_beats : bias_beats;
  assign weight_data_ready = state == BIAS || conv_take || fc_take;

  wire conv_valid, pool_valid, fc_valid, add_valid;
  wire [N*W-1:0] conv_result, pool_result, fc_result, add_result;
  assign result_command = state == COMMAND;
  assign result_address = (words[11] ? frame_output : system_buffer) + words[32*3+:32];
  assign result_beats   = (kind == FC) ? ({16'd0, out_features} + N - 1) / N :
                          (kind == ADD) ? all_beats : out_area * ((kind == CONV) ? out_blocks : blocks);
  assign result_valid   = conv_valid || pool_valid || fc_valid || add_valid;
  assign result         = conv_valid ? conv_result : pool_valid ? pool_result : fc_valid ? fc_result : add_result;

  dlhdl_conv #(
      .C           (C),
      .N           (N),
      .W           (W),
      .DATA_TYPE   (DATA_TYPE),
      .LOG2_SOURCE (LOG2_SOURCE),
      .LOG2_KERNELS(LOG2_KERNELS)
  ) conv (
      .clk          (clk),
      .rst_n        (rst_n),
      .enable       (enable),
      .start        (begin_engine && kind == CONV),
      .busy         (conv_busy),
      .relu         (relu),
      .weights      (weight_start),
      .width        (width),
      .height       (height),
      .features     (features),
      .blocks       (blocks),
      .kernels      (out_features),
      .kernel_width (kernel_width),
      .kernel_height(kernel_height),
      .stride_x     (stride_x),
      .stride_y     (stride_y),
      .pad_left     (pad_left),
      .pad_top      (pad_top),
      .out_width    (out_width),
      .out_height   (out_height),
      .shift        (e_result - e_source - e_weights),
      .bias_index   (conv_bias_index),
      .bias         (bias),
      .source_index (conv_index),
      .source       (source),
      .read_valid   (conv_read),
      .read_ready   (weight_ready),
      .read_address (conv_address),
      .read_beats   (conv_beats),
      .data_valid   (weight_data_valid),
      .data_ready   (conv_take),
      .data         (weight_data),
      .result_valid (conv_valid),
      .result_ready (result_ready),
      .result       (conv_result)
  );

  dlhdl_pool #(
      .C          (C),
      .N          (N),
      .W          (W),
      .DATA_TYPE  (DATA_TYPE),
      .LOG2_SOURCE(LOG2_SOURCE)
  ) pool (
      .clk          (clk),
      .rst_n        (rst_n),
      .enable       (enable),
      .start        (begin_engine && (kind == MAXIMUM || kind == AVERAGE)),
      .busy         (pool_busy),
      .average      (kind == AVERAGE),
      .relu         (relu),
      .width        (width),
      .height       (height),
      .features     (features),
      .blocks       (blocks),
      .kernel_width (kernel_width),
      .kernel_height(kernel_height),
      .stride_x     (stride_x),
      .stride_y     (stride_y),
      .pad_left     (pad_left),
      .pad_top      (pad_top),
      .out_width    (out_width),
      .out_height   (out_height),
      .up           (e_source - e_result),
      .source_index (pool_index),
      .source       (source),
      .result_valid (pool_valid),
      .result_ready (result_ready),
      .result       (pool_result)
  );

  dlhdl_fc #(
      .C          (C),
      .N          (N),
      .W          (W),
      .DATA_TYPE  (DATA_TYPE),
      .LOG2_SOURCE(LOG2_SOURCE)
  ) fc (
      .clk         (clk),
      .rst_n       (rst_n),
      .enable      (enable),
      .start       (begin_engine && kind == FC),
      .busy        (fc_busy),
      .relu        (relu),
      .fc_format   (fc_format),
      .weights     (weight_start),
      .area        (area),
      .features    (features),
      .source_beats(all_beats),
      .rows        (out_features),
      .shift       (e_result - e_source - e_weights),
      .bias_index  (fc_bias_index),
      .bias        (bias),
      .source_index(fc_index),
      .source      (source),
      .read_valid  (fc_read),
      .read_ready  (weight_ready),
      .read_address(fc_address),
      .read_beats  (fc_beats),
      .data_valid  (weight_data_valid),
      .data_ready  (fc_take),
      .data        (weight_data),
      .result_valid(fc_valid),
      .result_ready(result_ready),
      .result      (fc_result)
  );

  dlhdl_add #(
      .C          (C),
      .N          (N),
      .W          (W),
      .DATA_TYPE  (DATA_TYPE),
      .LOG2_SOURCE(LOG2_SOURCE)
  ) add (
      .clk            (clk),
      .rst_n          (rst_n),
      .enable         (enable),
      .start          (begin_engine && kind == ADD),
      .busy           (add_busy),
      .relu           (relu),
      .fc_format      (fc_format),
      .area           (area),
      .features       (features),
      .source_beats   (all_beats),
      .exponent       (exponents[7:0]),
      .second_exponent(exponents[15:8]),
      .out_exponent   (e_result[7:0]),
      .source_index   (add_index),
      .source         (source),
      .read_valid     (add_read),
      .read_ready     (source_ready),
      .data_valid     (source_data_valid),
      .data_ready     (add_take),
      .data           (source_data),
      .result_valid   (add_valid),
      .result_ready   (result_ready),
      .result         (add_result)
  );
endmodule
