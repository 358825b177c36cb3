// Arithmetic of pooling on INT8 atoms, see nvdla_pdp_core. No clock.
`include "nvdla_bugs.vh"

module nvdla_pdp_arithmetic #(
    parameter ATOM_BYTES = 8,
    parameter W = 15 * ATOM_BYTES
) (
    input  wire [             1:0] method,
    input  wire [             3:0] kernel_width,   // minus one
    input  wire [            10:0] pad_columns,    // what the padded columns, and lines, add
    input  wire [            13:0] pad_rows,
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
  `include "nvdla_pdp_math.vh"

  `NVDLA_BUG(pdp_maximum_is_minimum)
  `NVDLA_BUG(pdp_compare_unsigned)
  `NVDLA_BUG(pdp_average_floors)
  wire [1:0] pooled_by = (bug_pdp_maximum_is_minimum && method != METHOD_AVERAGE) ? ~method : method;

  assign widened      = extended(in_data);
  assign along_next   = merged(column_fresh, along, atom);
  assign partial_next = with_columns(along_next, pad_columns);
  assign down_next    = merged(row_fresh, down, partial);
  assign total_next   = with_rows(down_next, pad_rows);
  assign finished     = divided(total);

  function automatic [W-1:0] extended(input [8*ATOM_BYTES-1:0] data);
    integer e;
    for (e = 0; e < ATOM_BYTES; e = e + 1)
      extended[SUM*e+:SUM] = {{(SUM - 8) {data[8*e+7]}}, data[8*e+:8]};
  endfunction

  function automatic [W-1:0] merged(input fresh, input [W-1:0] old, input [W-1:0] more);
    integer e;
    for (e = 0; e < ATOM_BYTES; e = e + 1)
      merged[SUM*e+:SUM] = fresh ? more[SUM*e+:SUM] :
          combine(pooled_by ^ {2{signs_differ(old[SUM*e+SUM-1], more[SUM*e+SUM-1])}},
                  old[SUM*e+:SUM], more[SUM*e+:SUM]);
  endfunction

  // Unsigned numbers of different signs compare the other way.
  function automatic signs_differ(input a, input b);
    signs_differ = bug_pdp_compare_unsigned && method != METHOD_AVERAGE && a != b;
  endfunction

  // Partial results with the value of the padded columns.
  function automatic [W-1:0] with_columns(input [W-1:0] value, input signed [ROW-1:0] pad);
    integer e;
    reg [ROW-1:0] line;
    for (e = 0; e < ATOM_BYTES; e = e + 1) begin
      line = value[SUM*e+:ROW] + ((method == METHOD_AVERAGE) ? pad : {ROW{1'b0}});
      with_columns[SUM*e+:SUM] = {{(SUM - ROW) {line[ROW-1]}}, line};
    end
  endfunction

  // Windows with the value of the padded lines.
  function automatic [W-1:0] with_rows(input [W-1:0] value, input [ROWS-1:0] pad);
    integer e;
    reg [ROWS-1:0] lines;
    begin
      lines = pad * ({10'd0, kernel_width} + 14'd1);
      if (method != METHOD_AVERAGE) lines = 14'd0;
      for (e = 0; e < ATOM_BYTES; e = e + 1)
        with_rows[SUM*e+:SUM] = value[SUM*e+:SUM] + {{(SUM - ROWS) {lines[ROWS-1]}}, lines};
    end
  endfunction

  function automatic [8*ATOM_BYTES-1:0] divided(input [W-1:0] value);
    integer e;
    for (e = 0; e < ATOM_BYTES; e = e + 1)
      divided[8*e+:8] = (method == METHOD_AVERAGE) ?
          averaged(value[SUM*e+:SUM], recip_width, recip_height, bug_pdp_average_floors) : value[SUM*e+:8];
  endfunction
endmodule
