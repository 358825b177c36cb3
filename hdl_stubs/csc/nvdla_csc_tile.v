// What Winograd and FP16 need beside the elements of direct convolution: the 4x4 tile
// of four channels, out of four lines of the buffer, through the pre-addition, and the
// first NaN of an atomic operation, which is looked for in front of it.
module nvdla_csc_tile #(
    parameter ATOM_BYTES = 32,
    parameter LINE_PORTS = 5
) (
    input  wire                                 clk,
    input  wire                                 take,
    input  wire                                 winograd,
    input  wire [                          1:0] precision,
    input  wire [                          1:0] pra_truncate,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [                         12:0] block,         // of four channels
    input  wire [4*LINE_PORTS*8*ATOM_BYTES-1:0] data,          // four words of each line count
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [                       1023:0] direct,        // elements of direct convolution
    output wire [                       1023:0] transformed,
    output reg  [                         16:0] nan            // {there is one, the first one}
);
  `include "nvdla_float.vh"

  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam W = 8 * ATOM_BYTES;
  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;

  wire is_byte = (precision == INT8);
  reg [1023:0] packed_tile;
  wire [1023:0] elements;
  integer p;

  always @* begin
    packed_tile = 1024'd0;
    if (winograd)
      for (p = 0; p < 16; p = p + 1)
        if (is_byte)
          packed_tile[32*p+:32] = data[W*(LINE_PORTS*(p/4)+p%4)+32*block[LOG2_ATOM-3:0]+:32];
        else packed_tile[64*p+:64] = data[W*(LINE_PORTS*(p/4)+p%4)+64*block[LOG2_ATOM-4:0]+:64];
  end

  nvdla_csc_widen #(
      .COUNT       (64),
      .ELEMENT_BITS(16)
  ) widen (
      .is_byte        (is_byte),
      .packed_elements(packed_tile),
      .elements       (elements)
  );

  nvdla_csc_pra pra (
      .clk        (clk),
      .take       (take && winograd),
      .precision  (precision),
      .truncate   (pra_truncate),
      .tile       (elements),
      .transformed(transformed)
  );

  always @(posedge clk)
    if (take) nan <= (precision == FP16) ? first_nan(winograd ? elements : direct) : 17'd0;
endmodule
