// One kernel's elements of a block with the zeros that compression left out: its mask,
// in a bank of the convolution buffer, has a bit for each.
module nvdla_csc_decompress #(
    parameter ATOM_BYTES = 32,
    parameter ADDR_BITS = 14,
    parameter BANK_WORDS = 1024,
    parameter WMB_BANK = 15
) (
    input  wire                    compressed,
    input  wire                    is_byte,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [            31:0] mask_at,     // bits since the masks of the layer began to arrive
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [             6:0] length,      // elements
    output wire [ 2*ADDR_BITS-1:0] addr,
    input  wire [16*ATOM_BYTES-1:0] data,
    input  wire [          1023:0] aligned,     // what is in the buffer from the kernel on
    input  wire [          1023:0] plain,       // the kernel, were it not compressed
    output reg  [          1023:0] elements,
    output reg  [             6:0] present      // elements in the buffer
);
  localparam LOG2_WORD = $clog2(ATOM_BYTES) + 3;  // bits
  localparam LOG2_WMB = $clog2(BANK_WORDS);
  localparam [ADDR_BITS-1:0] FIRST = WMB_BANK * BANK_WORDS;

  wire [LOG2_WMB-1:0] word = mask_at[LOG2_WORD+:LOG2_WMB];

  assign addr = {
    FIRST + {{(ADDR_BITS - LOG2_WMB) {1'b0}}, word + 1'b1}, FIRST + {{(ADDR_BITS - LOG2_WMB) {1'b0}}, word}
  };

  /* verilator lint_off UNUSEDSIGNAL */
  wire [16*ATOM_BYTES-1:0] bits = data >> mask_at[LOG2_WORD-1:0];
  /* verilator lint_on UNUSEDSIGNAL */
  wire [63:0] mask = bits[63:0] & ~(64'hffff_ffff_ffff_ffff << length);
  integer e;

  always @* begin
    elements = plain;
    present  = length;
    if (compressed) begin
      elements = 1024'd0;
      present  = 7'd0;
      /* verilator unroll_disable */
      for (e = 0; e < 64; e = e + 1)
        if (mask[e]) begin
          if (is_byte) elements[8*e+:8] = aligned[8*present+:8];
          else elements[16*e+:16] = aligned[16*present+:16];
          present = present + 7'd1;
        end
    end
  end
endmodule
