// One of the streams of CDMA_WT, from memory into a ring of words in the convolution
// buffer. How many bytes are wanted may grow while they arrive, until `complete`.
//
// `loaded` counts the words of the layer in the ring since its start, `released`
// those that CSC is done with; the ring holds the difference.
module nvdla_cdma_stream #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    input  wire                    active,        // the layer has such a stream
    input  wire [  ADDR_WIDTH-1:0] base,
    input  wire [            31:0] bytes,
    input  wire                    complete,
    input  wire [     ADDR_BITS:0] first,         // word of the ring
    input  wire [     ADDR_BITS:0] capacity,      // words
    output wire                    rd_req_valid,
    input  wire                    rd_req_ready,
    output wire [  ADDR_WIDTH-1:0] rd_req_addr,
    input  wire                    rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                    write_valid,
    input  wire                    write_ready,
    output wire [   ADDR_BITS-1:0] write_addr,
    output wire [8*ATOM_BYTES-1:0] write_data,
    output reg  [            31:0] loaded,
    input  wire [            31:0] released,
    output wire                    idle
);
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam [31:0] ROUND_UP = ATOM_BYTES - 1;
  localparam [ADDR_WIDTH-1:0] STEP = {{(ADDR_WIDTH - 8) {1'b0}}, ATOM_BYTES[7:0]};

  reg running;
  reg [31:0] requested;
  reg [ADDR_BITS:0] tail;
  reg [ADDR_WIDTH-1:0] addr;

  wire [31:0] words = (bytes + ROUND_UP) >> LOG2_ATOM;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [ADDR_BITS:0] place = first + tail;  // inside the buffer
  /* verilator lint_on UNUSEDSIGNAL */
  wire addr_valid = running && (requested != words);
  wire addr_ready, word_valid, unused_idle;
  wire room = (loaded - released < {{(31 - ADDR_BITS) {1'b0}}, capacity});
  wire taken = word_valid && room && write_ready;

  assign write_valid = word_valid && room;
  assign write_addr  = place[ADDR_BITS-1:0];
  assign idle        = !running || (complete && loaded == words);

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(8 * ATOM_BYTES)
  ) read (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(addr_valid),
      .addr_ready(addr_ready),
      .addr      (addr),
      .req_valid (rd_req_valid),
      .req_ready (rd_req_ready),
      .req_addr  (rd_req_addr),
      .rsp_valid (rd_rsp_valid),
      .rsp_data  (rd_rsp_data),
      .data_valid(word_valid),
      .data_ready(taken),
      .data      (write_data),
      .idle      (unused_idle)
  );

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      running   <= 1'b0;
      requested <= 32'd0;
      loaded    <= 32'd0;
      tail      <= 0;
      addr      <= 0;
    end else if (start) begin
      running <= active;
      if (active) begin
        requested <= 32'd0;
        loaded    <= 32'd0;
        tail      <= 0;
        addr      <= base;
      end
    end else begin
      if (idle) running <= 1'b0;
      if (addr_valid && addr_ready) begin
        requested <= requested + 32'd1;
        addr      <= addr + STEP;
      end
      if (taken) begin
        loaded <= loaded + 32'd1;
        tail   <= (tail + 1'b1 == capacity) ? 0 : tail + 1'b1;
      end
    end
endmodule
