// CSC_WL: the weights of one stripe operation at a time, out of the convolution
// buffer, one kernel per clock.
//
// In the buffer the kernels of a group lie back to back: blocks of channels, in them
// rows, columns, kernels, and last the channels of a block, none of them padded. A
// group is read once per stripe and released when the last stripe has it. With
// channel post-extension a block is the same channels of two or four rows.
//
// Positions are bytes since the weights of the layer began to arrive.
module nvdla_csc_wl #(
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter ATOMIC_C = 8,
    parameter ATOMIC_K = 8
) (
    input  wire                              clk,
    input  wire                              rst_n,
    input  wire                              cleared,       // the buffer holds none
    input  wire                              start,
    input  wire [                      12:0] kernels,       // minus one
    input  wire [                      12:0] channels,      // minus one
    input  wire [                       4:0] rows,          // minus one
    input  wire [                       4:0] columns,       // minus one
    input  wire [                       2:0] lines,         // rows per stripe operation
    input  wire [                      26:0] stripes,       // per group
    input  wire                              keep,          // release nothing
    input  wire [               ADDR_BITS:0] first,         // word of the ring
    input  wire [               ADDR_BITS:0] capacity,      // words
    input  wire [                      31:0] loaded,        // words
    output reg  [                      31:0] released,      // words
    output wire [(ATOMIC_C/ATOM_BYTES+1)*ADDR_BITS-1:0] addr,
    input  wire [(ATOMIC_C/ATOM_BYTES+1)*8*ATOM_BYTES-1:0] data,
    output reg                               valid,
    input  wire                              take,
    output reg  [   8*ATOMIC_C*ATOMIC_K-1:0] weights        // absent ones are 0
);
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam PORTS = ATOMIC_C / ATOM_BYTES + 1;
  localparam W = 8 * ATOM_BYTES;
  localparam C = 8 * ATOMIC_C;  // bits of one kernel's weights
  localparam KW = $clog2(ATOMIC_K);
  localparam PB = ADDR_BITS + LOG2_ATOM;  // bits of a byte position in the ring
  localparam [13:0] BLOCK = ATOMIC_C[13:0];
  localparam [13:0] GROUP = ATOMIC_K[13:0];

  reg run;
  reg [13:0] kernels_left, channels_left;
  reg [5:0] row, column;
  reg [26:0] stripe;
  reg [KW-1:0] kernel;
  // Where to read next, where the group began, where the layer began; the same in
  // the ring
  reg [31:0] at, group_at, base_at;
  reg [PB:0] ring_at, ring_group, ring_base;

  wire [13:0] all_channels = {1'b0, channels} + 14'd1;
  wire [5:0] rows_left = {1'b0, rows} + 6'd1 - row;
  wire [2:0] rows_here = (rows_left < {3'd0, lines}) ? rows_left[2:0] : lines;
  wire [13:0] length = (lines != 3'd1) ? all_channels * {11'd0, rows_here} :
                       (channels_left < BLOCK) ? channels_left : BLOCK;

  wire [13:0] kernels_here = (kernels_left < GROUP) ? kernels_left : GROUP;
  wire kernel_ends = ({{(14 - KW) {1'b0}}, kernel} + 14'd1 == kernels_here);
  wire column_ends = (column == {1'b0, columns});
  wire row_ends = (rows_left <= {3'd0, lines});
  wire block_ends = (lines != 3'd1) || (channels_left <= BLOCK);
  wire stripe_ends = kernel_ends && column_ends && row_ends && block_ends;
  wire group_ends = stripe_ends && (stripe + 27'd1 == stripes);

  wire [31:0] end_at = at + {18'd0, length};
  wire present = (end_at <= (loaded << LOG2_ATOM));
  wire fetch = run && !valid && present;
  wire [PB:0] ring_end = wrap(ring_at + {{(PB - 13) {1'b0}}, length}, capacity);

  // The bytes of one kernel start anywhere in a word.
  reg [PORTS*ADDR_BITS-1:0] word_addr;
  reg [ADDR_BITS:0] word_at;
  integer i;

  assign addr = word_addr;

  always @* begin
    for (i = 0; i < PORTS; i = i + 1) begin
      word_at = ring_at[PB:LOG2_ATOM] + i[ADDR_BITS:0];
      word_at = first + ((word_at >= capacity) ? word_at - capacity : word_at);
      word_addr[ADDR_BITS*i+:ADDR_BITS] = word_at[ADDR_BITS-1:0];
    end
  end

  /* verilator lint_off UNUSEDSIGNAL */
  wire [PORTS*W-1:0] aligned = data >> {ring_at[LOG2_ATOM-1:0], 3'd0};
  /* verilator lint_on UNUSEDSIGNAL */
  wire [C-1:0] vector = aligned[C-1:0] & ~({C{1'b1}} << {length, 3'd0});

  always @(posedge clk)
    if (fetch) begin
      if (kernel == 0) weights <= {{C * (ATOMIC_K - 1) {1'b0}}, vector};
      else weights[C*kernel+:C] <= vector;
    end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      run           <= 1'b0;
      valid         <= 1'b0;
      released      <= 32'd0;
      kernels_left  <= 14'd0;
      channels_left <= 14'd0;
      row           <= 6'd0;
      column        <= 6'd0;
      stripe        <= 27'd0;
      kernel        <= 0;
      {at, group_at, base_at} <= 96'd0;
      {ring_at, ring_group, ring_base} <= 0;
    end else if (cleared) begin
      released  <= 32'd0;
      base_at   <= 32'd0;
      ring_base <= 0;
    end else if (start) begin
      run           <= 1'b1;
      valid         <= 1'b0;
      kernels_left  <= {1'b0, kernels} + 14'd1;
      channels_left <= all_channels;
      row           <= 6'd0;
      column        <= 6'd0;
      stripe        <= 27'd0;
      kernel        <= 0;
      {at, group_at}        <= {base_at, base_at};
      {ring_at, ring_group} <= {ring_base, ring_base};
    end else begin
      if (take) valid <= 1'b0;
      if (fetch) begin
        at      <= end_at;
        ring_at <= ring_end;
        kernel  <= kernel + 1'b1;
        if (kernel_ends) begin
          valid  <= 1'b1;
          kernel <= 0;
          column <= column_ends ? 6'd0 : column + 6'd1;
          if (column_ends) row <= row_ends ? 6'd0 : row + {3'd0, lines};
          if (column_ends && row_ends) channels_left <= block_ends ? all_channels : channels_left - BLOCK;
        end
        if (stripe_ends && !group_ends) begin
          stripe  <= stripe + 27'd1;
          at      <= group_at;
          ring_at <= ring_group;
        end
        if (group_ends) begin
          stripe       <= 27'd0;
          group_at     <= end_at;
          ring_group   <= ring_end;
          kernels_left <= kernels_left - kernels_here;
          if (kernels_left == kernels_here) run <= 1'b0;
          if (!keep) begin
            released  <= end_at >> LOG2_ATOM;
            base_at   <= end_at;
            ring_base <= ring_end;
          end
        end
      end
    end

  function automatic [PB:0] wrap(input [PB:0] position, input [ADDR_BITS:0] size);
    wrap = (position >= {size, {LOG2_ATOM{1'b0}}}) ? position - {size, {LOG2_ATOM{1'b0}}} : position;
  endfunction
endmodule
