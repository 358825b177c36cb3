// Squares of elements, turned: row i of what comes in is column i of what goes out.
// A square has as many rows as an atom has elements, 32 of INT8 or 16. Fills, then
// drains. With `straight` every row passes as it is.
module nvdla_rubik_transpose #(
    parameter W = 256
) (
    input  wire         clk,
    input  wire         rst_n,
    input  wire         start,
    input  wire         straight,
    input  wire         two_bytes,
    input  wire [  4:0] last_in,    // rows of this square minus one
    input  wire [  4:0] last_out,
    input  wire         in_valid,
    output wire         in_ready,
    input  wire [W-1:0] in_data,
    output wire [  4:0] in_row,
    output wire         out_valid,
    input  wire         out_ready,
    output reg  [W-1:0] out_data,
    output wire         square_ends
);
  reg draining;
  reg [4:0] row;
  reg [W-1:0] rows[0:31];

  integer i;

  assign in_ready    = !draining;
  assign in_row      = row;
  assign out_valid   = draining;
  assign square_ends = draining && out_ready && (straight || row == last_out);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) {draining, row} <= 6'd0;
    else if (start) {draining, row} <= 6'd0;
    else if (!draining && in_valid) begin
      draining <= straight || (row == last_in);
      row      <= (straight || row == last_in) ? 5'd0 : row + 5'd1;
    end else if (draining && out_ready) begin
      draining <= !square_ends;
      row      <= square_ends ? 5'd0 : row + 5'd1;
    end

  // Rows that a narrower square leaves out are 0.
  always @(posedge clk)
    if (start || square_ends) for (i = 0; i < 32; i = i + 1) rows[i] <= 0;
    else if (!draining && in_valid) rows[row] <= in_data;

  always @* begin
    out_data = rows[0];
    if (!straight)
      for (i = 0; i < W / 8; i = i + 1) begin
        if (!two_bytes) out_data[8*i+:8] = rows[i][8*row+:8];
        else if (i < W / 16) out_data[16*i+:16] = rows[i][16*row[3:0]+:16];
      end
  end
endmodule
