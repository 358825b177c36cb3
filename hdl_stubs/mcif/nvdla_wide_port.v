// One memory port of a data bus twice as wide as an atom: DBB or CVSRAM. Every
// request of a client is one atom in one bus word, at the word's address; reads
// take one half of the answer, writes strobe one half.
//
// The other port's clients share the answer wires of this one, so answers wait
// while `hold` is high.
module nvdla_wide_port #(
    parameter ADDR_WIDTH = 64,
    parameter ATOM_BYTES = 32,
    parameter READ_CLIENTS = 2,
    parameter [8*READ_CLIENTS-1:0] READ_IDS = 0,
    parameter WRITE_CLIENTS = 2,
    parameter [8*WRITE_CLIENTS-1:0] WRITE_IDS = 0
) (
    input  wire                                  clk,
    input  wire                                  rst_n,
    input  wire [              READ_CLIENTS-1:0] rd_req_valid,
    output wire [              READ_CLIENTS-1:0] rd_req_ready,
    input  wire [   READ_CLIENTS*ADDR_WIDTH-1:0] rd_req_addr,
    output wire [              READ_CLIENTS-1:0] rd_rsp_valid,
    output reg  [              8*ATOM_BYTES-1:0] rd_rsp_data,
    input  wire [             WRITE_CLIENTS-1:0] wr_req_valid,
    output wire [             WRITE_CLIENTS-1:0] wr_req_ready,
    input  wire [  WRITE_CLIENTS*ADDR_WIDTH-1:0] wr_req_addr,
    input  wire [WRITE_CLIENTS*8*ATOM_BYTES-1:0] wr_req_data,
    output wire [             WRITE_CLIENTS-1:0] wr_rsp_valid,
    input  wire                                  hold_reads,
    input  wire                                  hold_writes,
    input  wire [                           7:0] max_reads,     // minus one
    input  wire [                           7:0] max_writes,
    input  wire [95:0] read_weights,
    input  wire [63:0] write_weights,
    output wire                                  idle,
    output wire                                  awvalid,
    input  wire                                  awready,
    output wire [                           7:0] awid,
    output wire [                           3:0] awlen,
    output wire [                ADDR_WIDTH-1:0] awaddr,
    output wire                                  wvalid,
    input  wire                                  wready,
    output wire [             16*ATOM_BYTES-1:0] wdata,
    output wire [              2*ATOM_BYTES-1:0] wstrb,
    output wire                                  wlast,
    input  wire                                  bvalid,
    output wire                                  bready,
    input  wire [                           2:0] bid,
    output wire                                  arvalid,
    input  wire                                  arready,
    output wire [                           7:0] arid,
    output wire [                           3:0] arlen,
    output wire [                ADDR_WIDTH-1:0] araddr,
    input  wire                                  rvalid,
    output wire                                  rready,
    input  wire [                           7:0] rid,
    input  wire [             16*ATOM_BYTES-1:0] rdata
);
  localparam W = 8 * ATOM_BYTES;
  localparam HALF = $clog2(ATOM_BYTES);  // address bit that selects a half
  localparam [ADDR_WIDTH-1:0] WORD = ~{{(ADDR_WIDTH - HALF - 1) {1'b0}}, {(HALF + 1) {1'b1}}};

  wire reads_idle, writes_idle, read_ready, write_ready;
  wire [ADDR_WIDTH-1:0] read_addr, write_addr;
  wire [2*W-1:0] read_data;
  wire [READ_CLIENTS-1:0] halves;

  assign idle   = reads_idle && writes_idle;
  assign araddr = read_addr & WORD;
  assign awaddr = write_addr & WORD;
  assign rready = read_ready && !hold_reads;
  assign bready = write_ready && !hold_writes;

  nvdla_dbb_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(2 * W),
      .CLIENTS   (READ_CLIENTS),
      .IDS       (READ_IDS)
  ) read (
      .clk            (clk),
      .rst_n          (rst_n),
      .req_valid      (rd_req_valid),
      .req_ready      (rd_req_ready),
      .req_addr       (rd_req_addr),
      .rsp_valid      (rd_rsp_valid),
      .rsp_data       (read_data),
      .max_outstanding(max_reads),
      .weights        (read_weights),
      .idle           (reads_idle),
      .arvalid        (arvalid),
      .arready        (arready),
      .arid           (arid),
      .arlen          (arlen),
      .araddr         (read_addr),
      .rvalid         (rvalid && !hold_reads),
      .rready         (read_ready),
      .rid            (rid),
      .rdata          (rdata)
  );

  // Which half each client waits for; its answers keep their order.
  genvar g;
  generate
    for (g = 0; g < READ_CLIENTS; g = g + 1) begin : client
      wire unused_room, unused_valid;

      nvdla_fifo #(
          .WIDTH     (1),
          .LOG2_DEPTH(8)
      ) half (
          .clk       (clk),
          .rst_n     (rst_n),
          .push_valid(rd_req_ready[g]),
          .push_ready(unused_room),
          .push_data (rd_req_addr[ADDR_WIDTH*g+HALF]),
          .pop_valid (unused_valid),
          .pop_ready (rd_rsp_valid[g]),
          .pop_data  (halves[g])
      );
    end
  endgenerate

  always @* rd_rsp_data = |(halves & rd_rsp_valid) ? read_data[2*W-1:W] : read_data[W-1:0];

  // The half of a write travels with its data as one byte more.
  wire [WRITE_CLIENTS*(W+8)-1:0] half_and_data;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [W+7:0] word;  // of the half's byte one bit counts
  wire [ATOM_BYTES:0] unused_strobes;
  /* verilator lint_on UNUSEDSIGNAL */

  assign wdata = {2{word[W-1:0]}};
  assign wstrb = word[W] ? {{ATOM_BYTES{1'b1}}, {ATOM_BYTES{1'b0}}} : {{ATOM_BYTES{1'b0}}, {ATOM_BYTES{1'b1}}};

  generate
    for (g = 0; g < WRITE_CLIENTS; g = g + 1) begin : writer
      assign half_and_data[(W+8)*g+:W+8] = {7'd0, wr_req_addr[ADDR_WIDTH*g+HALF], wr_req_data[W*g+:W]};
    end
  endgenerate

  nvdla_dbb_write #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(W + 8),
      .CLIENTS   (WRITE_CLIENTS),
      .IDS       (WRITE_IDS)
  ) write (
      .clk            (clk),
      .rst_n          (rst_n),
      .req_valid      (wr_req_valid),
      .req_ready      (wr_req_ready),
      .req_addr       (wr_req_addr),
      .req_data       (half_and_data),
      .rsp_valid      (wr_rsp_valid),
      .max_outstanding(max_writes),
      .weights        (write_weights),
      .idle           (writes_idle),
      .awvalid        (awvalid),
      .awready        (awready),
      .awid           (awid),
      .awlen          (awlen),
      .awaddr         (write_addr),
      .wvalid         (wvalid),
      .wready         (wready),
      .wdata          (word),
      .wstrb          (unused_strobes),
      .wlast          (wlast),
      .bvalid         (bvalid && !hold_writes),
      .bready         (write_ready),
      .bid            (bid)
  );
endmodule
