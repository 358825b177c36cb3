// CSC_WL of a configuration with all precisions: the weights of the next stripe
// operation, out of the convolution buffer, one kernel per clock; compressed weights
// get their zeros back, INT8 is widened to 16 bits.
//
// In the buffer the kernels of a group lie back to back: blocks of 64 elements, in
// them rows, columns, kernels, and last the elements of a block, none of them padded;
// the masks likewise, a bit per element. A group is read once per stripe and released
// when the last stripe has it.
//
// Positions are bytes and, in the masks, bits since the weights of the layer began to
// arrive.
module nvdla_csc_full_wl #(
    parameter ADDR_BITS = 14,
    parameter BANK_WORDS = 1024,
    parameter WMB_BANK = 15
) (
    input  wire                   clk,
    input  wire                   rst_n,
    input  wire                   cleared,       // the buffer holds none
    input  wire                   start,
    input  wire                   is_byte,
    input  wire                   compressed,
    input  wire [           12:0] kernels,       // minus one
    input  wire [           17:0] depth,         // elements of a kernel, or of a row and column of it
    input  wire [            4:0] rows,          // minus one
    input  wire [            4:0] columns,       // minus one
    input  wire [           26:0] stripes,       // per group
    input  wire                   keep,          // release nothing
    input  wire [    ADDR_BITS:0] first,         // word of the ring
    input  wire [    ADDR_BITS:0] capacity,      // words
    input  wire [           31:0] loaded,        // words
    output reg  [           31:0] released,      // words
    input  wire [           31:0] wmb_loaded,
    output reg  [           31:0] wmb_released,
    // Read ports: five for weights, two for masks
    output reg  [7*ADDR_BITS-1:0] addr,
    input  wire [      7*256-1:0] data,
    output reg                    valid,         // all kernels are handed over
    input  wire                   take,
    output wire                   kernel_valid,
    output wire [            4:0] kernel_slot,
    output reg  [         1023:0] elements
);
  localparam PB = ADDR_BITS + 5;  // bits of a byte position in the ring
  localparam LOG2_WMB = $clog2(BANK_WORDS);
  localparam [ADDR_BITS-1:0] WMB_FIRST = WMB_BANK * BANK_WORDS;

  reg run;
  reg [13:0] kernels_left;
  reg [17:0] depth_left;
  reg [4:0] row, column, kernel;
  reg [26:0] stripe;
  // Where to read next, where the group began, where the layer began; the same in
  // the ring and in the masks
  reg [31:0] at, group_at, base_at;
  reg [PB:0] ring_at, ring_group, ring_base;
  reg [31:0] mask_at, mask_group, mask_base;

  wire [6:0] length = (depth_left < 18'd64) ? depth_left[6:0] : 7'd64;
  wire [13:0] group = is_byte ? 14'd32 : 14'd16;
  wire [13:0] kernels_here = (kernels_left < group) ? kernels_left : group;
  wire kernel_ends = ({9'd0, kernel} + 14'd1 == kernels_here);
  wire column_ends = (column == columns);
  wire row_ends = (row == rows);
  wire block_ends = (depth_left <= 18'd64);
  wire stripe_ends = kernel_ends && column_ends && row_ends && block_ends;
  wire group_ends = stripe_ends && (stripe + 27'd1 == stripes);

  // Words of a kernel, and of its mask
  reg [ADDR_BITS:0] word_at;
  integer i;

  always @* begin
    /* verilator unroll_disable */
    for (i = 0; i < 5; i = i + 1) begin
      word_at = ring_at[PB:5] + i[ADDR_BITS:0];
      word_at = first + ((word_at >= capacity) ? word_at - capacity : word_at);
      addr[ADDR_BITS*i+:ADDR_BITS] = word_at[ADDR_BITS-1:0];
    end
    addr[ADDR_BITS*5+:ADDR_BITS] = WMB_FIRST + {{(ADDR_BITS - LOG2_WMB) {1'b0}}, mask_at[8+:LOG2_WMB]};
    addr[ADDR_BITS*6+:ADDR_BITS] = WMB_FIRST + {{(ADDR_BITS - LOG2_WMB) {1'b0}}, mask_at[8+:LOG2_WMB] + 1'b1};
  end

  /* verilator lint_off UNUSEDSIGNAL */
  wire [5*256-1:0] raw = data[5*256-1:0] >> {ring_at[4:0], 3'd0};
  wire [2*256-1:0] bits = data[7*256-1:5*256] >> mask_at[7:0];
  /* verilator lint_on UNUSEDSIGNAL */
  wire [63:0] wanted = ~(64'hffff_ffff_ffff_ffff << length);
  wire [63:0] mask = compressed ? bits[63:0] & wanted : wanted;

  reg [6:0] present;
  integer e;

  always @* begin
    elements = 1024'd0;
    present  = 7'd0;
    /* verilator unroll_disable */
    for (e = 0; e < 64; e = e + 1)
      if (mask[e]) begin
        elements[16*e+:16] = is_byte ? {{8{raw[8*present+7]}}, raw[8*present+:8]} : raw[16*present+:16];
        present = present + 7'd1;
      end
  end

  wire [31:0] bytes = {25'd0, present} << (is_byte ? 0 : 1);
  wire [31:0] end_at = at + bytes;
  wire [31:0] mask_end = mask_at + {25'd0, length};
  wire [PB:0] ring_end = wrap(ring_at + bytes[PB:0], {capacity, 5'd0});
  wire fetch = run && !valid && (!compressed || mask_end <= (wmb_loaded << 8)) && (end_at <= (loaded << 5));

  assign kernel_valid = fetch;
  assign kernel_slot  = is_byte ? kernel : kernel << 1;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      run          <= 1'b0;
      valid        <= 1'b0;
      released     <= 32'd0;
      wmb_released <= 32'd0;
      kernels_left <= 14'd0;
      depth_left   <= 18'd0;
      {row, column, kernel} <= 15'd0;
      stripe       <= 27'd0;
      {at, group_at, base_at} <= 96'd0;
      {ring_at, ring_group, ring_base} <= 0;
      {mask_at, mask_group, mask_base} <= 96'd0;
    end else if (cleared) begin
      released     <= 32'd0;
      wmb_released <= 32'd0;
      base_at      <= 32'd0;
      ring_base    <= 0;
      mask_base    <= 32'd0;
    end else if (start) begin
      run          <= 1'b1;
      valid        <= 1'b0;
      kernels_left <= {1'b0, kernels} + 14'd1;
      depth_left   <= depth;
      {row, column, kernel} <= 15'd0;
      stripe       <= 27'd0;
      {at, group_at}          <= {base_at, base_at};
      {ring_at, ring_group}   <= {ring_base, ring_base};
      {mask_at, mask_group}   <= {mask_base, mask_base};
    end else begin
      if (take) valid <= 1'b0;
      if (fetch) begin
        at      <= end_at;
        ring_at <= ring_end;
        mask_at <= mask_end;
        kernel  <= kernel + 5'd1;
        if (kernel_ends) begin
          valid  <= 1'b1;
          kernel <= 5'd0;
          column <= column_ends ? 5'd0 : column + 5'd1;
          if (column_ends) row <= row_ends ? 5'd0 : row + 5'd1;
          if (column_ends && row_ends) depth_left <= block_ends ? depth : depth_left - 18'd64;
        end
        if (stripe_ends && !group_ends) begin
          stripe  <= stripe + 27'd1;
          at      <= group_at;
          ring_at <= ring_group;
          mask_at <= mask_group;
        end
        if (group_ends) begin
          stripe       <= 27'd0;
          group_at     <= end_at;
          ring_group   <= ring_end;
          mask_group   <= mask_end;
          kernels_left <= kernels_left - kernels_here;
          if (kernels_left == kernels_here) run <= 1'b0;
          if (!keep) begin
            released     <= end_at >> 5;
            wmb_released <= mask_end >> 8;
            base_at      <= end_at;
            ring_base    <= ring_end;
            mask_base    <= mask_end;
          end
        end
      end
    end

  function automatic [PB:0] wrap(input [PB:0] position, input [PB:0] size);
    wrap = (position >= size) ? position - size : position;
  endfunction
endmodule
