// Addresses of a feature cube in memory order: surface by surface, line by line,
// atom by atom. An atom takes `beats` words of the memory port (more than one
// only for operands of several bytes per element). One address per clock.
//
// Source: feature data format (surfaces of 1x1xATOM cubes, line and surface
// stride in bytes).
module nvdla_cube_walker #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8
) (
    input  wire                  clk,
    input  wire                  rst_n,
    input  wire                  start,
    input  wire [ADDR_WIDTH-1:0] base,
    input  wire [          12:0] width,           // all four sizes minus one
    input  wire [          12:0] height,
    input  wire [          12:0] surfaces,
    input  wire [           1:0] beats,
    input  wire [ADDR_WIDTH-1:0] line_stride,
    input  wire [ADDR_WIDTH-1:0] surface_stride,
    output reg                   valid,
    input  wire                  ready,
    output reg  [ADDR_WIDTH-1:0] addr
);
  /* verilator lint_off WIDTHEXPAND */
  localparam [ADDR_WIDTH-1:0] STEP = ATOM_BYTES[31:0];
  /* verilator lint_on WIDTHEXPAND */

  reg [ADDR_WIDTH-1:0] line_base, surface_base;
  reg [12:0] x, y, surface;
  reg [1:0] beat;

  wire [ADDR_WIDTH-1:0] next_line = line_base + line_stride;
  wire [ADDR_WIDTH-1:0] next_surface = surface_base + surface_stride;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      valid        <= 1'b0;
      addr         <= 0;
      line_base    <= 0;
      surface_base <= 0;
      x            <= 13'd0;
      y            <= 13'd0;
      surface      <= 13'd0;
      beat         <= 2'd0;
    end else if (start) begin
      valid        <= 1'b1;
      addr         <= base;
      line_base    <= base;
      surface_base <= base;
      x            <= 13'd0;
      y            <= 13'd0;
      surface      <= 13'd0;
      beat         <= 2'd0;
    end else if (valid && ready) begin
      addr <= addr + STEP;
      beat <= beat + 2'd1;
      if (beat == beats) begin
        beat <= 2'd0;
        x    <= x + 13'd1;
        if (x == width) begin
          x         <= 13'd0;
          y         <= y + 13'd1;
          line_base <= next_line;
          addr      <= next_line;
          if (y == height) begin
            y            <= 13'd0;
            surface      <= surface + 13'd1;
            surface_base <= next_surface;
            line_base    <= next_surface;
            addr         <= next_surface;
            if (surface == surfaces) valid <= 1'b0;
          end
        end
      end
    end
endmodule
