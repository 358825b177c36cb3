// Addresses of nested loops, the innermost in field 0 of `last` and
// `strides`; one address per clock. A loop makes last + 1 rounds; a stride has
// 32 bits, whatever the width of an address.
module nvdla_walker #(
    parameter ADDR_WIDTH = 32,
    parameter COUNT_WIDTH = 13,
    parameter LOOPS = 4
) (
    input  wire                         clk,
    input  wire                         rst_n,
    input  wire                         start,
    input  wire [       ADDR_WIDTH-1:0] base,
    input  wire [LOOPS*COUNT_WIDTH-1:0] last,
    input  wire [         LOOPS*32-1:0] strides,
    output reg                          valid,
    input  wire                         ready,
    output wire [       ADDR_WIDTH-1:0] addr
);
  // Round of every loop, and the address at which it began that round
  reg [LOOPS*COUNT_WIDTH-1:0] round;
  reg [ LOOPS*ADDR_WIDTH-1:0] from;
  reg [ LOOPS*ADDR_WIDTH-1:0] next_from;
  reg [LOOPS*COUNT_WIDTH-1:0] next_round;
  reg found;

  integer i, j;

  assign addr = from[ADDR_WIDTH-1:0];

  // The innermost loop with a round left steps; the loops inside it start anew.
  always @* begin
    next_from  = from;
    next_round = round;
    found      = 1'b0;
    for (i = 0; i < LOOPS; i = i + 1)
      if (!found) begin
        if (round[COUNT_WIDTH*i+:COUNT_WIDTH] != last[COUNT_WIDTH*i+:COUNT_WIDTH]) begin
          found = 1'b1;
          next_round[COUNT_WIDTH*i+:COUNT_WIDTH] = round[COUNT_WIDTH*i+:COUNT_WIDTH] + 1'b1;
          /* verilator lint_off WIDTHEXPAND */
          next_from[ADDR_WIDTH*i+:ADDR_WIDTH] = from[ADDR_WIDTH*i+:ADDR_WIDTH] + strides[32*i+:32];
          /* verilator lint_on WIDTHEXPAND */
          for (j = 0; j < i; j = j + 1)
            next_from[ADDR_WIDTH*j+:ADDR_WIDTH] = next_from[ADDR_WIDTH*i+:ADDR_WIDTH];
        end else next_round[COUNT_WIDTH*i+:COUNT_WIDTH] = 0;
      end
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      valid <= 1'b0;
      round <= 0;
      from  <= 0;
    end else if (start) begin
      valid <= 1'b1;
      round <= 0;
      from  <= {LOOPS{base}};
    end else if (valid && ready) begin
      valid <= found;
      round <= next_round;
      from  <= next_from;
    end
endmodule
