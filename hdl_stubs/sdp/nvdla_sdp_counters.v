// Counters of SDP and SDP_RDMA, as CSB reads them. Each register group keeps those of the
// last layer that it ran, as far as that layer enabled them; the counts of NaN and the
// verdict of a comparison need no enabling, and stalls of writes stay as they were when a layer
// does not count them. The stall counters of SDP_RDMA read 0.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_sdp_counters #(
    parameter COUNTERS = 9
) (
    input  wire                   clk,
    input  wire                   rst_n,
    input  wire                   start,
    input  wire                   done,
    input  wire                   group,          // of the layer that is done
    input  wire [            3:0] perf,           // D_PERF_ENABLE of the layer that runs
    // Of the layer that runs; from bit 0 up: saturation, LUT underflow, overflow, hybrid, LE hit,
    // LO hit, NaN out, infinity in, NaN in
    input  wire [32*COUNTERS-1:0] counters,
    input  wire                   unequal,
    input  wire                   write_stalled,  // the memory interface does not take a write
    input  wire [            9:0] read_word,
    input  wire                   producer,
    input  wire                   rdma_producer,
    output reg  [           31:0] core_ro,
    output reg  [           31:0] rdma_ro
);
  `NVDLA_BUG(sdp_write_stall_runs_on)
  `NVDLA_BUG(sdp_write_stall_turn)

  reg [31:0] stalls;
  reg turn;  // the group of the next layer, had all so far counted cycles
  reg [31:0] kept_stalls[0:1];
  reg [32*COUNTERS-1:0] kept[0:1];
  reg [1:0] kept_unequal;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*COUNTERS-1:0] shown = kept[producer];  // all but the last two counts
  wire [32*COUNTERS-1:0] rdma_shown = kept[rdma_producer];  // its last two counts
  /* verilator lint_on UNUSEDSIGNAL */

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      kept[0]        <= 0;
      kept[1]        <= 0;
      kept_stalls[0] <= 32'd0;
      kept_stalls[1] <= 32'd0;
      kept_unequal   <= 2'b00;
      turn           <= 1'b0;
    end else if (done) begin
      turn                <= turn ^ perf[0];
      kept[group]         <= counters & {{96{perf[3]}}, {160{perf[1]}}, {32{perf[2]}}};
      kept_stalls[bug_sdp_write_stall_turn ? turn : group] <= stalls;
      kept_unequal[group] <= unequal;
    end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) stalls <= 32'd0;
    else if (start && perf[0] && !bug_sdp_write_stall_runs_on) stalls <= 32'd0;
    else if (perf[0] && (write_stalled || bug_sdp_write_stall_runs_on)) stalls <= stalls + 32'd1;

  always @* begin
    case (read_word)
      10'd`SDP_D_STATUS:                core_ro = {31'd0, kept_unequal[producer]};
      10'd`SDP_D_STATUS_NAN_OUTPUT_NUM: core_ro = shown[223:192];
      10'd`SDP_D_PERF_WDMA_WRITE_STALL: core_ro = kept_stalls[producer];
      10'd`SDP_D_PERF_LUT_UFLOW:        core_ro = shown[63:32];
      10'd`SDP_D_PERF_LUT_OFLOW:        core_ro = shown[95:64];
      10'd`SDP_D_PERF_OUT_SATURATION:   core_ro = shown[31:0];
      10'd`SDP_D_PERF_LUT_HYBRID:       core_ro = shown[127:96];
      10'd`SDP_D_PERF_LUT_LE_HIT:       core_ro = shown[159:128];
      10'd`SDP_D_PERF_LUT_LO_HIT:       core_ro = shown[191:160];
      default:                          core_ro = 32'd0;
    endcase
    case (read_word)
      10'd`SDP_RDMA_D_STATUS_NAN_INPUT_NUM:         rdma_ro = rdma_shown[287:256];
      10'd`SDP_RDMA_D_STATUS_NAN_INPUT_NUM + 10'd1: rdma_ro = rdma_shown[255:224];
      default:                                      rdma_ro = 32'd0;
    endcase
  end
endmodule
