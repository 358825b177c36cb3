// Plays the list for one frame after the other: reads it at `start`, begins a frame when its
// input is there and its output slot is free, and its layers in order.
`include "dlhdl_bugs.vh"

module dlhdl_scheduler #(
    parameter LOG2_LAYERS = 10
) (
    input  wire                   clk,
    input  wire                   rst_n,
    input  wire                   enable,
    // Registers
    input  wire                   input_start,
    input  wire                   streaming_mode,
    input  wire [           31:0] frame_count,
    input  wire                   custom_base,
    input  wire [           31:0] input_base,
    input  wire [           31:0] output_base,
    output reg                    done,
    // Instruction fetch
    output wire                   fetch_start,
    input  wire                   fetch_busy,
    input  wire                   fetch_good,
    input  wire [           31:0] layers,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [          255:0] header,          // words 0 to 7
    /* verilator lint_on UNUSEDSIGNAL */
    output reg  [LOG2_LAYERS-1:0] number,
    // Handshake
    output wire                   begun,           // at the start of a run
    output wire                   streaming,       // while frames are offered
    output reg  [           31:0] count,           // frames of the run
    output reg  [           31:0] input_offset,
    output wire [           31:0] input_size,
    output wire [           31:0] input_slots,
    output reg  [           31:0] output_offset,
    output wire [           31:0] output_size,
    output wire [           31:0] output_slots,
    input  wire [           31:0] given,           // frames in memory
    input  wire [           31:0] taken,           // results that were read
    output reg  [           31:0] completed,       // frames with a complete result
    output wire                   computing,
    input  wire                   finished,        // the last result was read
    // Layers
    output wire                   layer_start,
    input  wire                   layer_busy,
    input  wire                   layer_refused,
    output reg  [           31:0] frame_input,
    output reg  [           31:0] frame_output
);
  `DLHDL_BUG(done_early)
  `DLHDL_BUG(frame_count_ignored)
  `DLHDL_BUG(slot_reused_early)
  `DLHDL_BUG(frame_input_not_advanced)
  `DLHDL_BUG(frame_output_not_advanced)
  localparam [2:0] REST = 3'd0, FETCH = 3'd1, FRAME = 3'd2, LAYER = 3'd3, RUN = 3'd4;

  reg [2:0] state;
  reg streams;
  // Slots of the frame that is next
  reg [31:0] input_slot, output_slot;

  wire last_layer = {{32 - LOG2_LAYERS{1'b0}}, number} + 32'd1 == layers;
  wire there = !streams || given != completed;
  wire free = !streams || taken + output_slots + {31'd0, bug_slot_reused_early} != completed;

  assign begun        = input_start && state == REST;
  assign fetch_start  = begun;
  assign streaming    = streams && (state == FRAME || state == LAYER || state == RUN);
  assign computing    = state == LAYER || state == RUN;
  assign layer_start  = state == LAYER && enable;
  assign input_size   = header[32*3+:32];
  assign input_slots  = header[32*4+:32];
  assign output_size  = header[32*6+:32];
  assign output_slots = header[32*7+:32];

  always @(posedge clk)
    if (!rst_n) begin
      state         <= REST;
      streams       <= 1'b0;
      done          <= 1'b0;
      number        <= 0;
      count         <= 32'd0;
      completed     <= 32'd0;
      input_slot    <= 32'd0;
      output_slot   <= 32'd0;
      input_offset  <= 32'd0;
      output_offset <= 32'd0;
      frame_input   <= 32'd0;
      frame_output  <= 32'd0;
    end else if (begun) begin
      state       <= FETCH;
      streams     <= streaming_mode;
      done        <= 1'b0;
      count       <= (bug_frame_count_ignored && !streaming_mode) ? 32'd1 : frame_count;
      completed   <= 32'd0;
      input_slot  <= 32'd0;
      output_slot <= 32'd0;
    end else if (enable)
      case (state)
        FETCH:
        if (!fetch_busy) begin
          input_offset  <= custom_base ? input_base : header[32*2+:32];
          output_offset <= custom_base ? output_base : header[32*5+:32];
          state         <= fetch_good ? FRAME : REST;
        end
        FRAME: begin
          number       <= 0;
          frame_input  <= input_offset + (bug_frame_input_not_advanced ? 32'd0 : input_slot * input_size);
          frame_output <= output_offset + (bug_frame_output_not_advanced ? 32'd0 : output_slot * output_size);
          if (!streams && completed == count) begin
            done  <= 1'b1;
            state <= REST;
          end else if (streams && finished) state <= REST;
          else if (there && free) state <= LAYER;
        end
        LAYER: begin
          state <= RUN;
          if (bug_done_early && last_layer && !streams && completed + 32'd1 == count) done <= 1'b1;
        end
        RUN:
        if (layer_refused) state <= REST;
        else if (!layer_busy) begin
          number <= number + 1'b1;
          state  <= LAYER;
          if (last_layer) begin
            state       <= FRAME;
            completed   <= completed + 32'd1;
            input_slot  <= (streams && input_slot + 32'd1 == input_slots) ? 32'd0 : input_slot + 32'd1;
            output_slot <= (streams && output_slot + 32'd1 == output_slots) ? 32'd0 : output_slot + 32'd1;
          end
        end
        default: ;
      endcase
endmodule
