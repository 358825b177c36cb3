// CDMA_WT: uncompressed weights from memory into the weight part of the
// convolution buffer, a ring of words. The kernels lie in memory without gaps and
// are copied as they are; CSC finds their borders.
//
// `loaded` counts the words of the layer in the ring since its start, `released`
// those that CSC is done with; the ring holds the difference. After `drain` nobody
// reads what is still to come, so it needs no room.
`include "nvdla_bugs.vh"

module nvdla_cdma_wt #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    input  wire                    reuse,       // the weights of the layer before stay
    input  wire                    drain,
    input  wire [  ADDR_WIDTH-1:0] base,
    input  wire [            31:0] bytes,
    input  wire [     ADDR_BITS:0] first,       // word of the ring
    input  wire [     ADDR_BITS:0] capacity,    // words
    output wire                    addr_valid,
    input  wire                    addr_ready,
    output reg  [  ADDR_WIDTH-1:0] addr,
    input  wire                    word_valid,
    output wire                    word_ready,
    input  wire [8*ATOM_BYTES-1:0] word,
    output wire                    write,
    output wire [   ADDR_BITS-1:0] write_addr,
    output wire [8*ATOM_BYTES-1:0] write_data,
    output reg  [            31:0] loaded,
    input  wire [            31:0] released,
    output wire                    idle
);
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);
  localparam [ADDR_WIDTH-1:0] STEP = ATOM_BYTES[ADDR_WIDTH-1:0];
  localparam [31:0] ROUND_UP = ATOM_BYTES - 1;

  `NVDLA_BUG(conv_weight_base)
  `NVDLA_BUG(conv_weights_stale)
  reg [31:0] requests, answers;  // to come
  reg [ADDR_BITS:0] tail;
  reg drained;

  // The seeded bug conv_weights_stale keeps the weights of the first layer.
  reg filled;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) filled <= 1'b0;
    else if (drain) filled <= 1'b1;

  /* verilator lint_off UNUSEDSIGNAL */
  wire [ADDR_BITS:0] place = first + tail;  // inside the buffer
  /* verilator lint_on UNUSEDSIGNAL */
  wire taken = word_valid && word_ready;

  assign addr_valid = (requests != 32'd0);
  assign word_ready = drained || (loaded - released < {{(31 - ADDR_BITS) {1'b0}}, capacity});
  assign write      = taken && !drained && !(bug_conv_weights_stale && filled);
  assign write_addr = place[ADDR_BITS-1:0];
  assign write_data = word;
  assign idle       = (answers == 32'd0);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      requests <= 32'd0;
      answers  <= 32'd0;
      loaded   <= 32'd0;
      tail     <= 0;
      addr     <= 0;
      drained  <= 1'b0;
    end else if (start) begin
      drained <= 1'b0;
      if (!reuse) begin
        requests <= (bytes + ROUND_UP) >> LOG2_ATOM;
        answers  <= (bytes + ROUND_UP) >> LOG2_ATOM;
        loaded   <= 32'd0;
        tail     <= 0;
        addr     <= base + (bug_conv_weight_base ? {{(ADDR_WIDTH - 6) {1'b0}}, 6'd32} : 0);
      end
    end else begin
      if (drain && !idle) drained <= 1'b1;
      if (addr_valid && addr_ready) begin
        requests <= requests - 32'd1;
        addr     <= addr + STEP;
      end
      if (taken) begin
        answers <= answers - 32'd1;
        loaded  <= loaded + 32'd1;
        tail    <= (tail + 1'b1 == capacity) ? 0 : tail + 1'b1;
      end
    end
endmodule
