// The processor between registers and masters: instruction fetch, scheduler, handshake and
// the layers. `enable` holds all but the handshake.
module dlhdl_processor #(
    parameter C = 2,
    parameter N = 2,
    parameter W = 8,
    parameter DATA_TYPE = 0,
    parameter LOG2_LAYERS = 10
) (
    input  wire           clk,
    input  wire           rst_n,
    input  wire           enable,
    // Registers
    input  wire [   31:0] list_address,
    input  wire [   31:0] conv_weights,
    input  wire [   31:0] fc_weights,
    input  wire [   31:0] frame_count,
    input  wire           streaming_mode,
    input  wire           custom_base,
    input  wire [   31:0] input_base,
    input  wire [   31:0] output_base,
    input  wire           input_start,
    input  wire           input_next,
    input  wire           output_next,
    input  wire           input_stop,
    output wire           done,
    output wire           input_valid,
    output wire [   31:0] input_address,
    output wire [   31:0] offered_size,
    output wire           output_valid,
    output wire [   31:0] output_address,
    output wire [   31:0] result_size,
    output wire           streaming_done,
    // Masters
    output wire           source_valid,
    input  wire           source_ready,
    output wire [   31:0] source_address,
    output wire [   31:0] source_beats,
    input  wire           source_data_valid,
    output wire           source_data_ready,
    input  wire [N*W-1:0] source_data,
    output wire           weight_valid,
    input  wire           weight_ready,
    output wire [   31:0] weight_address,
    output wire [   31:0] weight_beats,
    input  wire           weight_data_valid,
    output wire           weight_data_ready,
    input  wire [N*W-1:0] weight_data,
    output wire           result_command,
    input  wire           result_command_ready,
    output wire [   31:0] result_address,
    output wire [   31:0] result_beats,
    output wire           result_valid,
    input  wire           result_ready,
    output wire [N*W-1:0] result,
    input  wire           result_idle
);
  wire fetch_start, fetch_busy, fetch_good, fetch_read, fetch_take;
  wire [31:0] fetch_address, fetch_beats, layers;
  wire [LOG2_LAYERS-1:0] number;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [511:0] header, layer;  // their last words are 0
  /* verilator lint_on UNUSEDSIGNAL */
  wire begun, streaming, computing, finished, layer_start, layer_busy, layer_refused;
  wire [31:0] count, input_offset, input_size, input_slots, output_offset, output_size, output_slots;
  wire [31:0] given, taken, completed, frame_input, frame_output;
  wire layer_read, layer_take;
  wire [31:0] layer_address, layer_beats;

  // Instruction fetch and layers never read at the same time.
  assign weight_valid      = fetch_read || layer_read;
  assign weight_address    = fetch_read ? fetch_address : layer_address;
  assign weight_beats      = fetch_read ? fetch_beats : layer_beats;
  assign weight_data_ready = fetch_take || layer_take;

  dlhdl_fetch #(
      .BEAT_BYTES (N * W / 8),
      .LOG2_LAYERS(LOG2_LAYERS)
  ) fetch (
      .clk         (clk),
      .rst_n       (rst_n),
      .enable      (enable),
      .start       (fetch_start),
      .list_address(list_address),
      .busy        (fetch_busy),
      .good        (fetch_good),
      .read_valid  (fetch_read),
      .read_ready  (weight_ready),
      .read_address(fetch_address),
      .read_beats  (fetch_beats),
      .data_valid  (weight_data_valid),
      .data_ready  (fetch_take),
      .data        (weight_data),
      .layers      (layers),
      .header      (header),
      .number      (number),
      .layer       (layer)
  );

  dlhdl_scheduler #(
      .LOG2_LAYERS(LOG2_LAYERS)
  ) scheduler (
      .clk           (clk),
      .rst_n         (rst_n),
      .enable        (enable),
      .input_start   (input_start),
      .streaming_mode(streaming_mode),
      .frame_count   (frame_count),
      .custom_base   (custom_base),
      .input_base    (input_base),
      .output_base   (output_base),
      .done          (done),
      .fetch_start   (fetch_start),
      .fetch_busy    (fetch_busy),
      .fetch_good    (fetch_good),
      .layers        (layers),
      .header        (header[255:0]),
      .number        (number),
      .begun         (begun),
      .streaming     (streaming),
      .count         (count),
      .input_offset  (input_offset),
      .input_size    (input_size),
      .input_slots   (input_slots),
      .output_offset (output_offset),
      .output_size   (output_size),
      .output_slots  (output_slots),
      .given         (given),
      .taken         (taken),
      .completed     (completed),
      .computing     (computing),
      .finished      (finished),
      .layer_start   (layer_start),
      .layer_busy    (layer_busy),
      .layer_refused (layer_refused),
      .frame_input   (frame_input),
      .frame_output  (frame_output)
  );

  dlhdl_handshake handshake (
      .clk           (clk),
      .rst_n         (rst_n),
      .begun         (begun),
      .streaming     (streaming),
      .count         (count),
      .input_offset  (input_offset),
      .input_size    (input_size),
      .input_slots   (input_slots),
      .output_offset (output_offset),
      .output_size   (output_size),
      .output_slots  (output_slots),
      .completed     (completed),
      .computing     (computing),
      .given         (given),
      .taken         (taken),
      .finished      (finished),
      .input_next    (input_next),
      .output_next   (output_next),
      .input_stop    (input_stop),
      .input_valid   (input_valid),
      .input_address (input_address),
      .offered_size  (offered_size),
      .output_valid  (output_valid),
      .output_address(output_address),
      .result_size   (result_size),
      .streaming_done(streaming_done)
  );

  dlhdl_layer #(
      .C        (C),
      .N        (N),
      .W        (W),
      .DATA_TYPE(DATA_TYPE)
  ) layer_player (
      .clk                 (clk),
      .rst_n               (rst_n),
      .enable              (enable),
      .start               (layer_start),
      .busy                (layer_busy),
      .refused             (layer_refused),
      .words               (layer[383:0]),
      .frame_input         (frame_input),
      .frame_output        (frame_output),
      .system_buffer       (header[32*8+:32]),
      .conv_weights        (conv_weights),
      .fc_weights          (fc_weights),
      .source_valid        (source_valid),
      .source_ready        (source_ready),
      .source_address      (source_address),
      .source_beats        (source_beats),
      .source_data_valid   (source_data_valid),
      .source_data_ready   (source_data_ready),
      .source_data         (source_data),
      .weight_valid        (layer_read),
      .weight_ready        (weight_ready),
      .weight_address      (layer_address),
      .weight_beats        (layer_beats),
      .weight_data_valid   (weight_data_valid),
      .weight_data_ready   (layer_take),
      .weight_data         (weight_data),
      .result_command      (result_command),
      .result_command_ready(result_command_ready),
      .result_address      (result_address),
      .result_beats        (result_beats),
      .result_valid        (result_valid),
      .result_ready        (result_ready),
      .result              (result),
      .result_idle         (result_idle)
  );
endmodule
