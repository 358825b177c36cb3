// CMAC_A or CMAC_B: registers and the MAC cells of one half of a kernel group. Each slot
// keeps the weights of a kernel, in two sets: one in use, one that arrives.
`include "nvdla_register_offsets.vh"

module nvdla_cmac #(
    parameter [5:0] SLOT = 6'd5,
    parameter UNIT = `UNIT_CMAC_A,
    parameter FULL = 0,
    parameter ATOMIC_C = 8,
    parameter ELEMENT_BITS = 8,
    parameter SLOT_BITS = 3,
    parameter FIRST = 0,  // of the slots
    parameter SLOTS = 4,
    parameter SUM_BITS = 20
) (
    input  wire                             clk,
    input  wire                             rst_n,
    input  wire                             req_valid,
    input  wire                             req_write,
    input  wire [                     15:0] req_addr,
    input  wire [                     31:0] req_wdata,
    output wire [                     31:0] rdata,
    output wire                             enabled,
    input  wire                             load,
    output wire [                      2:0] mode,             // {Winograd, precision}
    input  wire                             done,
    input  wire                             advance,
    input  wire                             kernel_valid,
    input  wire [            SLOT_BITS-1:0] kernel_slot,
    input  wire [ATOMIC_C*ELEMENT_BITS-1:0] kernel_elements,
    input  wire                             weights_load,
    input  wire                             op_valid,
    input  wire [ATOMIC_C*ELEMENT_BITS-1:0] op_elements,
    input  wire [                     16:0] op_nan,
    output wire [       SUM_BITS*SLOTS-1:0] sums              // one clock later
);
  localparam KW = $clog2(SLOTS);
  localparam [SLOT_BITS:0] LOWEST = FIRST[SLOT_BITS:0];
  localparam [SLOT_BITS:0] COUNT = SLOTS[SLOT_BITS:0];

  wire unused_producer, unused_consumer;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`CMAC_A_WORDS-`CMAC_A_OP_ENABLE)-1:0] cfg;
  wire [31:0] misc = cfg[32*(`CMAC_A_D_MISC_CFG-`CMAC_A_OP_ENABLE)+:32];
  /* verilator lint_on UNUSEDSIGNAL */

  nvdla_regfile #(
      .SLOT     (SLOT),
      .UNIT     (UNIT),
      .WORDS    (`CMAC_A_WORDS),
      .OP_ENABLE(`CMAC_A_OP_ENABLE),
      .FULL     (FULL)
  ) regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdata),
      .ro_data  (32'd0),
      .producer (unused_producer),
      .consumer (unused_consumer),
      .enabled  (enabled),
      .load     (load),
      .cfg      (cfg),
      .done     (done)
  );

  wire [SLOT_BITS:0] slot = {1'b0, kernel_slot} - LOWEST;
  wire mine = kernel_valid && (slot < COUNT);
  wire [KW-1:0] own_slot = slot[KW-1:0];
  wire fresh = kernel_valid && (kernel_slot == 0);  // the first kernel of a new set

  generate
    if (FULL != 0) begin : all_precisions
      assign mode = {misc[0], misc[13:12]};

      nvdla_cmac_arithmetic_full #(
          .SLOTS(SLOTS)
      ) arithmetic (
          .clk            (clk),
          .rst_n          (rst_n),
          .mode           (mode),
          .fresh          (fresh),
          .store          (mine),
          .store_slot     (own_slot),
          .kernel_elements(kernel_elements),
          .weights_load   (weights_load),
          .take           (advance && op_valid),
          .op_elements    (op_elements),
          .op_nan         (op_nan),
          .sums           (sums)
      );
    end else begin : int8
      wire unused_nan = &{1'b0, op_nan};

      assign mode = 3'd0;

      nvdla_cmac_arithmetic #(
          .ATOMIC_C(ATOMIC_C),
          .SLOTS   (SLOTS),
          .SUM_BITS(SUM_BITS)
      ) arithmetic (
          .clk            (clk),
          .fresh          (fresh),
          .store          (mine),
          .store_slot     (own_slot),
          .kernel_elements(kernel_elements),
          .weights_load   (weights_load),
          .take           (advance && op_valid),
          .op_elements    (op_elements),
          .sums           (sums)
      );
    end
  endgenerate
endmodule
