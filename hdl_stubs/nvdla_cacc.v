// CACC: registers, accumulators of one stripe, truncation, and the stream to SDP.
//
// The sums of an output are added up in 34 bits. After its last atomic operation the
// total is divided by 2^CLIP_TRUNCATE, halves away from zero, limited to 32 bits and
// queued for SDP; OUT_SATURATION counts the limited ones. The pipeline stands still
// while the queue is full. The layer is done when SDP has taken its last atom.
//
// Absent kernels of the last group have weights of 0, hence SDP gets zeros for them.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_cacc #(
    parameter [5:0] SLOT = 6'd7,
    parameter ATOMIC_K = 8,
    parameter SUM_BITS = 20,
    parameter LOG2_STRIPE = 6
) (
    input  wire                         clk,
    input  wire                         rst_n,
    input  wire                         req_valid,
    input  wire                         req_write,
    input  wire [                 15:0] req_addr,
    input  wire [                 31:0] req_wdata,
    output wire [                 31:0] rdata,
    output wire                         enabled,
    input  wire                         load,
    input  wire                         start,
    output wire                         done,
    output wire [                  1:0] layer_done,  // one bit per group
    output wire                         advance,     // the whole pipeline's
    input  wire                         sums_valid,
    input  wire [SUM_BITS*ATOMIC_K-1:0] sums,
    input  wire [      LOG2_STRIPE-1:0] sums_index,
    input  wire                         sums_first,
    input  wire                         sums_last,
    input  wire                         sums_end,
    output wire                         sdp_valid,
    input  wire                         sdp_ready,
    output wire [      32*ATOMIC_K-1:0] sdp_data,
    output wire                         sdp_last     // atom of the layer
);
  localparam A = 34;  // bits of an accumulator
  localparam [9:0] W_OUT_SATURATION = `CACC_D_OUT_SATURATION;

  wire producer, consumer;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`CACC_WORDS-`CACC_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  /* verilator lint_on UNUSEDSIGNAL */
  wire [4:0] truncate = cfg[32*(`CACC_D_CLIP_CFG-`CACC_OP_ENABLE)+:5];

  `NVDLA_BUG(conv_truncate)
  `NVDLA_BUG(conv_truncation_floors)
  // Each group remembers the count of the last layer that it ran.
  reg [31:0] saturations, saturations_0, saturations_1;

  nvdla_regfile #(
      .SLOT     (SLOT),
      .UNIT     (`UNIT_CACC),
      .WORDS    (`CACC_WORDS),
      .OP_ENABLE(`CACC_OP_ENABLE)
  ) regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdata),
      .ro_data  ((req_addr[9:0] != W_OUT_SATURATION) ? 32'd0 : producer ? saturations_1 : saturations_0),
      .producer (producer),
      .consumer (consumer),
      .enabled  (enabled),
      .load     (load),
      .cfg      (cfg),
      .done     (done)
  );

  reg [A*ATOMIC_K-1:0] accumulators[0:(1<<LOG2_STRIPE)-1];
  wire room;

  assign advance = room || !(sums_valid && sums_last);

  integer i;
  reg [A*ATOMIC_K-1:0] earlier, totals;
  reg [SUM_BITS-1:0] sum;

  always @* begin
    earlier = sums_first ? 0 : accumulators[sums_index];
    for (i = 0; i < ATOMIC_K; i = i + 1) begin
      sum = sums[SUM_BITS*i+:SUM_BITS];
      totals[A*i+:A] = earlier[A*i+:A] + {{(A - SUM_BITS) {sum[SUM_BITS-1]}}, sum};
    end
  end

  always @(posedge clk) if (advance && sums_valid) accumulators[sums_index] <= totals;

  // Totals on their way to SDP
  integer k;
  reg [32*ATOMIC_K-1:0] results;
  reg [31:0] hits;
  reg hit;

  always @* begin
    results = 0;
    hits = 32'd0;
    hit = 1'b0;
    if (sums_valid && sums_last)
      for (k = 0; k < ATOMIC_K; k = k + 1) begin
        {hit, results[32*k+:32]} = truncated(totals[A*k+:A], amount);
        hits = hits + {31'd0, hit};
      end
  end

  nvdla_fifo #(
      .WIDTH     (32 * ATOMIC_K + 1),
      .LOG2_DEPTH(3)
  ) delivery (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(sums_valid && sums_last),
      .push_ready(room),
      .push_data ({sums_end, results}),
      .pop_valid (sdp_valid),
      .pop_ready (sdp_ready),
      .pop_data  ({sdp_last, sdp_data})
  );

  assign done       = sdp_valid && sdp_ready && sdp_last;
  assign layer_done = {done && consumer, done && !consumer};

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      saturations   <= 32'd0;
      saturations_0 <= 32'd0;
      saturations_1 <= 32'd0;
    end else begin
      if (start) saturations <= 32'd0;
      else if (advance) saturations <= saturations + hits;
      if (done && consumer) saturations_1 <= saturations;
      if (done && !consumer) saturations_0 <= saturations;
    end

  wire [5:0] amount = {1'b0, truncate} + {5'd0, bug_conv_truncate};

  function automatic [32:0] truncated(input signed [A-1:0] total, input [5:0] shift);  // {limited, INT32}
    reg [A-1:0] magnitude;
    reg over;
    begin
      magnitude = total[A-1] ? -total : total;
      if (bug_conv_truncation_floors) begin
        magnitude = total >>> shift;
        if (total[A-1]) magnitude = -magnitude;
      end else if (shift != 6'd0) magnitude = ((magnitude >> (shift - 6'd1)) + 34'd1) >> 1;
      over = total[A-1] ? magnitude > 34'h0_8000_0000 : magnitude > 34'h0_7fff_ffff;
      if (over) truncated = {1'b1, total[A-1] ? 32'h8000_0000 : 32'h7fff_ffff};
      else truncated = {1'b0, total[A-1] ? -magnitude[31:0] : magnitude[31:0]};
    end
  endfunction
endmodule
