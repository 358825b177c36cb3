// The registers, at the offsets of dlhdl_addr.h. Those that the core reports are read from
// its state and cannot be written; all others store what is written.
`include "dlhdl_bugs.vh"

module dlhdl_registers (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        write,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [15:0] write_address,        // bits 1:0 do not matter, nor in the other one
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [31:0] write_data,
    input  wire [ 3:0] write_strobe,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [15:0] read_address,
    /* verilator lint_on UNUSEDSIGNAL */
    output reg  [31:0] read_data,
    output wire        soft_reset,           // for one clock, with the write
    output wire        enable,
    output wire [31:0] activation_read_base,
    output wire [31:0] activation_write_base,
    output wire [31:0] weight_read_base,
    output wire [31:0] list_address,
    output wire [31:0] conv_weights,
    output wire [31:0] fc_weights,
    output wire [31:0] frame_count,
    output wire        streaming_mode,
    output wire        custom_base,
    output wire [31:0] input_base,
    output wire [31:0] output_base,
    output wire        input_start,          // these four for one clock, with the write
    output wire        input_next,
    output wire        output_next,
    output wire        input_stop,
    input  wire        done,
    input  wire        input_valid,
    input  wire [31:0] input_address,
    input  wire [31:0] input_size,
    input  wire        output_valid,
    input  wire [31:0] output_address,
    input  wire [31:0] output_size,
    input  wire        streaming_done
);
  `DLHDL_BUG(activation_read_base_ignored)
  `DLHDL_BUG(activation_write_base_ignored)
  `DLHDL_BUG(weight_read_base_ignored)
  `DLHDL_BUG(custom_base_ignored)
  `DLHDL_BUG(reset_keeps_registers)
  `DLHDL_BUG(enable_ignored)
  localparam [31:0] TIMESTAMP = 32'd2601010000;
  localparam [15:0] RESET = 16'h000, STAMP = 16'h01C, DONE = 16'h220, START = 16'h224;
  localparam [15:0] INPUT_NEXT = 16'h350, INPUT_VALID = 16'h354, INPUT_ADDR = 16'h358, INPUT_SIZE = 16'h35C;
  localparam [15:0] OUTPUT_NEXT = 16'h360, OUTPUT_VALID = 16'h364, OUTPUT_ADDR = 16'h368;
  localparam [15:0] OUTPUT_SIZE = 16'h36C, STREAMING_DONE = 16'h370, INPUT_STOP = 16'h374;

  // Word n is the register at offset 4 * n.
  reg [31:0] store[0:511];

  function exists(input [15:0] offset);
    exists = (offset <= 16'h01C) || (offset >= 16'h100 && offset <= 16'h124) || offset == 16'h138 ||
        (offset >= 16'h140 && offset <= 16'h15C) || offset == 16'h16C || offset == 16'h17C ||
        offset == 16'h184 || offset == 16'h188 || (offset >= 16'h220 && offset <= 16'h228) ||
        offset == 16'h24C || (offset >= 16'h294 && offset <= 16'h32C) ||
        (offset >= 16'h334 && offset <= 16'h340) || (offset >= 16'h348 && offset <= 16'h374) ||
        (offset >= 16'h37C && offset <= 16'h39C) || offset == 16'h3C8 ||
        (offset >= 16'h400 && offset <= 16'h41C);
  endfunction

  function reported(input [15:0] offset);
    case (offset)
      RESET, STAMP, DONE, INPUT_VALID, INPUT_ADDR, INPUT_SIZE, OUTPUT_VALID, OUTPUT_ADDR, OUTPUT_SIZE, STREAMING_DONE:
      reported = 1'b1;
      default: reported = 1'b0;
    endcase
  endfunction

  wire [15:0] target = {write_address[15:2], 2'b00};
  wire [15:0] source = {read_address[15:2], 2'b00};
  wire [31:0] old = store[target[10:2]];
  wire [31:0] merged = {
    write_strobe[3] ? write_data[31:24] : old[31:24],
    write_strobe[2] ? write_data[23:16] : old[23:16],
    write_strobe[1] ? write_data[15:8] : old[15:8],
    write_strobe[0] ? write_data[7:0] : old[7:0]
  };
  wire rises = write && merged[0] && !old[0];

  assign soft_reset  = write && target == RESET && write_strobe[0] && write_data[0];
  assign input_start = rises && target == START;
  assign input_next  = rises && target == INPUT_NEXT;
  assign output_next = rises && target == OUTPUT_NEXT;
  assign input_stop  = rises && target == INPUT_STOP;

  // Their word numbers are the offsets over 4.
  assign enable                = store[9'h001][0] || bug_enable_ignored;
  assign activation_read_base  = bug_activation_read_base_ignored ? 32'd0 : store[9'h002];
  assign activation_write_base = bug_activation_write_base_ignored ? 32'd0 : store[9'h003];
  assign weight_read_base      = bug_weight_read_base_ignored ? 32'd0 : store[9'h004];
  assign frame_count           = store[9'h093];
  assign fc_weights            = store[9'h0A5];
  assign list_address          = store[9'h0AA];
  assign conv_weights          = store[9'h0CD];
  assign streaming_mode        = store[9'h0D3][0];
  assign custom_base           = store[9'h0E0][0] && !bug_custom_base_ignored;
  assign input_base            = store[9'h0E1];
  assign output_base           = store[9'h0E2];

  integer i;
  always @(posedge clk)
    if (!rst_n || (soft_reset && !bug_reset_keeps_registers))
      for (i = 0; i < 512; i = i + 1) store[i] <= (i == 1) ? 32'd1 : 32'd0;
    else if (write && exists(target) && !reported(target)) store[target[10:2]] <= merged;

  wire [31:0] stored = store[source[10:2]];
  always @*
    case (source)
      STAMP: read_data = TIMESTAMP;
      DONE: read_data = {31'd0, done};
      INPUT_VALID: read_data = {31'd0, input_valid};
      INPUT_ADDR: read_data = input_address;
      INPUT_SIZE: read_data = input_size;
      OUTPUT_VALID: read_data = {31'd0, output_valid};
      OUTPUT_ADDR: read_data = output_address;
      OUTPUT_SIZE: read_data = output_size;
      STREAMING_DONE: read_data = {31'd0, streaming_done};
      default: read_data = exists(source) ? stored : 32'd0;
    endcase
endmodule
