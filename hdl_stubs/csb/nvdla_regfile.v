// Registers of one unit with two register groups (ping-pong).
//
// S_ registers exist once. D_ registers, from D_OP_ENABLE on, exist twice: CSB
// sees the group that the producer pointer selects, the engine runs the one that
// the consumer pointer selects. Setting D_OP_ENABLE hands a group to the engine;
// until the engine is done with it, writes to that group are ignored, and
// D_OP_ENABLE cannot be cleared. When a layer is done its D_OP_ENABLE clears
// itself and the consumer pointer flips; hence a group that is enabled out of
// turn stays PENDING until the other one has run.
//
// `load` copies the consumer's D_ registers to `cfg`, where they stay for the
// whole layer. `ro_data` is what a read-only register of the unit adds to the
// value that is read; the unit derives it from req_addr and `producer`.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_regfile #(
    parameter [5:0] SLOT = 6'd0,
    parameter UNIT = 0,
    parameter WORDS = 8,
    parameter OP_ENABLE = 2,
    parameter FULL = 0        // with the registers of nv_full
) (
    input  wire                             clk,
    input  wire                             rst_n,
    input  wire                             req_valid,
    input  wire                             req_write,
    input  wire [                     15:0] req_addr,
    input  wire [                     31:0] req_wdata,
    output reg  [                     31:0] rdata,
    input  wire [                     31:0] ro_data,
    output reg                              producer,
    output reg                              consumer,
    output wire                             enabled,    // the consumer's group is to run
    input  wire                             load,
    output reg  [32*(WORDS-OP_ENABLE)-1:0] cfg,
    input  wire                             done
);
  localparam GROUP_WORDS = WORDS - OP_ENABLE;
  localparam SW = $clog2(OP_ENABLE);
  localparam DW = $clog2(2 * GROUP_WORDS);

  localparam [9:0] W_STATUS = 10'd0;
  localparam [9:0] W_POINTER = 10'd1;
  localparam [9:0] W_OP_ENABLE = OP_ENABLE[9:0];
  localparam [9:0] W_END = WORDS[9:0];
  localparam [DW-1:0] GROUP_1 = GROUP_WORDS[DW-1:0];

  localparam [1:0] IDLE = 2'd0, RUNNING = 2'd1, PENDING = 2'd2;

  `include "nvdla_register_table.vh"

  `NVDLA_BUG(regs_stale_group)
  `NVDLA_BUG(regs_stale_line_stride)
  `NVDLA_BUG(regs_consumer_stuck)
  `NVDLA_BUG(regs_op_enable_stays)
  `NVDLA_BUG(regs_read_other_group)
  `NVDLA_BUG(regs_status_idle)
  `NVDLA_BUG(regs_reset_value)
  `NVDLA_BUG(regs_write_while_enabled)
  `NVDLA_BUG(regs_bits_joined)
  `NVDLA_BUG(regs_alias)
  `NVDLA_BUG(regs_read_only_kept)
  `NVDLA_BUG(regs_enable_clears)
  reg  [  31:0] single[0:OP_ENABLE-1];
  reg  [  31:0] groups[0:2*GROUP_WORDS-1];
  reg  [   1:0] op_en;

  wire [   9:0] word = req_addr[9:0];
  wire          hit = req_valid && (req_addr[15:10] == SLOT) && (word < W_END);
  wire          is_single = (word < W_OP_ENABLE);
  wire [SW-1:0] single_index = word[SW-1:0];
  /* verilator lint_off UNUSEDSIGNAL */
  wire [   9:0] group_word = word - W_OP_ENABLE;  // its upper bits are 0 for every hit
  /* verilator lint_on UNUSEDSIGNAL */
  wire          seen_group = producer != (bug_regs_read_other_group && !req_write);
  wire [DW-1:0] group_index = group_word[DW-1:0] + (seen_group ? GROUP_1 : {DW{1'b0}});
  wire          writes_pass = !op_en[producer] || (bug_regs_write_while_enabled && word != W_OP_ENABLE);
  wire [  31:0] writable = writable_bits({22'd0, word}) |
                           {31'd0, bug_regs_read_only_kept && word == W_END - 10'd1};
  wire [  31:0] kept = (req_wdata & writable) | (bug_regs_bits_joined ? (req_wdata >> 1) & writable & 32'd4 : 32'd0);

  wire [   1:0] status_0 = !op_en[0] ? IDLE : consumer ? PENDING : RUNNING;
  wire [   1:0] status_1 = !op_en[1] ? IDLE : consumer ? RUNNING : PENDING;

  assign enabled = op_en[consumer];

  integer i;

  // S_ registers, pointers
  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      producer <= 1'b0;
      consumer <= 1'b0;
      for (i = 0; i < OP_ENABLE; i = i + 1) single[i] <= reset_word(i);
    end else begin
      if (done && !bug_regs_consumer_stuck) consumer <= !consumer;
      if (hit && req_write && is_single) begin
        if (word == W_POINTER) producer <= req_wdata[0];
        single[single_index] <= (single[single_index] & ~writable) | (req_wdata & writable);
      end
    end

  // D_ registers
  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      op_en <= 2'b00;
      for (i = 0; i < GROUP_WORDS; i = i + 1) begin
        groups[i] <= reset_word(OP_ENABLE + i);
        groups[GROUP_WORDS+i] <= reset_word(OP_ENABLE + i) ^ {31'd0, bug_regs_reset_value && i == 1};
      end
    end else begin
      if (done && !bug_regs_op_enable_stays) op_en[consumer] <= 1'b0;
      if (bug_regs_enable_clears && hit && req_write && word == W_OP_ENABLE && !req_wdata[0]) op_en[producer] <= 1'b0;
      if (hit && req_write && !is_single && writes_pass) begin
        if (word == W_OP_ENABLE) op_en[producer] <= req_wdata[0];
        groups[group_index] <= (groups[group_index] & ~writable) | kept;
        if (bug_regs_alias && word == W_END - 10'd3) groups[(producer ? {DW{1'b0}} : GROUP_1) + group_word[DW-1:0]] <= kept;
      end
    end

  function automatic [31:0] writable_bits(input integer index);
    writable_bits = register_table(UNIT, index, 1'b0) & (FULL != 0 ? full_register_bits(UNIT, index) : 32'hffff_ffff);
  endfunction

  function automatic [31:0] reset_word(input integer index);
    reset_word = (FULL != 0 && full_register_clears(UNIT, index)) ? 32'd0 : register_table(UNIT, index, 1'b1);
  endfunction

  // The seeded bug regs_stale_line_stride takes D_DST_LINE_STRIDE of SDP from group 0, always.
  function automatic stale(input integer index);
    stale = bug_regs_stale_line_stride && UNIT == `UNIT_SDP && consumer && index == `SDP_D_DST_LINE_STRIDE - OP_ENABLE;
  endfunction

  // Snapshot for the engine
  always @(posedge clk or negedge rst_n)
    if (!rst_n) cfg <= {32 * GROUP_WORDS{1'b0}};
    else if (load)
      for (i = 0; i < GROUP_WORDS; i = i + 1)
        cfg[32*i+:32] <= groups[(consumer != (bug_regs_stale_group || stale(i))) ? GROUP_WORDS+i : i];

  // Reads
  always @(posedge clk or negedge rst_n)
    if (!rst_n) rdata <= 32'd0;
    else if (!hit || req_write) rdata <= 32'd0;
    else if (word == W_STATUS) rdata <= bug_regs_status_idle ? 32'd0 : {14'd0, status_1, 14'd0, status_0};
    else if (word == W_POINTER) rdata <= {15'd0, consumer, 15'd0, producer};
    else if (word == W_OP_ENABLE) rdata <= {31'd0, op_en[producer]};
    else rdata <= (is_single ? single[single_index] : groups[group_index]) | ro_data;
endmodule
