// SDP data path with all precisions, LANES elements per clock.
//
// It works on groups of channels: 16, or 32 when the cube that is read or the one
// that is written is INT8. A group is one atom, or two of neighbouring surfaces, on
// either side; so the precision can change on the way. Channels beyond the cube are
// processed like all others.
module nvdla_sdp_full_core #(
    parameter LANES = 4
) (
    input  wire          clk,
    input  wire          rst_n,
    input  wire          start,
    input  wire [  12:0] width,          // minus one
    input  wire [  12:0] height,         // minus one
    input  wire          wide,           // groups of 32 channels
    input  wire [   1:0] in_precision,
    input  wire [   1:0] proc_precision,
    input  wire [   1:0] out_precision,
    input  wire          nan_to_zero,
    input  wire [ 159:0] bs_cfg,
    input  wire [ 159:0] bn_cfg,
    input  wire [ 383:0] ew_cfg,
    input  wire [  95:0] cvt,
    input  wire          in_valid,
    output wire          in_ready,
    input  wire [ 255:0] in_data,
    // A group from the convolution pipeline, 32 bits per element
    input  wire          flying,
    input  wire          conv_valid,
    output wire          conv_ready,
    input  wire [1023:0] conv_data,
    output wire          needs_operands,
    // Operands of a group per stage, BS lowest: 16 bits per element
    input  wire [   2:0] operand_on,
    input  wire [   2:0] operand_per_element,
    input  wire [   2:0] operand_valid,
    output wire [   2:0] operand_next,
    input  wire [1535:0] operand_alu,
    input  wire [1535:0] operand_mul,
    output wire          out_valid,
    input  wire          out_ready,
    output wire [ 255:0] out_data,
    input  wire [ 319:0] settings,
    output wire [6*LANES-1:0] le_index,
    output wire [8*LANES-1:0] lo_index,
    input  wire [32*LANES-1:0] le_pair,
    input  wire [32*LANES-1:0] lo_pair,
    // Counters of the layer: {NaN in, infinity in, NaN out, LO hit, LE hit, hybrid,
    // overflow, underflow, saturation}
    output reg  [32*9-1:0] counters,
    output reg           unequal
);
  `include "nvdla_sdp_float.vh"

  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;
  localparam E = 32;
  localparam LOG2_LANES = $clog2(LANES);

  wire in_bytes = (in_precision == INT8);
  wire out_bytes = (out_precision == INT8);
  wire is_float = (proc_precision == FP16);
  /* verilator lint_off WIDTHTRUNC */
  wire [5-LOG2_LANES:0] last_beat = wide ? 32 / LANES - 1 : 16 / LANES - 1;
  /* verilator lint_on WIDTHTRUNC */
  wire advance;

  // Atoms to groups
  reg [511:0] raw;
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
      if (part) raw[511:256] <= in_data;
      else raw[255:0] <= in_data;
    end

  // Groups to lanes
  reg [32*E-1:0] group;
  reg [16*E-1:0] alu[0:2];
  reg [16*E-1:0] mul[0:2];
  reg busy;
  reg [5-LOG2_LANES:0] beat;
  reg [12:0] x, y;
  wire group_ends = busy && advance && (beat == last_beat);
  wire surface_ends = (x == width) && (y == height);

  assign conv_ready     = flying && take;
  assign needs_operands = needs_memory(bs_cfg) || needs_memory(bn_cfg) ||
                          (!ew_cfg[0] && ((!ew_cfg[1] && ew_cfg[32]) || (!ew_cfg[4] && ew_cfg[192])));
  assign take         = (flying ? conv_valid : raw_valid) && (&(operand_valid | ~operand_on)) && (!busy || group_ends);
  assign operand_next = {3{take}} & operand_on & (operand_per_element | {3{surface_ends}});

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      busy <= 1'b0;
      beat <= 0;
      x    <= 13'd0;
      y    <= 13'd0;
    end else if (start) begin
      busy <= 1'b0;
      beat <= 0;
      x    <= 13'd0;
      y    <= 13'd0;
    end else begin
      if (busy && advance) beat <= group_ends ? 0 : beat + 1'b1;
      if (take) begin
        busy <= 1'b1;
        x    <= (x == width) ? 13'd0 : x + 13'd1;
        if (x == width) y <= (y == height) ? 13'd0 : y + 13'd1;
      end else if (group_ends) busy <= 1'b0;
    end

  // X operands are in a register where the stage says so, those of Y choose inside it.
  wire [2:0] alu_in_memory = {1'b1, bn_cfg[32], bs_cfg[32]};
  wire [2:0] mul_in_memory = {1'b1, bn_cfg[96], bs_cfg[96]};
  wire [47:0] alu_register = {16'd0, bn_cfg[79:64], bs_cfg[79:64]};
  wire [47:0] mul_register = {16'd0, bn_cfg[143:128], bs_cfg[143:128]};

  integer i;

  always @(posedge clk)
    if (take) begin
      group <= flying ? flushed(conv_data) : elements(raw);
      for (i = 0; i < 3; i = i + 1) begin
        alu[i] <= alu_in_memory[i] ? operand_alu[16*E*i+:16*E] : {E{alu_register[16*i+:16]}};
        mul[i] <= mul_in_memory[i] ? operand_mul[16*E*i+:16*E] : {E{mul_register[16*i+:16]}};
      end
    end else if (busy && advance) begin
      group <= group >> (32 * LANES);
      for (i = 0; i < 3; i = i + 1) begin
        alu[i] <= alu[i] >> (16 * LANES);
        mul[i] <= mul[i] >> (16 * LANES);
      end
    end

  // Stages: [0] in X1, ... [4] in the converter, [5] converted
  reg [4:0] stage_valid;
  wire [LANES-1:0] lane_unequal, lane_saturated, lane_nan;
  wire [5*LANES-1:0] lane_events;
  wire [16*LANES-1:0] converted;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) stage_valid <= 5'd0;
    else if (start) stage_valid <= 5'd0;
    else if (advance) stage_valid <= {stage_valid[3:0], busy};

  genvar g;
  generate
    for (g = 0; g < LANES; g = g + 1) begin : lanes
      nvdla_sdp_lane lane (
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
          .operands     ({
            mul[2][16*g+:16], alu[2][16*g+:16], mul[1][16*g+:16], alu[1][16*g+:16], mul[0][16*g+:16], alu[0][16*g+:16]
          }),
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

  // Output: an atom is full with 16 elements, or with 32 of INT8
  reg [512-16*LANES-1:0] earlier;
  reg [4-LOG2_LANES:0] out_beat;
  wire [511:0] complete = {converted, earlier};
  wire half_ends = &out_beat[3-LOG2_LANES:0];
  reg [255:0] bytes;

  always @* for (i = 0; i < E; i = i + 1) bytes[8*i+:8] = complete[16*i+:8];

  always @(posedge clk or negedge rst_n)
    if (!rst_n) out_beat <= 0;
    else if (start) out_beat <= 0;
    else if (advance && stage_valid[4]) out_beat <= out_beat + 1'b1;

  always @(posedge clk) if (advance && stage_valid[4]) earlier <= complete[511:16*LANES];

  nvdla_fifo #(
      .WIDTH(256)
  ) out_fifo (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(stage_valid[4] && (out_bytes ? &out_beat : half_ends)),
      .push_ready(advance),
      .push_data (out_bytes ? bytes : complete[511:256]),
      .pop_valid (out_valid),
      .pop_ready (out_ready),
      .pop_data  (out_data)
  );

  // Counters
  reg [32*9-1:0] more;

  always @* begin
    more = 0;
    for (i = 0; i < LANES; i = i + 1) begin
      if (stage_valid[4]) begin
        more[31:0]    = more[31:0] + {31'd0, lane_saturated[i]};
        more[223:192] = more[223:192] + {31'd0, lane_nan[i]};
      end
      if (stage_valid[3]) begin
        more[63:32]   = more[63:32] + {31'd0, lane_events[5*i]};
        more[95:64]   = more[95:64] + {31'd0, lane_events[5*i+1]};
        more[127:96]  = more[127:96] + {31'd0, lane_events[5*i+2]};
        more[159:128] = more[159:128] + {31'd0, lane_events[5*i+3]};
        more[191:160] = more[191:160] + {31'd0, lane_events[5*i+4]};
      end
    end
    for (i = 0; i < 16; i = i + 1)
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

  function automatic [32*E-1:0] flushed(input [32*E-1:0] data);
    integer e;
    for (e = 0; e < E; e = e + 1)
      flushed[32*e+:32] = (is_float && nan_to_zero && fp_is_nan(data[32*e+:32])) ? 32'd0 : data[32*e+:32];
  endfunction

  function automatic [32*E-1:0] elements(input [511:0] data);
    integer e;
    for (e = 0; e < E; e = e + 1)
      if (in_bytes) elements[32*e+:32] = {{24{data[8*e+7]}}, data[8*e+:8]};
      else if (in_precision == FP16) elements[32*e+:32] = fp_widened(data[16*e+:16], nan_to_zero);
      else elements[32*e+:32] = {{16{data[16*e+15]}}, data[16*e+:16]};
  endfunction
endmodule
