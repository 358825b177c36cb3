// Read side of the DBB port: round-robin over the read clients, one burst of
// length 1 (arlen 0) per request, the client's own id on it. Answers go to the
// client whose id they carry, so the memory may reorder across ids; rlast is not
// needed. A client asks only for what it has room for, hence rready is always 1.
`include "nvdla_bugs.vh"

module nvdla_dbb_read #(
    parameter ADDR_WIDTH = 32,
    parameter DATA_WIDTH = 64,
    parameter CLIENTS = 2,
    parameter [8*CLIENTS-1:0] IDS = 0
) (
    input  wire                          clk,
    input  wire                          rst_n,
    input  wire [           CLIENTS-1:0] req_valid,
    output wire [           CLIENTS-1:0] req_ready,
    input  wire [CLIENTS*ADDR_WIDTH-1:0] req_addr,
    output wire [           CLIENTS-1:0] rsp_valid,
    output wire [        DATA_WIDTH-1:0] rsp_data,
    input  wire [                   7:0] max_outstanding,  // minus one
    input  wire [                  95:0] weights,  // as in the registers
    output wire                          idle,
    output wire                          arvalid,
    input  wire                          arready,
    output reg  [                   7:0] arid,
    output wire [                   3:0] arlen,
    output wire [        ADDR_WIDTH-1:0] araddr,
    input  wire                          rvalid,
    output wire                          rready,
    input  wire [                   7:0] rid,
    input  wire [        DATA_WIDTH-1:0] rdata
);
  `NVDLA_BUG(axi_read_id)
  `NVDLA_BUG(axi_read_address_unstable)
  `NVDLA_BUG(axi_arvalid_dropped)
  `NVDLA_BUG(axi_read_answer_refused)
  localparam CW = (CLIENTS > 1) ? $clog2(CLIENTS) : 1;

  localparam [31:0] BUS_BYTES = DATA_WIDTH / 8;
  localparam [ADDR_WIDTH-1:0] DATA_BYTES = {{(ADDR_WIDTH - 8) {1'b0}}, BUS_BYTES[7:0]};

  reg waiting, stalled;  // a request; what the port did with it one clock ago
  reg [ADDR_WIDTH-1:0] address;

  wire [CW-1:0] pick;
  reg [8:0] outstanding;
  wire room = (!waiting || (arvalid && arready)) && (outstanding <= {1'b0, max_outstanding});
  wire grant;
  wire [8*CLIENTS-1:0] client_weights;

  function [3:0] place(input [7:0] id);
    case (id)
      8'd0, 8'd1, 8'd2, 8'd3: place = id[3:0];  // BDMA, SDP, PDP, CDP
      8'd4: place = 4'd9;  // RUBIK
      8'd5, 8'd6, 8'd7, 8'd8: place = id[3:0] - 4'd1;  // operands of SDP, data of CDMA
      default: place = 4'd8;  // weights of CDMA
    endcase
  endfunction

  assign arlen    = 4'd0;
  assign rready   = !(bug_axi_read_answer_refused && rid == 8'd1);
  assign rsp_data = rdata;
  assign idle     = !waiting && (outstanding == 0);
  assign arvalid  = waiting && !(bug_axi_arvalid_dropped && stalled);
  assign araddr   = address ^ ((bug_axi_read_address_unstable && !arready) ? DATA_BYTES : 0);

  nvdla_round_robin #(
      .CLIENTS    (CLIENTS),
      .INDEX_WIDTH(CW)
  ) turn (
      .clk    (clk),
      .rst_n  (rst_n),
      .room   (room),
      .request(req_valid),
      .weights(client_weights),
      .ready  (req_ready),
      .grant  (grant),
      .pick   (pick)
  );

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      outstanding <= 9'd0;
      waiting     <= 1'b0;
      stalled     <= 1'b0;
      arid        <= 8'd0;
      address     <= 0;
    end else begin
      outstanding <= outstanding + {8'd0, grant} - {8'd0, rvalid && (outstanding != 0)};
      if (grant) begin
        waiting <= 1'b1;
        arid    <= bug_axi_read_id ? 8'd255 : IDS[8*pick+:8];
        address <= req_addr[ADDR_WIDTH*pick+:ADDR_WIDTH];
      end else if (arvalid && arready) waiting <= 1'b0;
      stalled <= arvalid && !arready;
    end

  genvar g;
  generate
    for (g = 0; g < CLIENTS; g = g + 1) begin : route
      assign client_weights[8*g+:8] = weights[8*place(IDS[8*g+:8])+:8];
      assign rsp_valid[g] = rvalid && (rid == IDS[8*g+:8]);
    end
  endgenerate
endmodule
