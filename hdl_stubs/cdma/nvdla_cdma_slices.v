// Data part of the convolution buffer, seen from its writing side: a ring of
// slices, one slice per line of the input. A slice has a part for that line of each
// cube, which owns ENTRY_PER_SLICE entries whether it fills them or not; a word goes
// after the one before it, or at the start of the next part, and the word marked last
// completes the slice.
//
// A layer that reuses data starts with the slices that the layer before left
// after, any other layer with an empty ring.
module nvdla_cdma_slices #(
    parameter WORD_BITS = 64,
    parameter ADDR_BITS = 14
) (
    input  wire                 clk,
    input  wire                 rst_n,
    input  wire                 start,
    input  wire                 reuse,
    input  wire [ADDR_BITS:0]   capacity,       // words
    input  wire [ADDR_BITS:0]   part_words,
    input  wire [ADDR_BITS:0]   slice_words,    // of all parts
    input  wire                 in_valid,
    output wire                 in_ready,
    input  wire [WORD_BITS-1:0] in_data,
    input  wire                 in_part_last,   // of its part
    input  wire                 in_last,        // of the slice
    output wire                 write,
    output wire [ADDR_BITS-1:0] write_addr,
    output wire [WORD_BITS-1:0] write_data,
    input  wire                 release_valid,  // by CSC at the end of its layer
    input  wire [         13:0] release_slices,
    output reg  [  ADDR_BITS:0] first,          // word of the oldest slice
    output reg  [         13:0] slices          // complete slices from there on
);
  reg [ADDR_BITS:0] tail, used, offset, part;  // offsets of the next word and of its part in the slice
  wire [ADDR_BITS:0] next_part = in_last ? 0 : part + part_words;

  wire room = {1'b0, used} + {1'b0, slice_words} <= {1'b0, capacity};
  wire ends = write && in_last;

  // Positions stay below the capacity, and what is released below what the ring
  // holds, so the upper bits are 0.
  /* verilator lint_off UNUSEDSIGNAL */
  wire [ADDR_BITS:0] place = wrap({1'b0, tail} + {1'b0, offset}, capacity);
  wire [ADDR_BITS+14:0] freed = {1'b0, release_slices} * slice_words;
  /* verilator lint_on UNUSEDSIGNAL */
  wire all_released = (release_slices >= slices);

  assign in_ready   = room && !release_valid;
  assign write      = in_valid && in_ready;
  assign write_addr = place[ADDR_BITS-1:0];
  assign write_data = in_data;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      first  <= 0;
      slices <= 14'd0;
      tail   <= 0;
      used   <= 0;
      offset <= 0;
      part   <= 0;
    end else if (start && !reuse) begin
      first  <= 0;
      slices <= 14'd0;
      tail   <= 0;
      used   <= 0;
      offset <= 0;
      part   <= 0;
    end else if (release_valid) begin
      slices <= all_released ? 14'd0 : slices - release_slices;
      used   <= all_released ? 0 : used - freed[ADDR_BITS:0];
      first  <= all_released ? tail : wrap({1'b0, first} + {1'b0, freed[ADDR_BITS:0]}, capacity);
    end else begin
      if (write) offset <= in_part_last ? next_part : offset + 1'b1;
      if (write && in_part_last) part <= next_part;
      if (ends) begin
        tail   <= wrap({1'b0, tail} + {1'b0, slice_words}, capacity);
        used   <= used + slice_words;
        slices <= slices + 14'd1;
      end
    end

  // All that it depends on is an argument: an assignment does not wait for what a
  // function reads besides.
  function automatic [ADDR_BITS:0] wrap(input [ADDR_BITS+1:0] at, input [ADDR_BITS:0] size);
    /* verilator lint_off UNUSEDSIGNAL */
    reg [ADDR_BITS+1:0] low;  // the top bit is spent on the sum
    /* verilator lint_on UNUSEDSIGNAL */
    begin
      low  = (at >= {1'b0, size}) ? at - {1'b0, size} : at;
      wrap = low[ADDR_BITS:0];
    end
  endfunction
endmodule
