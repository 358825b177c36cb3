// SDP data path: X1 (BS), X2 (BN), of FULL also Y (EW and LUT), and the output converter,
// LANES elements per clock.
//
// It works on groups of channels: as many as an atom has bytes or, of FULL, half as many
// when neither the cube that is read nor the one that is written is INT8. A group is one
// atom, or two of neighbouring surfaces, on either side; so the precision can change on
// the way.
//
// Channels beyond the cube are processed like all others: measured on the public
// nv_small RTL, the bytes written there are computed from the data and operand bytes
// that lie in memory there.
`include "nvdla_bugs.vh"

module nvdla_sdp_core #(
    parameter FULL = 0,
    parameter ATOM_BYTES = 8,
    parameter LANES = 8,
    parameter OPERANDS = 2
) (
    input  wire                              clk,
    input  wire                              rst_n,
    input  wire                              start,
    input  wire [                      12:0] width,          // minus one
    input  wire [                      12:0] height,         // minus one
    input  wire [                       4:0] cubes,          // minus one
    input  wire                              wide,           // groups of ATOM_BYTES channels
    input  wire [                       1:0] in_precision,
    input  wire [                       1:0] proc_precision,
    input  wire [                       1:0] out_precision,
    input  wire                              nan_to_zero,
    // D_DP_BS_CFG, ALU_CFG, ALU_SRC_VALUE, MUL_CFG, MUL_SRC_VALUE; then BN's
    input  wire [                     159:0] bs_cfg,
    input  wire [                     159:0] bn_cfg,
    input  wire [                     383:0] ew_cfg,
    input  wire [                      95:0] cvt,
    input  wire                              in_valid,
    output wire                              in_ready,
    input  wire [          8*ATOM_BYTES-1:0] in_data,
    // A group from the convolution pipeline, 32 bits per element
    input  wire                              flying,
    input  wire                              conv_valid,
    output wire                              conv_ready,
    input  wire [         32*ATOM_BYTES-1:0] conv_data,
    output wire                              needs_operands, // from memory
    // Operands of a group per stage, BS lowest: expected if the read client is on
    input  wire [              OPERANDS-1:0] operand_on,
    input  wire [              OPERANDS-1:0] operand_per_element,
    input  wire [              OPERANDS-1:0] operand_valid,
    output wire [              OPERANDS-1:0] operand_next,
    input  wire [OPERANDS*16*ATOM_BYTES-1:0] operand_alu,
    input  wire [OPERANDS*16*ATOM_BYTES-1:0] operand_mul,
    output wire                              out_valid,
    input  wire                              out_ready,
    output wire [          8*ATOM_BYTES-1:0] out_data,
    // Tables of FULL
    input  wire [                     319:0] settings,
    output wire [               6*LANES-1:0] le_index,
    output wire [               8*LANES-1:0] lo_index,
    input  wire [              32*LANES-1:0] le_pair,
    input  wire [              32*LANES-1:0] lo_pair,
    // Counters of the layer: {NaN in, infinity in, NaN out, LO hit, LE hit, hybrid,
    // overflow, underflow, saturation}; of nv_small only the last one
    output reg  [                  32*9-1:0] counters,
    output reg                               unequal
);
  `include "nvdla_sdp_float.vh"

  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;
  localparam E = ATOM_BYTES;
  localparam W = 8 * ATOM_BYTES;
  localparam BEATS = ATOM_BYTES / LANES;
  localparam BW = (BEATS > 1) ? $clog2(BEATS) : 1;
  localparam [BW-1:0] WIDE_BEATS = BEATS[BW-1:0] - 1'b1;
  localparam STAGES = (FULL != 0) ? 5 : 3;

  `NVDLA_BUG(sdp_input_unsigned)
  `NVDLA_BUG(sdp_dst_halves_swapped)
  wire in_bytes = (in_precision == INT8);
  wire is_float = (proc_precision == FP16);
  wire [BW-1:0] last_beat = wide ? WIDE_BEATS : WIDE_BEATS >> 1;
  // The pipeline stands still only when the output queue is full.
  wire advance;

  // Atoms to groups
  reg [2*W-1:0] raw;
  reg part, raw_valid;
  wire take;
  wire last_part = !(wide && !in_bytes) || part;

  assign in_ready = !raw_valid || take;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) {part, raw_valid} <= 2'b00;
    else if (start) {part, raw_valid} <= 2'b00;
    else if (in_ready) begin
      raw_valid <= in_valid && last_part;
      if (in_valid) part <= !last_part;
    end

  always @(posedge clk)
    if (in_valid && in_ready) begin
      if (part) raw[W+:W] <= in_data;
      else raw[0+:W] <= in_data;
    end

  // Operand source: register or memory; a stage that takes an operand from memory
  // while its read client is off waits for ever.
  wire [2:0] needs = {
    !ew_cfg[0] && ((!ew_cfg[1] && ew_cfg[32]) || (!ew_cfg[4] && ew_cfg[192])) && FULL != 0,
    needs_memory(bn_cfg),
    needs_memory(bs_cfg)
  };
  wire [OPERANDS-1:0] operand_there = (operand_on & operand_valid) | ~(operand_on | needs[OPERANDS-1:0]);

  // Groups to lanes; a per-channel operand serves a whole surface of each cube.
  reg [32*E-1:0] group;
  reg [16*E-1:0] alu[0:OPERANDS-1];
  reg [16*E-1:0] mul[0:OPERANDS-1];
  reg busy;
  reg [BW-1:0] beat;
  reg [12:0] x, y;
  reg [4:0] cube;
  wire group_ends = busy && advance && (beat == last_beat);
  wire surface_ends = (x == width) && (y == height);
  wire surfaces_end = surface_ends && (cube == cubes);

  assign conv_ready     = flying && take;
  assign needs_operands = (needs != 3'd0);
  assign take           = (flying ? conv_valid : raw_valid) && (&operand_there) && (!busy || group_ends);
  assign operand_next   = {OPERANDS{take}} & operand_on & (operand_per_element | {OPERANDS{surfaces_end}});

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      busy <= 1'b0;
      beat <= 0;
      x    <= 13'd0;
      y    <= 13'd0;
      cube <= 5'd0;
    end else if (start) begin
      busy <= 1'b0;
      beat <= 0;
      x    <= 13'd0;
      y    <= 13'd0;
      cube <= 5'd0;
    end else begin
      if (busy && advance) beat <= group_ends ? 0 : beat + 1'b1;
      if (take) begin
        busy <= 1'b1;
        x    <= (x == width) ? 13'd0 : x + 13'd1;
        if (x == width) y <= (y == height) ? 13'd0 : y + 13'd1;
        if (surface_ends) cube <= surfaces_end ? 5'd0 : cube + 5'd1;
      end else if (group_ends) busy <= 1'b0;
    end

  // X operands are in a register where the stage says so, those of Y choose inside it.
  wire [2:0] alu_in_memory = {1'b1, bn_cfg[32], bs_cfg[32]};
  wire [2:0] mul_in_memory = {1'b1, bn_cfg[96], bs_cfg[96]};
  wire [47:0] alu_register = {16'd0, bn_cfg[79:64], bs_cfg[79:64]};
  wire [47:0] mul_register = {16'd0, bn_cfg[143:128], bs_cfg[143:128]};

  wire [32*E-1:0] entered = flying ? flushed(conv_data, is_float && nan_to_zero) :
                            elements(raw, in_precision, nan_to_zero, bug_sdp_input_unsigned);
  integer i;

  always @(posedge clk)
    if (take) begin
      group <= entered;
      for (i = 0; i < OPERANDS; i = i + 1) begin
        alu[i] <= alu_in_memory[i] ? operand_alu[16*E*i+:16*E] : {E{alu_register[16*i+:16]}};
        mul[i] <= mul_in_memory[i] ? operand_mul[16*E*i+:16*E] : {E{mul_register[16*i+:16]}};
      end
    end else if (busy && advance) begin
      group <= group >> (32 * LANES);
      for (i = 0; i < OPERANDS; i = i + 1) begin
        alu[i] <= alu[i] >> (16 * LANES);
        mul[i] <= mul[i] >> (16 * LANES);
      end
    end

  // Stages: [0] in X1, ... the last but one in the converter, the last one converted
  reg [STAGES-1:0] stage_valid;
  wire converted_valid = stage_valid[STAGES-1];
  wire [LANES-1:0] lane_unequal, lane_saturated, lane_nan;
  wire [5*LANES-1:0] lane_events;
  wire [16*LANES-1:0] converted;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) stage_valid <= 0;
    else if (start) stage_valid <= 0;
    else if (advance) stage_valid <= {stage_valid[STAGES-2:0], busy};

  genvar g;
  generate
    for (g = 0; g < LANES; g = g + 1) begin : lanes
      wire [31:0] y_operands;

      if (FULL != 0) begin : y_stage
        assign y_operands = {mul[OPERANDS-1][16*g+:16], alu[OPERANDS-1][16*g+:16]};
      end else begin : no_y_stage
        assign y_operands = 32'd0;
      end

      nvdla_sdp_lane #(
          .FULL(FULL)
      ) lane (
          .clk          (clk),
          .advance      (advance),
          .is_float     (is_float),
          .nan_to_zero  (nan_to_zero),
          .bs_cfg       (bs_cfg),
          .bn_cfg       (bn_cfg),
          .ew_cfg       (ew_cfg),
          .cvt          (cvt),
          .out_precision(out_precision),
          .settings     (settings),
          .x            (group[32*g+:32]),
          .operands     ({y_operands, mul[1][16*g+:16], alu[1][16*g+:16], mul[0][16*g+:16], alu[0][16*g+:16]}),
          .le_index     (le_index[6*g+:6]),
          .lo_index     (lo_index[8*g+:8]),
          .le_pair      (le_pair[32*g+:32]),
          .lo_pair      (lo_pair[32*g+:32]),
          .unequal      (lane_unequal[g]),
          .lookup_events(lane_events[5*g+:5]),
          .y            (converted[16*g+:16]),
          .saturated    (lane_saturated[g]),
          .is_nan       (lane_nan[g])
      );
    end
  endgenerate

  // Output: an atom is full with as many elements of INT8 as it has bytes, or half as many
  wire out_bytes = (out_precision == INT8);
  wire [16*E-1:0] complete;
  wire atom_ends;
  reg [W-1:0] bytes;

  generate
    if (BEATS > 1) begin : gather
      reg [16*(E-LANES)-1:0] earlier;
      reg [BW-1:0] out_beat;

      assign complete  = {converted, earlier};
      assign atom_ends = out_bytes ? &out_beat : &(out_beat | ~(WIDE_BEATS >> 1));

      always @(posedge clk or negedge rst_n)
        if (!rst_n) out_beat <= 0;
        else if (start) out_beat <= 0;
        else if (advance && converted_valid) out_beat <= out_beat + 1'b1;

      always @(posedge clk) if (advance && converted_valid) earlier <= complete[16*E-1:16*LANES];
    end else begin : whole
      assign complete  = converted;
      assign atom_ends = 1'b1;
    end
  endgenerate

  always @*
    for (i = 0; i < E; i = i + 1)
      bytes[8*i+:8] = complete[16*(bug_sdp_dst_halves_swapped ? (i + E / 2) % E : i)+:8];

  nvdla_fifo #(
      .WIDTH(W)
  ) out_fifo (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(converted_valid && atom_ends),
      .push_ready(advance),
      .push_data (out_bytes ? bytes : complete[16*E-1:8*E]),
      .pop_valid (out_valid),
      .pop_ready (out_ready),
      .pop_data  (out_data)
  );

  // Counters
  reg [32*9-1:0] more;

  always @* begin
    more = 0;
    for (i = 0; i < LANES; i = i + 1) begin
      if (converted_valid) begin
        more[31:0]    = more[31:0] + {31'd0, lane_saturated[i]};
        more[223:192] = more[223:192] + {31'd0, lane_nan[i]};
      end
      if (stage_valid[STAGES-2]) begin
        more[63:32]   = more[63:32] + {31'd0, lane_events[5*i]};
        more[95:64]   = more[95:64] + {31'd0, lane_events[5*i+1]};
        more[127:96]  = more[127:96] + {31'd0, lane_events[5*i+2]};
        more[159:128] = more[159:128] + {31'd0, lane_events[5*i+3]};
        more[191:160] = more[191:160] + {31'd0, lane_events[5*i+4]};
      end
    end
    for (i = 0; i < E / 2; i = i + 1)
      if (in_precision == FP16 && in_data[16*i+10+:5] == 5'h1f) begin
        if (in_data[16*i+:10] != 10'd0) more[287:256] = more[287:256] + 32'd1;
        else more[255:224] = more[255:224] + 32'd1;
      end
  end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      counters <= 0;
      unequal  <= 1'b0;
    end else if (start) begin
      counters <= 0;
      unequal  <= 1'b0;
    end else begin
      if (advance)
        for (i = 0; i < 7; i = i + 1) counters[32*i+:32] <= counters[32*i+:32] + more[32*i+:32];
      if (in_valid && in_ready)
        for (i = 7; i < 9; i = i + 1) counters[32*i+:32] <= counters[32*i+:32] + more[32*i+:32];
      if (advance && stage_valid[2] && lane_unequal != 0) unequal <= 1'b1;
    end

  /* verilator lint_off UNUSEDSIGNAL */
  function automatic needs_memory(input [159:0] cfg);  // only the bypass and source bits
    /* verilator lint_on UNUSEDSIGNAL */
    needs_memory = !cfg[0] && ((!cfg[1] && cfg[32]) || (!cfg[4] && cfg[96]));
  endfunction

  // All that they depend on is an argument: an assignment does not wait for what a
  // function reads besides.
  function automatic [32*E-1:0] flushed(input [32*E-1:0] data, input flush);
    integer e;
    for (e = 0; e < E; e = e + 1)
      flushed[32*e+:32] = (flush && fp_is_nan(data[32*e+:32])) ? 32'd0 : data[32*e+:32];
  endfunction

  function automatic [32*E-1:0] elements(input [2*W-1:0] data, input [1:0] precision, input flush, input no_sign);
    integer e;
    for (e = 0; e < E; e = e + 1)
      if (precision == INT8) elements[32*e+:32] = {{24{data[8*e+7] && !no_sign}}, data[8*e+:8]};
      else if (precision == FP16) elements[32*e+:32] = fp_widened(data[16*e+:16], flush);
      else elements[32*e+:32] = {{16{data[16*e+15]}}, data[16*e+:16]};
  endfunction
endmodule
