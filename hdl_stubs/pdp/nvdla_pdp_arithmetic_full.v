// Arithmetic of pooling in INT8, INT16 and FP16, see nvdla_pdp_core. No clock.
//
// Integers are as wide as measured on the public nv_full RTL and wrap in two's
// complement, where nothing is limited; halves round away from zero. Of FP16, maximum and minimum keep the bits; a NaN
// passes, of several the first one. Sums and averages are doubles rounded once, to
// FP16 at the end, where the hardware rounds every step to FP17; infinity counts as
// the largest FP17 number, as measured on the public nv_full RTL. RECIP and padding
// registers hold FP17 then.
module nvdla_pdp_arithmetic_full #(
    parameter ATOM_BYTES = 32,
    parameter W = 32 * ATOM_BYTES
) (
    input  wire [             1:0] precision,
    input  wire                    nan_to_zero,
    input  wire [             1:0] method,
    input  wire [             3:0] kernel_width,   // minus one
    input  wire [            18:0] pad_columns,    // what the padded columns, and lines, add
    input  wire [            18:0] pad_rows,
    input  wire [            16:0] recip_width,
    input  wire [            16:0] recip_height,
    input  wire [8*ATOM_BYTES-1:0] in_data,
    output wire [           W-1:0] widened,
    input  wire                    column_fresh,   // the atom is the window's first in this line
    input  wire [           W-1:0] along,
    input  wire [           W-1:0] atom,
    output wire [           W-1:0] along_next,
    output wire [           W-1:0] partial_next,   // with the padded columns
    input  wire                    row_fresh,
    input  wire [           W-1:0] down,
    input  wire [           W-1:0] partial,
    output wire [           W-1:0] down_next,
    output wire [           W-1:0] total_next,     // with the padded lines
    input  wire [           W-1:0] total,
    output wire [8*ATOM_BYTES-1:0] finished
);
  `include "nvdla_float.vh"
  `include "nvdla_integer_math.vh"

  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;
  localparam [1:0] METHOD_AVERAGE = 2'd0, METHOD_MAX = 2'd1;
  localparam S = 64;  // bits of one accumulator, 32 of INT8

  wire bytes = (precision == INT8);
  wire is_float = (precision == FP16);
  wire average = (method == METHOD_AVERAGE);
  localparam ROW8 = 11, ROW16 = 22;  // elements of one line of a window with its padded columns
  localparam SUM8 = 14, SUM16 = 22;  // a window, and what its padded lines add
  localparam MIDDLE8 = 11, MIDDLE16 = 19;  // a sum times the first reciprocal

  wire signed [63:0] columns_add = average ? {{45{pad_columns[18]}}, pad_columns} : 64'sd0;
  wire signed [63:0] rows_add =
      average ? {{45{pad_rows[18]}}, pad_rows} * ({60'd0, kernel_width} + 64'sd1) : 64'sd0;
  wire [63:0] columns_real = average ? $realtobits(from_fp17(pad_columns[16:0])) : 64'd0;
  wire [63:0] rows_real =
      average ? $realtobits(from_fp17(pad_rows[16:0]) * $itor({28'd0, kernel_width} + 32'd1)) : 64'd0;

  assign widened      = extended(in_data);
  assign along_next   = merged(column_fresh, along, atom);
  assign partial_next = added(along_next, is_float ? columns_real : columns_add, ROW8, ROW16);
  assign down_next    = merged(row_fresh, down, partial);
  assign total_next   = added(down_next, is_float ? rows_real : rows_add, SUM8, SUM16);
  assign finished     = results(total);

  /* verilator lint_off UNUSEDSIGNAL */

  // Accumulators: an integer, the bits of FP16, or those of a double whose NaN keeps
  // sign and payload.
  function automatic [S-1:0] element(input [15:0] h);
    if (!is_float) element = {{(S - 16) {h[15]}}, h};
    else if (is_nan16(h) && nan_to_zero) element = 0;
    else if (!average) element = {48'd0, h};
    else if (is_nan16(h)) element = {h[15], 11'h7ff, h[9:0], 42'd0};
    else element = $realtobits(from_fp16_limited(h));
  endfunction

  function automatic is_nan(input [S-1:0] v);
    is_nan = average ? (v[62:52] == 11'h7ff) : is_nan16(v[15:0]);
  endfunction

  function automatic [15:0] ordered(input [15:0] h);
    ordered = h[15] ? ~h : {1'b1, h[14:0]};
  endfunction

  function automatic [S-1:0] combined(input [S-1:0] a, input [S-1:0] b);
    reg above;
    begin
      above = is_float ? (ordered(b[15:0]) > ordered(a[15:0])) : ($signed(b) > $signed(a));
      if (is_float && is_nan(a)) combined = a;
      else if (is_float && is_nan(b)) combined = b;
      else if (!average) combined = (above == (method == METHOD_MAX)) ? b : a;
      else combined = is_float ? $realtobits($bitstoreal(a) + $bitstoreal(b)) : a + b;
    end
  endfunction

  function automatic signed [S-1:0] wrapped(input [S-1:0] v, input integer bits);
    wrapped = $signed(v << (S - bits)) >>> (S - bits);
  endfunction

  // A product without its 16 fraction bits. From 0 up it first loses the bits above the
  // magnitude of the result; rounding may then carry into the sign.
  function automatic signed [S-1:0] rounded(input signed [S-1:0] p, input integer bits);
    rounded = wrapped(shift_round(p[S-1] ? p : p & ~(~64'd0 << (bits + 15)), 6'd16), bits);
  endfunction

  function automatic [15:0] quotient(input [S-1:0] v);
    reg signed [63:0] middle;
    begin
      middle = rounded(v * {47'd0, recip_width}, bytes ? MIDDLE8 : MIDDLE16);
      middle = rounded(middle * {47'd0, recip_height}, bytes ? 8 : 16);
      if (!average) quotient = v[15:0];
      else if (!is_float) quotient = middle[15:0];
      else if (is_nan(v)) quotient = {v[63], 5'h1f, v[51:42]};
      else quotient = to_fp16($bitstoreal(v) * from_fp17(recip_width) * from_fp17(recip_height));
    end
  endfunction

  function automatic [W-1:0] extended(input [8*ATOM_BYTES-1:0] data);
    integer e;
    begin
      extended = 0;
      for (e = 0; e < ATOM_BYTES; e = e + 1)
        if (bytes) extended[32*e+:32] = {{24{data[8*e+7]}}, data[8*e+:8]};
        else if (e < ATOM_BYTES / 2) extended[S*e+:S] = element(data[16*e+:16]);
    end
  endfunction

  function automatic [W-1:0] merged(input fresh, input [W-1:0] old, input [W-1:0] more);
    integer e;
    reg [S-1:0] both;
    begin
      merged = more;
      for (e = 0; e < ATOM_BYTES; e = e + 1)
        if (!fresh && bytes) begin
          both = combined({{32{old[32*e+31]}}, old[32*e+:32]}, {{32{more[32*e+31]}}, more[32*e+:32]});
          merged[32*e+:32] = both[31:0];
        end else if (!fresh && e < ATOM_BYTES / 2) merged[S*e+:S] = combined(old[S*e+:S], more[S*e+:S]);
    end
  endfunction

  function automatic [W-1:0] added(input [W-1:0] value, input signed [63:0] more, input integer bits8,
                                   input integer bits16);
    integer e;
    reg [S-1:0] sum;
    begin
      added = value;
      for (e = 0; e < ATOM_BYTES; e = e + 1)
        if (bytes) begin
          sum = wrapped({32'd0, value[32*e+:32] + more[31:0]}, bits8);
          added[32*e+:32] = sum[31:0];
        end else if (is_float && e < ATOM_BYTES / 2)
          added[S*e+:S] = average ? combined(value[S*e+:S], more) : value[S*e+:S];
        else if (e < ATOM_BYTES / 2) added[S*e+:S] = wrapped(value[S*e+:S] + more, bits16);
    end
  endfunction

  function automatic [8*ATOM_BYTES-1:0] results(input [W-1:0] value);
    integer e;
    reg [15:0] one;
    for (e = 0; e < ATOM_BYTES; e = e + 1)
      if (bytes) begin
        one = quotient({{32{value[32*e+31]}}, value[32*e+:32]});
        results[8*e+:8] = one[7:0];
      end else if (e < ATOM_BYTES / 2) results[16*e+:16] = quotient(value[S*e+:S]);
  endfunction

  function automatic real from_fp17(input [16:0] f);
    if (f[15:10] == 6'd0) from_fp17 = 0.0;
    else from_fp17 = $bitstoreal({f[16], 11'd992 + {5'd0, f[15:10]}, f[9:0], 42'd0});
  endfunction

  /* verilator lint_on UNUSEDSIGNAL */
endmodule
