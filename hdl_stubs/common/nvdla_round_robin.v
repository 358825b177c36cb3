// Turn among clients: the one after the last one served comes first, and keeps its
// turn for as many requests as its weight says, or until it has none. A client of
// weight 0 is not served. Grants one request per clock while `room` is high.
module nvdla_round_robin #(
    parameter CLIENTS = 2,
    parameter INDEX_WIDTH = 1
) (
    input  wire                   clk,
    input  wire                   rst_n,
    input  wire                   room,
    input  wire [    CLIENTS-1:0] request,
    input  wire [  8*CLIENTS-1:0] weights,
    output reg  [    CLIENTS-1:0] ready,
    output wire                   grant,
    output reg  [INDEX_WIDTH-1:0] pick
);
  reg [INDEX_WIDTH-1:0] last;
  reg [7:0] left;  // of the turn

  wire [CLIENTS-1:0] served;
  wire stays = (left != 0) && served[last];

  integer i, candidate;

  assign grant = room && (served != 0);

  genvar g;
  generate
    for (g = 0; g < CLIENTS; g = g + 1) begin : client
      assign served[g] = request[g] && (weights[8*g+:8] != 0);
    end
  endgenerate

  always @* begin
    pick = last;
    for (i = CLIENTS; i >= 1; i = i - 1) begin
      candidate = {{(32 - INDEX_WIDTH) {1'b0}}, last} + i;
      if (candidate >= CLIENTS) candidate = candidate - CLIENTS;
      if (served[candidate[INDEX_WIDTH-1:0]]) pick = candidate[INDEX_WIDTH-1:0];
    end
    if (stays) pick = last;
    ready       = 0;
    ready[pick] = grant;
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      last <= 0;
      left <= 8'd0;
    end else if (grant) begin
      last <= pick;
      left <= (stays ? left : weights[8*pick+:8]) - 8'd1;
    end
endmodule
