// Operands of one X stage from memory: collects the one, two or four words of an
// operand atom and spreads them into a 16-bit ALU and a 16-bit MUL operand per
// element.
//
// An element has one component (for ALU or MUL) or two, in memory ALU first; a
// component is one or two bytes, sign-extended. A component that is not in memory
// is 0.
// Source: bias, PReLU, batch normalisation and element-wise data formats.
`include "nvdla_bugs.vh"

module nvdla_sdp_operand #(
    parameter ATOM_BYTES = 8
) (
    input  wire                     clk,
    input  wire                     rst_n,
    input  wire [              1:0] data_use,
    input  wire                     two_byte,
    input  wire                     half_atom,  // ATOM_BYTES / 2 elements of two bytes
    output wire [              1:0] beats,     // words per atom minus one
    input  wire                     in_valid,
    output wire                     in_ready,
    input  wire [ 8*ATOM_BYTES-1:0] in_data,
    output reg                      valid,
    input  wire                     next,      // the atom was used for the last time
    output reg  [16*ATOM_BYTES-1:0] alu,
    output reg  [16*ATOM_BYTES-1:0] mul
);
  localparam [1:0] USE_MUL = 2'd0, USE_ALU = 2'd1;
  localparam W = 8 * ATOM_BYTES;

  `NVDLA_BUG(sdp_operand_pair_swapped)
  `NVDLA_BUG(sdp_operand_halves_swapped)
  `NVDLA_BUG(sdp_operand_unsigned)
  wire both = data_use[1];
  reg [4*W-1:0] raw;
  reg [1:0] beat;

  assign beats    = half_atom ? {1'b0, both} : {both && two_byte, both || two_byte};
  assign in_ready = !valid;

  always @(posedge clk) if (in_valid && in_ready) raw[W*beat+:W] <= in_data;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      beat  <= 2'd0;
      valid <= 1'b0;
    end else if (valid) valid <= !next;
    else if (in_valid) begin
      beat  <= (beat == beats) ? 2'd0 : beat + 2'd1;
      valid <= (beat == beats);
    end

  integer e, from;
  reg [15:0] first, second;

  always @* begin
    for (e = 0; e < ATOM_BYTES; e = e + 1) begin
      from = bug_sdp_operand_halves_swapped ? (e + ATOM_BYTES / 2) % ATOM_BYTES : e;
      case ({both, two_byte})
        2'b00:   {second, first} = {16'd0, {8{raw[8*from+7] && !bug_sdp_operand_unsigned}}, raw[8*from+:8]};
        2'b01:   {second, first} = {16'd0, raw[16*from+:16]};
        2'b10:   {second, first} = {{8{raw[16*from+15]}}, raw[16*from+8+:8], {8{raw[16*from+7]}}, raw[16*from+:8]};
        default: {second, first} = raw[32*from+:32];
      endcase
      if (bug_sdp_operand_pair_swapped && both) {second, first} = {first, second};
      alu[16*e+:16] = (data_use == USE_MUL) ? 16'd0 : first;
      mul[16*e+:16] = (data_use == USE_MUL) ? first : (data_use == USE_ALU) ? 16'd0 : second;
    end
  end
endmodule
