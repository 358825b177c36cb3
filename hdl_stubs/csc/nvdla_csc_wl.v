// CSC_WL: the weights of the next stripe operation, out of the convolution buffer, one
// kernel per clock; of FULL, compressed weights get their zeros back and INT8 is widened
// to 16 bits.
//
// In the buffer the kernels of a group lie back to back: blocks of channels, in them
// rows, columns, kernels, and last the elements of a block, none of them padded; the
// masks likewise, a bit per element. A group is read once per stripe and released when
// the last stripe has it. With channel post-extension a block is the same channels of
// two or four rows.
//
// Positions are bytes and, in the masks, bits since the weights of the layer began to
// arrive.
module nvdla_csc_wl #(
    parameter FULL = 0,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter BANK_WORDS = 512,
    parameter WMB_BANK = 31,
    parameter ATOMIC_C = 8,
    parameter ELEMENT_BITS = 8,
    parameter SLOT_BITS = 3,
    parameter PORTS = 2
) (
    input  wire                             clk,
    input  wire                             rst_n,
    input  wire                             cleared,       // the buffer holds none
    input  wire                             start,
    input  wire                             is_byte,
    input  wire                             compressed,
    input  wire [                     12:0] kernels,       // minus one
    input  wire [                     17:0] depth,         // elements of a kernel in a row and column
    input  wire [                      4:0] rows,          // minus one
    input  wire [                      4:0] columns,       // minus one
    input  wire [                      2:0] lines,         // rows per stripe operation
    input  wire [                     13:0] group,         // kernels
    input  wire [                     26:0] stripes,       // per group
    input  wire                             keep,          // release nothing
    input  wire [              ADDR_BITS:0] first,         // word of the ring
    input  wire [              ADDR_BITS:0] capacity,      // words
    input  wire [                     31:0] loaded,        // words
    output reg  [                     31:0] released,      // words
    input  wire [                     31:0] wmb_loaded,
    output reg  [                     31:0] wmb_released,
    // Read ports: of the weights and, of FULL, last two for masks
    output wire [      PORTS*ADDR_BITS-1:0] addr,
    input  wire [   PORTS*8*ATOM_BYTES-1:0] data,
    output reg                              valid,         // all kernels are handed over
    input  wire                             take,
    output wire                             kernel_valid,
    output reg  [            SLOT_BITS-1:0] kernel,
    output wire [ATOMIC_C*ELEMENT_BITS-1:0] elements
);
  localparam WORD_PORTS = (FULL != 0) ? PORTS - 2 : PORTS;
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam W = 8 * ATOM_BYTES;
  localparam C = ATOMIC_C * ELEMENT_BITS;
  localparam PB = ADDR_BITS + LOG2_ATOM;  // bits of a byte position in the ring
  localparam [17:0] BLOCK = ATOMIC_C[17:0];

  reg run;
  reg [13:0] kernels_left;
  reg [17:0] depth_left;
  reg [5:0] row, column;
  reg [26:0] stripe;
  // Where to read next, where the group began, where the layer began; the same in
  // the ring and in the masks
  reg [31:0] at, group_at, base_at;
  reg [PB:0] ring_at, ring_group, ring_base;
  reg [31:0] mask_at, mask_group, mask_base;

  wire [5:0] rows_left = {1'b0, rows} + 6'd1 - row;
  wire [2:0] rows_here = (rows_left < {3'd0, lines}) ? rows_left[2:0] : lines;
  wire [17:0] length = (lines != 3'd1) ? depth * {15'd0, rows_here} : (depth_left < BLOCK) ? depth_left : BLOCK;
  wire [13:0] kernels_here = (kernels_left < group) ? kernels_left : group;
  wire kernel_ends = ({{(14 - SLOT_BITS) {1'b0}}, kernel} + 14'd1 == kernels_here);
  wire column_ends = (column == {1'b0, columns});
  wire row_ends = (rows_left <= {3'd0, lines});
  wire block_ends = (lines != 3'd1) || (depth_left <= BLOCK);
  wire stripe_ends = kernel_ends && column_ends && row_ends && block_ends;
  wire group_ends = stripe_ends && (stripe + 27'd1 == stripes);

  // Words of a kernel, which starts anywhere in a word
  reg [WORD_PORTS*ADDR_BITS-1:0] word_addr;
  reg [ADDR_BITS:0] word_at;
  integer i;

  assign addr[0+:WORD_PORTS*ADDR_BITS] = word_addr;

  always @* begin
    for (i = 0; i < WORD_PORTS; i = i + 1) begin
      word_at = ring_at[PB:LOG2_ATOM] + i[ADDR_BITS:0];
      word_at = first + ((word_at >= capacity) ? word_at - capacity : word_at);
      word_addr[ADDR_BITS*i+:ADDR_BITS] = word_at[ADDR_BITS-1:0];
    end
  end

  /* verilator lint_off UNUSEDSIGNAL */
  wire [WORD_PORTS*W-1:0] aligned = data[WORD_PORTS*W-1:0] >> {ring_at[LOG2_ATOM-1:0], 3'd0};
  /* verilator lint_on UNUSEDSIGNAL */
  wire [C-1:0] plain = aligned[C-1:0] & ~({C{1'b1}} << ({14'd0, length} << (is_byte ? 3 : 4)));
  wire [C-1:0] packed_elements;
  wire [17:0] present;  // elements that are not left out
  wire masks_there;

  generate
    if (FULL != 0) begin : compression
      nvdla_csc_decompress #(
          .ATOM_BYTES(ATOM_BYTES),
          .ADDR_BITS (ADDR_BITS),
          .BANK_WORDS(BANK_WORDS),
          .WMB_BANK  (WMB_BANK)
      ) decompress (
          .compressed(compressed),
          .is_byte   (is_byte),
          .mask_at   (mask_at),
          .length    (length[6:0]),
          .addr      (addr[WORD_PORTS*ADDR_BITS+:2*ADDR_BITS]),
          .data      (data[WORD_PORTS*W+:2*W]),
          .aligned   (aligned[C-1:0]),
          .plain     (plain),
          .elements  (packed_elements),
          .present   (present[6:0])
      );

      assign present[17:7] = 11'd0;
      assign masks_there   = !compressed || mask_end <= (wmb_loaded << (LOG2_ATOM + 3));
    end else begin : no_compression
      wire unused_bits = &{1'b0, wmb_loaded, compressed};

      assign packed_elements = plain;
      assign present         = length;
      assign masks_there     = 1'b1;
    end
  endgenerate

  nvdla_csc_widen #(
      .COUNT       (ATOMIC_C),
      .ELEMENT_BITS(ELEMENT_BITS)
  ) widen (
      .is_byte        (is_byte),
      .packed_elements(packed_elements),
      .elements       (elements)
  );

  wire [31:0] bytes = {14'd0, present} << (is_byte ? 0 : 1);
  wire [31:0] end_at = at + bytes;
  wire [31:0] mask_end = mask_at + {14'd0, length};
  wire [PB:0] ring_end = wrap(ring_at + bytes[PB:0], {capacity, {LOG2_ATOM{1'b0}}});
  wire fetch = run && !valid && masks_there && (end_at <= (loaded << LOG2_ATOM));

  assign kernel_valid = fetch;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      run          <= 1'b0;
      valid        <= 1'b0;
      released     <= 32'd0;
      wmb_released <= 32'd0;
      kernels_left <= 14'd0;
      depth_left   <= 18'd0;
      {row, column} <= 12'd0;
      kernel       <= 0;
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
      {row, column} <= 12'd0;
      kernel       <= 0;
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
        kernel  <= kernel + 1'b1;
        if (kernel_ends) begin
          valid  <= 1'b1;
          kernel <= 0;
          column <= column_ends ? 6'd0 : column + 6'd1;
          if (column_ends) row <= row_ends ? 6'd0 : row + {3'd0, lines};
          if (column_ends && row_ends) depth_left <= block_ends ? depth : depth_left - BLOCK;
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
            released     <= end_at >> LOG2_ATOM;
            wmb_released <= mask_end >> (LOG2_ATOM + 3);
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
