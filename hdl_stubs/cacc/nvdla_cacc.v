// CACC: registers, accumulators of one stripe, truncation, and the results for SDP.
//
// The sums of an output are added up. After its last atomic operation the total of
// integers is divided by 2^CLIP_TRUNCATE and limited to 32 bits; OUT_SATURATION counts
// the limited ones. Results leave one output position per clock, of Winograd's 2x2 in
// the order of lines; the pipeline stands still until they have. The layer is done when
// SDP has taken its last one. SDP gets zeros for absent kernels of the last group.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_cacc #(
    parameter [5:0] SLOT = 6'd7,
    parameter FULL = 0,
    parameter SLOTS = 8,
    parameter SUM_BITS = 20,
    parameter LOG2_STRIPE = 6
) (
    input  wire                      clk,
    input  wire                      rst_n,
    input  wire                      req_valid,
    input  wire                      req_write,
    input  wire [              15:0] req_addr,
    input  wire [              31:0] req_wdata,
    output wire [              31:0] rdata,
    output wire                      enabled,
    input  wire                      load,
    output wire [               7:0] mode,        // {cubes minus one, Winograd, precision}
    input  wire                      start,
    output wire                      done,
    output wire [               1:0] layer_done,  // one bit per group
    output wire                      advance,     // the whole pipeline's
    input  wire                      sums_valid,
    input  wire [SUM_BITS*SLOTS-1:0] sums,
    input  wire [   LOG2_STRIPE-1:0] sums_index,
    input  wire                      sums_first,
    input  wire                      sums_last,
    input  wire                      sums_end,
    // A channel for each slot of INT8, for every second one of 16 bits
    output wire                      sdp_valid,
    input  wire                      sdp_ready,
    output wire [      32*SLOTS-1:0] sdp_data,
    output wire                      sdp_last     // atom of the layer
);
  localparam [9:0] W_OUT_SATURATION = `CACC_D_OUT_SATURATION;

  wire producer, consumer;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`CACC_WORDS-`CACC_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  wire [31:0] misc = cfg[32*(`CACC_D_MISC_CFG-`CACC_OP_ENABLE)+:32];
  /* verilator lint_on UNUSEDSIGNAL */
  wire [4:0] batches = cfg[32*(`CACC_D_BATCH_NUMBER-`CACC_OP_ENABLE)+:5];
  wire [4:0] truncate = cfg[32*(`CACC_D_CLIP_CFG-`CACC_OP_ENABLE)+:5];

  `NVDLA_BUG(conv_truncate)
  `NVDLA_BUG(conv_truncate_narrow)
  `NVDLA_BUG(conv_truncation_floors)
  wire [5:0] amount = {1'b0, bug_conv_truncate_narrow ? {3'd0, truncate[1:0]} : truncate} + {5'd0, bug_conv_truncate};

  // Each group remembers the count of the last layer that it ran.
  reg [31:0] saturations, saturations_0, saturations_1;

  nvdla_regfile #(
      .SLOT     (SLOT),
      .UNIT     (`UNIT_CACC),
      .WORDS    (`CACC_WORDS),
      .OP_ENABLE(`CACC_OP_ENABLE),
      .FULL     (FULL)
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

  // Results of one operation wait here; how many of their positions have left
  reg busy, ends;
  reg [1:0] position;
  wire [31:0] limited;  // results at this position

  wire position_ends = (position == (mode[2] ? 2'd3 : 2'd0));
  wire leaves = sdp_valid && sdp_ready;
  wire take = advance && sums_valid;

  assign advance    = !(sums_valid && sums_last) || !busy || (leaves && position_ends);
  assign sdp_valid  = busy;
  assign sdp_last   = ends && position_ends;
  assign done       = leaves && sdp_last;
  assign layer_done = {done && consumer, done && !consumer};

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      busy     <= 1'b0;
      ends     <= 1'b0;
      position <= 2'd0;
    end else begin
      if (leaves) position <= position_ends ? 2'd0 : position + 2'd1;
      if (take && sums_last) {busy, ends} <= {1'b1, sums_end};
      else if (leaves && position_ends) busy <= 1'b0;
    end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      saturations   <= 32'd0;
      saturations_0 <= 32'd0;
      saturations_1 <= 32'd0;
    end else begin
      if (start) saturations <= 32'd0;
      else if (leaves) saturations <= saturations + limited;
      if (done && consumer) saturations_1 <= saturations + limited;
      if (done && !consumer) saturations_0 <= saturations + limited;
    end

  generate
    if (FULL != 0) begin : all_precisions
      assign mode = {batches, misc[0], misc[13:12]};

      nvdla_cacc_arithmetic_full #(
          .SLOTS      (SLOTS),
          .LOG2_STRIPE(LOG2_STRIPE)
      ) arithmetic (
          .clk     (clk),
          .mode    (mode[2:0]),
          .truncate(amount),
          .floors  (bug_conv_truncation_floors),
          .take    (take),
          .sums    (sums),
          .index   (sums_index),
          .first   (sums_first),
          .last    (sums_last),
          .position(position),
          .results (sdp_data),
          .limited (limited)
      );
    end else begin : int8
      wire unused_bits = &{1'b0, batches};

      assign mode = 8'd0;

      nvdla_cacc_arithmetic #(
          .SLOTS      (SLOTS),
          .SUM_BITS   (SUM_BITS),
          .LOG2_STRIPE(LOG2_STRIPE)
      ) arithmetic (
          .clk     (clk),
          .truncate(amount),
          .floors  (bug_conv_truncation_floors),
          .take    (take),
          .sums    (sums),
          .index   (sums_index),
          .first   (sums_first),
          .last    (sums_last),
          .results (sdp_data),
          .limited (limited)
      );
    end
  endgenerate
endmodule
