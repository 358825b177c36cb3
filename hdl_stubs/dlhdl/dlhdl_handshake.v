// Streaming handshake: offers slots for input frames and results in output slots; both sides
// run on their own.
`include "dlhdl_bugs.vh"

module dlhdl_handshake (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        begun,
    input  wire        streaming,
    input  wire [31:0] count,
    input  wire [31:0] input_offset,
    input  wire [31:0] input_size,
    input  wire [31:0] input_slots,
    input  wire [31:0] output_offset,
    input  wire [31:0] output_size,
    input  wire [31:0] output_slots,
    input  wire [31:0] completed,
    input  wire        computing,
    output wire [31:0] given,
    output reg  [31:0] taken,
    output wire        finished,
    // Registers
    input  wire        input_next,
    input  wire        output_next,
    input  wire        input_stop,
    output reg         input_valid,
    output wire [31:0] input_address,
    output wire [31:0] offered_size,
    output reg         output_valid,
    output reg  [31:0] output_address,
    output reg  [31:0] result_size,
    output reg         streaming_done
);
  `DLHDL_BUG(output_valid_early)
  `DLHDL_BUG(input_addr_not_advanced)
  `DLHDL_BUG(input_addr_unstable)
  `DLHDL_BUG(output_addr_not_advanced)
  `DLHDL_BUG(streaming_done_early)
  `DLHDL_BUG(frame_before_input_next)
  `DLHDL_BUG(input_stop_ignored)
  `DLHDL_BUG(input_valid_stays)
  `DLHDL_BUG(output_valid_stays)
  reg [31:0] frames;  // that were given
  reg [31:0] input_slot, output_slot, address, size;
  reg stopped;

  wire wanted = !stopped && (count == 32'd0 || frames != count);
  wire room = frames != completed + input_slots;
  wire ready = completed != taken || (bug_output_valid_early && computing);

  assign given         = frames + {31'd0, bug_frame_before_input_next && input_valid};
  assign finished      = (stopped && taken == frames) || (count != 32'd0 && taken == count);
  assign input_address = address + (bug_input_addr_unstable ? {31'd0, computing} << 4 : 32'd0);
  assign offered_size  = size;

  always @(posedge clk)
    if (!rst_n || begun) begin
      frames         <= 32'd0;
      taken          <= 32'd0;
      input_slot     <= 32'd0;
      output_slot    <= 32'd0;
      stopped        <= 1'b0;
      input_valid    <= 1'b0;
      output_valid   <= 1'b0;
      streaming_done <= 1'b0;
      address        <= 32'd0;
      size           <= 32'd0;
      output_address <= 32'd0;
      result_size    <= 32'd0;
    end else begin
      if (bug_streaming_done_early && streaming && !wanted && completed == frames) streaming_done <= 1'b1;
      if (input_stop && !bug_input_stop_ignored) stopped <= 1'b1;
      if (!streaming) begin
        input_valid  <= 1'b0;
        output_valid <= 1'b0;
      end else if (finished) begin
        streaming_done <= 1'b1;
        output_valid   <= 1'b0;
      end else begin
        if (input_valid) begin
          if (input_next) begin
            frames      <= frames + 32'd1;
            input_slot  <= (input_slot + 32'd1 == input_slots) ? 32'd0 : input_slot + 32'd1;
          end
          if ((input_next && !bug_input_valid_stays) || !wanted) input_valid <= 1'b0;
        end else if (wanted && room) begin
          input_valid <= 1'b1;
          address     <= input_offset + (bug_input_addr_not_advanced ? 32'd0 : input_slot * input_size);
          size        <= input_size;
        end
        if (output_valid) begin
          if (output_next) begin
            taken       <= taken + 32'd1;
            output_slot <= (output_slot + 32'd1 == output_slots) ? 32'd0 : output_slot + 32'd1;
            if (!bug_output_valid_stays) output_valid <= 1'b0;
          end
        end else if (ready) begin
          output_valid   <= 1'b1;
          output_address <= output_offset + (bug_output_addr_not_advanced ? 32'd0 : output_slot * output_size);
          result_size    <= output_size;
        end
      end
    end
endmodule
