// Turn among clients: the one after the last one served comes first. Grants one
// request per clock while `room` is high.
module nvdla_round_robin #(
    parameter CLIENTS = 2,
    parameter INDEX_WIDTH = 1
) (
    input  wire                   clk,
    input  wire                   rst_n,
    input  wire                   room,
    input  wire [    CLIENTS-1:0] request,
    output reg  [    CLIENTS-1:0] ready,
    output wire                   grant,
    output reg  [INDEX_WIDTH-1:0] pick
);
  reg [INDEX_WIDTH-1:0] last;

  integer i, candidate;

  assign grant = room && (request != 0);

  always @* begin
    pick = last;
    for (i = CLIENTS; i >= 1; i = i - 1) begin
      candidate = {{(32 - INDEX_WIDTH) {1'b0}}, last} + i;
      if (candidate >= CLIENTS) candidate = candidate - CLIENTS;
      if (request[candidate[INDEX_WIDTH-1:0]]) pick = candidate[INDEX_WIDTH-1:0];
    end
    ready       = 0;
    ready[pick] = grant;
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) last <= 0;
    else if (grant) last <= pick;
endmodule
