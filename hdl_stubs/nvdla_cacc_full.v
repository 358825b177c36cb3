// CACC of a configuration with all precisions: registers, accumulators of one
// stripe, truncation, and the results for SDP.
//
// Integers are added up in 64 bits and then divided by 2^CLIP_TRUNCATE, halves away from
// zero, and limited to 32 bits; OUT_SATURATION counts the limited ones. FP16 sums are
// added up with 24 bits and become FP32; the first NaN of an output stays. Results
// leave one output position per clock, of Winograd's 2x2 in the order of lines. The
// layer is done when SDP has taken the last one.
`include "nvdla_register_offsets.vh"

module nvdla_cacc_full #(
    parameter [5:0] SLOT = 6'd9,
    parameter LOG2_STRIPE = 5
) (
    input  wire                   clk,
    input  wire                   rst_n,
    input  wire                   req_valid,
    input  wire                   req_write,
    input  wire [           15:0] req_addr,
    input  wire [           31:0] req_wdata,
    output wire [           31:0] rdata,
    output wire                   enabled,
    input  wire                   load,
    output wire                   runnable,
    output wire [            2:0] mode,        // {Winograd, precision}
    input  wire                   start,
    output wire                   done,
    output wire [            1:0] layer_done,  // one bit per group
    output wire                   advance,     // the whole pipeline's
    input  wire                   sums_valid,
    input  wire [    32*4*65-1:0] sums,        // four per slot
    input  wire [LOG2_STRIPE-1:0] sums_index,
    input  wire                   sums_first,
    input  wire                   sums_last,
    input  wire                   sums_end,
    // 32 channels of INT8, or 16
    output wire                   sdp_valid,
    input  wire                   sdp_ready,
    output reg  [         1023:0] sdp_data,
    output wire                   sdp_last
);
  `include "nvdla_float.vh"
  `include "nvdla_integer_math.vh"

  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;
  localparam [9:0] W_OUT_SATURATION = `CACC_D_OUT_SATURATION;

  wire producer, consumer;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`CACC_WORDS-`CACC_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  wire [31:0] misc = cfg[32*(`CACC_D_MISC_CFG-`CACC_OP_ENABLE)+:32];
  /* verilator lint_on UNUSEDSIGNAL */
  wire [4:0] batches = cfg[32*(`CACC_D_BATCH_NUMBER-`CACC_OP_ENABLE)+:5];
  wire [4:0] truncate = cfg[32*(`CACC_D_CLIP_CFG-`CACC_OP_ENABLE)+:5];
  wire winograd = misc[0];
  wire is_byte = (misc[13:12] == INT8);
  wire is_float = (misc[13:12] == FP16);

  assign mode     = {misc[0], misc[13:12]};
  assign runnable = (batches == 5'd0);

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

  reg [64:0] accumulators[0:(1<<(LOG2_STRIPE+7))-1];
  // Results of one operation, each {limited, 32 bits}, and how many of them have left
  reg [4*32*33-1:0] results;
  reg busy, ends;
  reg [1:0] position;

  wire position_ends = (position == (winograd ? 2'd3 : 2'd0));
  wire leaves = sdp_valid && sdp_ready;

  assign advance    = !(sums_valid && sums_last) || !busy || (leaves && position_ends);
  assign sdp_valid  = busy;
  assign sdp_last   = ends && position_ends;
  assign done       = leaves && sdp_last;
  assign layer_done = {done && consumer, done && !consumer};

  // A slot is a channel of INT8; the other precisions use the even ones.
  integer i;

  always @(posedge clk)
    if (advance && sums_valid) begin
      /* verilator unroll_disable */
      for (i = 0; i < 128; i = i + 1)
        if ((is_byte || !i[2]) && (winograd || i[1:0] == 2'd0)) begin
          accumulators[{sums_index, i[6:0]}] <= total(sums[65*i+:65], accumulators[{sums_index, i[6:0]}]);
          if (sums_last)
            results[33*(32*i[1:0]+(is_byte?i>>2 : i>>3))+:33] <= delivered(
                total(sums[65*i+:65], accumulators[{sums_index, i[6:0]}]));
        end
    end

  integer c;
  reg [31:0] hits;

  always @* begin
    hits = 32'd0;
    /* verilator unroll_disable */
    for (c = 0; c < 32; c = c + 1)
      if (is_byte || c < 16) begin
        sdp_data[32*c+:32] = results[33*(32*position+c)+:32];
        hits = hits + {31'd0, results[33*(32*position+c)+32]};
      end else sdp_data[32*c+:32] = 32'd0;
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      busy     <= 1'b0;
      ends     <= 1'b0;
      position <= 2'd0;
    end else begin
      if (leaves) position <= position_ends ? 2'd0 : position + 2'd1;
      if (advance && sums_valid && sums_last) {busy, ends} <= {1'b1, sums_end};
      else if (leaves && position_ends) busy <= 1'b0;
    end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      saturations   <= 32'd0;
      saturations_0 <= 32'd0;
      saturations_1 <= 32'd0;
    end else begin
      if (start) saturations <= 32'd0;
      else if (leaves) saturations <= saturations + hits;
      if (done && consumer) saturations_1 <= saturations + hits;
      if (done && !consumer) saturations_0 <= saturations + hits;
    end

  function automatic [64:0] total(input [64:0] sum, input [64:0] earlier);
    if (sums_first) total = sum;
    else if (earlier[64]) total = earlier;
    else if (sum[64]) total = sum;
    else if (is_float) total = {1'b0, rounded($bitstoreal(earlier[63:0]) + $bitstoreal(sum[63:0]))};
    else total = {1'b0, earlier[63:0] + sum[63:0]};
  endfunction

  // To 24 bits, halves away from zero
  function automatic [63:0] rounded(input real v);
    rounded = ($realtobits(v) + 64'h1000_0000) & ~64'h1fff_ffff;
  endfunction

  function automatic [32:0] delivered(input [64:0] value);  // {limited, 32 bits}
    reg signed [63:0] shifted;
    begin
      shifted = shift_round(value[63:0], {1'b0, truncate});
      if (value[64]) delivered = {1'b0, value[15], 8'hff, 13'd0, value[9:0]};
      else if (is_float) delivered = {1'b0, fp32_bits($bitstoreal(value[63:0]))};
      else delivered = {shifted != {{32{shifted[63]}}, shifted[31:0]} || shifted[31] != shifted[63],
                        saturate(shifted, 32)};
    end
  endfunction
endmodule
