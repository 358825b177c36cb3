// Write side of the DBB port: round-robin over the write clients, one burst of
// length 1 (awlen 0) with all byte strobes per request. Address and data are
// queued in the same order but leave on their own channels, so either may be
// accepted first. A response counts for the client whose id it carries; only
// bid[2:0] matters.
`include "nvdla_bugs.vh"

module nvdla_dbb_write #(
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
    input  wire [CLIENTS*DATA_WIDTH-1:0] req_data,
    output wire [           CLIENTS-1:0] rsp_valid,
    input  wire [                   7:0] max_outstanding,  // minus one
    input  wire [                  63:0] weights,  // as in the registers
    output wire                          idle,
    output wire                          awvalid,
    input  wire                          awready,
    output wire [                   7:0] awid,
    output wire [                   3:0] awlen,
    output wire [        ADDR_WIDTH-1:0] awaddr,
    output wire                          wvalid,
    input  wire                          wready,
    output wire [        DATA_WIDTH-1:0] wdata,
    output wire [      DATA_WIDTH/8-1:0] wstrb,
    output wire                          wlast,
    input  wire                          bvalid,
    output wire                          bready,
    input  wire [                   2:0] bid
);
  `NVDLA_BUG(axi_write_id)
  `NVDLA_BUG(axi_strobe)
  `NVDLA_BUG(axi_wlast)
  `NVDLA_BUG(axi_awlen)
  `NVDLA_BUG(axi_write_address_unstable)
  `NVDLA_BUG(axi_write_data_unstable)
  `NVDLA_BUG(axi_awvalid_dropped)
  `NVDLA_BUG(axi_wvalid_dropped)
  `NVDLA_BUG(axi_write_answer_of_any_id)
  `NVDLA_BUG(axi_write_answer_refused)
  `NVDLA_BUG(axi_write_lost)
  `NVDLA_BUG(axi_write_lanes_permuted)
  localparam CW = (CLIENTS > 1) ? $clog2(CLIENTS) : 1;

  localparam [31:0] BUS_BYTES = DATA_WIDTH / 8;
  localparam [ADDR_WIDTH-1:0] DATA_BYTES = {{(ADDR_WIDTH - 8) {1'b0}}, BUS_BYTES[7:0]};

  // What the queues hold, and whether the port stalled it one clock ago
  wire address_waiting, data_waiting;
  reg address_stalled, data_stalled;
  wire [7:0] id;
  wire [ADDR_WIDTH-1:0] address;
  wire [DATA_WIDTH-1:0] data;
  // The seeded bug axi_write_lanes_permuted swaps bytes 1 and 6 of every word.
  wire [DATA_WIDTH-1:0] lanes = !bug_axi_write_lanes_permuted ? data :
      {data[DATA_WIDTH-1:56], data[15:8], data[47:16], data[55:48], data[7:0]};

  wire [CW-1:0] pick;
  reg [8:0] outstanding;
  wire aw_room, w_room;
  wire room = aw_room && w_room && (outstanding <= {1'b0, max_outstanding});
  wire grant;
  wire [8*CLIENTS-1:0] client_weights;

  assign awlen  = {3'd0, bug_axi_awlen};
  assign wstrb  = {DATA_WIDTH / 8{1'b1}} >> bug_axi_strobe;
  assign wlast  = !bug_axi_wlast;
  assign bready = !bug_axi_write_answer_refused;
  assign awvalid = address_waiting && !(bug_axi_awvalid_dropped && address_stalled);
  assign wvalid  = data_waiting && !(bug_axi_wvalid_dropped && data_stalled);
  assign awaddr  = address ^ ((bug_axi_write_address_unstable && !awready) ? DATA_BYTES : 0);
  assign wdata   = lanes ^ {{(DATA_WIDTH - 1) {1'b0}}, bug_axi_write_data_unstable && !wready};
  assign awid    = id ^ {5'd0, bug_axi_write_id, 2'd0};

  always @(posedge clk or negedge rst_n)
    if (!rst_n) {address_stalled, data_stalled} <= 2'b00;
    else {address_stalled, data_stalled} <= {awvalid && !awready, wvalid && !wready};

  // The seeded bug axi_write_lost takes every 32nd write without sending it.
  reg [4:0] sent;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) sent <= 5'd0;
    else if (grant) sent <= sent + 5'd1;

  wire send = grant && !(bug_axi_write_lost && sent == 5'd31);

  assign idle = (outstanding == 0);

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
    if (!rst_n) outstanding <= 9'd0;
    else outstanding <= outstanding + {8'd0, send} - {8'd0, bvalid && (outstanding != 0)};

  nvdla_fifo #(
      .WIDTH(8 + ADDR_WIDTH)
  ) aw_fifo (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(send),
      .push_ready(aw_room),
      .push_data ({IDS[8*pick+:8], req_addr[ADDR_WIDTH*pick+:ADDR_WIDTH]}),
      .pop_valid (address_waiting),
      .pop_ready (awvalid && awready),
      .pop_data  ({id, address})
  );

  nvdla_fifo #(
      .WIDTH(DATA_WIDTH)
  ) w_fifo (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(send),
      .push_ready(w_room),
      .push_data (req_data[DATA_WIDTH*pick+:DATA_WIDTH]),
      .pop_valid (data_waiting),
      .pop_ready (wvalid && wready),
      .pop_data  (data)
  );

  genvar g;
  generate
    for (g = 0; g < CLIENTS; g = g + 1) begin : route
      assign client_weights[8*g+:8] = weights[8*IDS[8*g+:3]+:8];
      assign rsp_valid[g] = bvalid && (bid == IDS[8*g+:3] || bug_axi_write_answer_of_any_id);
    end
  endgenerate
endmodule
