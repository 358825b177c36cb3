// GLB: hardware version and the interrupt registers.
//
// An event sets its status bit whether it is masked or not; unmasking raises the
// interrupt later. A status bit is cleared by writing 1, but an event of the same
// clock wins over the clearing write. The line belongs to CSB's clock.
`include "nvdla_bugs.vh"

module nvdla_glb #(
    parameter [5:0] SLOT = 6'd1,
    parameter [21:0] STATUS_BITS = 22'h3f_003f  // events that the configuration has
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        req_valid,
    input  wire        req_write,
    input  wire [15:0] req_addr,
    input  wire [31:0] req_wdata,
    output reg  [31:0] rdata,
    // One bit per group each, group 0 in bit 0.
    input  wire [ 1:0] sdp_done,
    input  wire [ 1:0] cdp_done,
    input  wire [ 1:0] pdp_done,
    input  wire [ 1:0] bdma_done,
    input  wire [ 1:0] rubik_done,
    input  wire [ 1:0] cdma_dat_done,
    input  wire [ 1:0] cdma_wt_done,
    input  wire [ 1:0] cacc_done,
    input  wire        csb_clk,
    input  wire        csb_rst_n,
    output wire        dla_intr
);
  localparam [9:0] S_NVDLA_HW_VERSION = 10'd0;
  localparam [9:0] S_INTR_MASK = 10'd1;
  localparam [9:0] S_INTR_SET = 10'd2;
  localparam [9:0] S_INTR_STATUS = 10'd3;

  localparam [31:0] HW_VERSION = 32'h0030_3031;
  // The mask keeps the bits of BDMA and RUBIK although nv_small has neither.
  localparam [21:0] MASK_BITS = 22'h3f_03ff;

  `NVDLA_BUG(interrupt_missing)
  `NVDLA_BUG(interrupt_wrong_group)
  `NVDLA_BUG(interrupt_wrong_unit)
  `NVDLA_BUG(interrupt_stuck)
  `NVDLA_BUG(interrupt_mask_ignored)
  `NVDLA_BUG(interrupt_line_late)
  `NVDLA_BUG(interrupt_clears_neighbour)
  `NVDLA_BUG(interrupt_set_lost)
  `NVDLA_BUG(interrupt_line_ignores_last)
  `NVDLA_BUG(interrupt_line_of_the_core)
  `NVDLA_BUG(interrupt_clear_wins)
  reg [6:0] late;  // cycles for which the line lags, for a seeded bug
  reg  [21:0] mask;
  reg  [21:0] status;
  reg         line;
  reg  [ 2:0] intr;

  wire        hit = req_valid && (req_addr[15:10] == SLOT);
  wire [21:0] written = req_wdata[21:0];
  wire        set = hit && req_write && (req_addr[9:0] == S_INTR_SET);
  wire        clear = hit && req_write && (req_addr[9:0] == S_INTR_STATUS);
  wire [21:0] events = {
    cacc_done, cdma_wt_done, cdma_dat_done, 6'd0, rubik_done, bdma_done, pdp_event, cdp_done, sdp_event
  };
  wire        unused_bits = &{1'b0, req_wdata[31:22]};

  wire [1:0] sdp_event = (bug_interrupt_missing || bug_interrupt_wrong_unit) ? 2'd0 :
                         bug_interrupt_wrong_group ? {sdp_done[0], sdp_done[1]} : sdp_done;

  wire [1:0] pdp_event = pdp_done | (bug_interrupt_wrong_unit ? sdp_done : 2'd0);
  wire [21:0] neighbours = bug_interrupt_clears_neighbour ? {written[20:0], 1'b0} & 22'h2a_aaaa : 22'd0;
  wire [21:0] cleared = (written | neighbours) & ~{21'd0, bug_interrupt_stuck};
  wire [21:0] settable = STATUS_BITS & ~{bug_interrupt_set_lost, 21'd0};
  wire        raised = |(status & ~(bug_interrupt_mask_ignored ? 22'd0 : mask) & ~{bug_interrupt_line_ignores_last, 21'd0});

  assign dla_intr = bug_interrupt_line_of_the_core ? line : intr[2];

  wire [21:0] taken = clear ? cleared : 22'd0;
  wire [21:0] given = events | (set ? written & settable : 22'd0);

  always @(posedge csb_clk or negedge csb_rst_n)
    if (!csb_rst_n) intr <= 3'd0;
    else intr <= {intr[1:0], line};

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      mask   <= 22'd0;
      status <= 22'd0;
      line   <= 1'b0;
      late   <= 7'd0;
      rdata  <= 32'd0;
    end else begin
      if (hit && req_write && (req_addr[9:0] == S_INTR_MASK)) mask <= written & MASK_BITS;
      status <= bug_interrupt_clear_wins ? (status | given) & ~taken : (status & ~taken) | given;
      late   <= !raised ? 7'd0 : late + {6'd0, late != 7'd127};
      line   <= bug_interrupt_line_late ? late > 7'd60 : raised;
      rdata  <= 32'd0;
      if (hit && !req_write)
        case (req_addr[9:0])
          S_NVDLA_HW_VERSION: rdata <= HW_VERSION;
          S_INTR_MASK:        rdata <= {10'd0, mask};
          S_INTR_STATUS:      rdata <= {10'd0, status};
          default:            rdata <= 32'd0;
        endcase
    end
endmodule
