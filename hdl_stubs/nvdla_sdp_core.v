// SDP data path: X1 (BS), X2 (BN) and output converter on atoms of 32-bit elements to
// INT8 ones, LANES elements per clock. nv_small has no Y stage (EW, LUT): whatever its registers
// say, data pass it unchanged.
//
// The whole atom is processed, channels beyond the cube included: measured on the
// public nv_small RTL, the bytes written there are computed from the data and
// operand bytes that lie in memory there.
`include "nvdla_bugs.vh"

module nvdla_sdp_core #(
    parameter ATOM_BYTES = 8,
    parameter LANES = 8
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    input  wire [            12:0] width,           // minus one
    input  wire [            12:0] height,          // minus one
    // D_DP_BS_CFG, ALU_CFG, ALU_SRC_VALUE, MUL_CFG, MUL_SRC_VALUE; then BN's
    input  wire [           159:0] bs_cfg,
    input  wire [           159:0] bn_cfg,
    input  wire [            31:0] cvt_offset,
    input  wire [            15:0] cvt_scale,
    input  wire [             5:0] cvt_shift,
    output wire                    needs_operands,  // from memory
    input  wire                    in_valid,
    output wire                    in_ready,
    input  wire [32*ATOM_BYTES-1:0] in_data,
    // Operand atoms from memory: expected if the read client of the stage is on
    input  wire                    bs_mem,
    input  wire                    bs_per_element,
    input  wire                    bs_valid,
    output wire                    bs_next,
    input  wire [16*ATOM_BYTES-1:0] bs_alu,
    input  wire [16*ATOM_BYTES-1:0] bs_mul,
    input  wire                    bn_mem,
    input  wire                    bn_per_element,
    input  wire                    bn_valid,
    output wire                    bn_next,
    input  wire [16*ATOM_BYTES-1:0] bn_alu,
    input  wire [16*ATOM_BYTES-1:0] bn_mul,
    output wire                    out_valid,
    input  wire                    out_ready,
    output wire [8*ATOM_BYTES-1:0] out_data,
    output reg  [            31:0] saturations
);
  localparam BEATS = ATOM_BYTES / LANES;
  localparam BW = (BEATS > 1) ? $clog2(BEATS) : 1;
  localparam [BW-1:0] LAST_BEAT = BEATS[BW-1:0] - 1'b1;
  localparam X = 8 * LANES;  // bits of results per clock
  localparam H = 4 * ATOM_BYTES;  // bits of half an atom
  localparam O = 16 * LANES;  // bits of one operand per clock

  `NVDLA_BUG(sdp_x2_bypassed)
  `NVDLA_BUG(sdp_dst_halves_swapped)
  // The pipeline stands still only when the output queue is full.
  wire advance;

  // Operand source: register or memory; a stage that takes an operand from memory
  // while its read client is off waits for ever.
  wire bs_needs = needs_memory(bs_cfg), bn_needs = needs_memory(bn_cfg);
  assign needs_operands = bs_needs || bn_needs;

  wire bs_ok = bs_mem ? bs_valid : !bs_needs;
  wire bn_ok = bn_mem ? bn_valid : !bn_needs;

  reg              atom_valid;
  reg  [   BW-1:0] beat;
  wire             atom_ends = advance && (beat == LAST_BEAT);
  wire             take = in_valid && bs_ok && bn_ok && (!atom_valid || atom_ends);

  assign in_ready = bs_ok && bn_ok && (!atom_valid || atom_ends);

  // A per-channel operand serves a whole surface.
  reg [12:0] x, y;
  wire surface_ends = (x == width) && (y == height);

  assign bs_next = take && bs_mem && (bs_per_element || surface_ends);
  assign bn_next = take && bn_mem && (bn_per_element || surface_ends);

  reg [32*ATOM_BYTES-1:0] atom;
  reg [16*ATOM_BYTES-1:0] atom_bs_alu, atom_bs_mul, atom_bn_alu, atom_bn_mul;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      atom_valid <= 1'b0;
      beat       <= 0;
      x          <= 13'd0;
      y          <= 13'd0;
    end else if (start) begin
      atom_valid <= 1'b0;
      beat       <= 0;
      x          <= 13'd0;
      y          <= 13'd0;
    end else begin
      if (atom_valid && advance) beat <= atom_ends ? 0 : beat + 1'b1;
      if (take) begin
        atom_valid <= 1'b1;
        x          <= (x == width) ? 13'd0 : x + 13'd1;
        if (x == width) y <= (y == height) ? 13'd0 : y + 13'd1;
      end else if (atom_ends) atom_valid <= 1'b0;
    end

  always @(posedge clk)
    if (take) begin
      atom        <= in_data;
      atom_bs_alu <= bs_cfg[32] ? bs_alu : {ATOM_BYTES{bs_cfg[64+:16]}};
      atom_bs_mul <= bs_cfg[96] ? bs_mul : {ATOM_BYTES{bs_cfg[128+:16]}};
      atom_bn_alu <= bn_cfg[32] ? bn_alu : {ATOM_BYTES{bn_cfg[64+:16]}};
      atom_bn_mul <= bn_cfg[96] ? bn_mul : {ATOM_BYTES{bn_cfg[128+:16]}};
    end else if (advance && atom_valid) begin
      atom        <= atom >> (32 * LANES);
      atom_bs_alu <= atom_bs_alu >> O;
      atom_bs_mul <= atom_bs_mul >> O;
      atom_bn_alu <= atom_bn_alu >> O;
      atom_bn_mul <= atom_bn_mul >> O;
    end

  // Stages: [0] in X1, [1] in X2, [2] in the converter, [3] converted
  reg [2:0] stage_valid, stage_last;
  reg [O-1:0] bn_alu_1, bn_mul_1;
  wire [32*LANES-1:0] x1, x2;
  wire [X-1:0] converted;
  wire [LANES-1:0] saturated;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      stage_valid <= 3'd0;
      stage_last  <= 3'd0;
    end else if (start) stage_valid <= 3'd0;
    else if (advance) begin
      stage_valid <= {stage_valid[1:0], atom_valid};
      stage_last  <= {stage_last[1:0], atom_ends};
    end

  always @(posedge clk)
    if (advance && atom_valid) begin
      bn_alu_1 <= atom_bn_alu[O-1:0];
      bn_mul_1 <= atom_bn_mul[O-1:0];
    end

  genvar g;
  generate
    for (g = 0; g < LANES; g = g + 1) begin : lane
      nvdla_sdp_x stage_x1 (
          .clk        (clk),
          .advance    (advance && atom_valid),
          .bypass     (bs_cfg[0]),
          .alu_bypass (bs_cfg[1]),
          .alu_algo   (bs_cfg[3:2]),
          .alu_shift  (bs_cfg[45:40]),
          .mul_bypass (bs_cfg[4]),
          .mul_prelu  (bs_cfg[5]),
          .mul_shift  (bs_cfg[109:104]),
          .relu_bypass(bs_cfg[6]),
          .x          (atom[32*g+:32]),
          .alu_operand(atom_bs_alu[16*g+:16]),
          .mul_operand(atom_bs_mul[16*g+:16]),
          .y          (x1[32*g+:32])
      );

      nvdla_sdp_x stage_x2 (
          .clk        (clk),
          .advance    (advance && stage_valid[0]),
          .bypass     (bn_cfg[0] || bug_sdp_x2_bypassed),
          .alu_bypass (bn_cfg[1]),
          .alu_algo   (bn_cfg[3:2]),
          .alu_shift  (bn_cfg[45:40]),
          .mul_bypass (bn_cfg[4]),
          .mul_prelu  (bn_cfg[5]),
          .mul_shift  (bn_cfg[109:104]),
          .relu_bypass(bn_cfg[6]),
          .x          (x1[32*g+:32]),
          .alu_operand(bn_alu_1[16*g+:16]),
          .mul_operand(bn_mul_1[16*g+:16]),
          .y          (x2[32*g+:32])
      );

      nvdla_sdp_cvt cvt (
          .clk      (clk),
          .advance  (advance && stage_valid[1]),
          .offset   (cvt_offset),
          .scale    (cvt_scale),
          .shift    (cvt_shift),
          .x        (x2[32*g+:32]),
          .y        (converted[8*g+:8]),
          .saturated(saturated[g])
      );
    end
  endgenerate

  // Output: the lanes of an atom's beats, first beat lowest
  wire [8*ATOM_BYTES-1:0] complete;

  generate
    if (BEATS > 1) begin : gather
      reg [8*ATOM_BYTES-X-1:0] earlier;
      assign complete = {converted, earlier};
      always @(posedge clk) if (advance && stage_valid[2]) earlier <= complete[8*ATOM_BYTES-1:X];
    end else begin : whole
      assign complete = converted;
    end
  endgenerate

  integer i;
  reg [31:0] hits;

  always @* begin
    hits = 32'd0;
    for (i = 0; i < LANES; i = i + 1) hits = hits + {31'd0, saturated[i]};
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) saturations <= 32'd0;
    else if (start) saturations <= 32'd0;
    else if (advance && stage_valid[2]) saturations <= saturations + hits;

  nvdla_fifo #(
      .WIDTH(8 * ATOM_BYTES)
  ) out_fifo (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(stage_valid[2] && stage_last[2]),
      .push_ready(advance),
      .push_data (bug_sdp_dst_halves_swapped ? {complete[0+:H], complete[H+:H]} : complete),
      .pop_valid (out_valid),
      .pop_ready (out_ready),
      .pop_data  (out_data)
  );

  /* verilator lint_off UNUSEDSIGNAL */
  function automatic needs_memory(input [159:0] cfg);  // only the bypass and source bits
    /* verilator lint_on UNUSEDSIGNAL */
    needs_memory = !cfg[0] && ((!cfg[1] && cfg[32]) || (!cfg[4] && cfg[96]));
  endfunction
endmodule
