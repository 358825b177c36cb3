// Counters of SDP and SDP_RDMA, as CSB reads them. Each register group keeps those of the
// last layer that it ran, as far as that layer enabled them; the counts of NaN and the
// verdict of a comparison need no enabling. Stalls stay as they were when a layer does not count
// them, but those of reads of a cube are then 0.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_sdp_counters #(
    parameter COUNTERS = 9,
    parameter CLIENTS = 3    // of SDP_RDMA
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
    input  wire                   rdma_start,
    input  wire                   rdma_done,
    input  wire                   rdma_group,     // of the layer whose reads are done
    input  wire                   rdma_perf,      // bit 0 of its D_PERF_ENABLE
    input  wire                   rdma_flying,    // its cube is not read
    input  wire [    CLIENTS-1:0] read_stalled,   // the memory interface does not take a read: M, B, N, E
    input  wire [            9:0] read_word,
    input  wire                   producer,
    input  wire                   rdma_producer,
    output reg  [           31:0] core_ro,
    output reg  [           31:0] rdma_ro
);
  `NVDLA_BUG(sdp_write_stall_runs_on)
  `NVDLA_BUG(sdp_write_stall_turn)
  `NVDLA_BUG(sdp_operand_stalls_uncounted)

  localparam [9:0] W_READ_STALL = `SDP_RDMA_D_PERF_MRDMA_READ_STALL;

  wire [31:0] write_stalls;
  wire [31:0] read_stalls[0:3];
  reg turn;  // the group of the next layer, had all so far counted cycles
  reg [32*COUNTERS-1:0] kept[0:1];
  reg [1:0] kept_unequal;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*COUNTERS-1:0] shown = kept[producer];  // all but the last two counts
  wire [32*COUNTERS-1:0] rdma_shown = kept[rdma_producer];  // its last two counts
  /* verilator lint_on UNUSEDSIGNAL */

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      kept[0]      <= 0;
      kept[1]      <= 0;
      kept_unequal <= 2'b00;
      turn         <= 1'b0;
    end else if (done) begin
      turn                <= turn ^ perf[0];
      kept[group]         <= counters & {{96{perf[3]}}, {160{perf[1]}}, {32{perf[2]}}};
      kept_unequal[group] <= unequal;
    end

  nvdla_cycles write_cycles (
      .clk     (clk),
      .rst_n   (rst_n),
      .clear   (start && perf[0] && !bug_sdp_write_stall_runs_on),
      .count   (perf[0] && (write_stalled || bug_sdp_write_stall_runs_on)),
      .done    (done),
      .group   (bug_sdp_write_stall_turn ? turn : group),
      .producer(producer),
      .value   (write_stalls)
  );

  genvar g;
  generate
    for (g = 0; g < 4; g = g + 1) begin : client
      if (g < CLIENTS) begin : reads
        nvdla_cycles read_cycles (
            .clk     (clk),
            .rst_n   (rst_n),
            .clear   (rdma_start && (rdma_perf || (g == 0 && !rdma_flying))),
            .count   (rdma_perf && read_stalled[g] && !(bug_sdp_operand_stalls_uncounted && g == 1)),
            .done    (rdma_done),
            .group   (rdma_group),
            .producer(rdma_producer),
            .value   (read_stalls[g])
        );
      end else begin : none
        assign read_stalls[g] = 32'd0;
      end
    end
  endgenerate

  wire [9:0] client_read = read_word - W_READ_STALL;

  always @* begin
    case (read_word)
      10'd`SDP_D_STATUS:                core_ro = {31'd0, kept_unequal[producer]};
      10'd`SDP_D_STATUS_NAN_OUTPUT_NUM: core_ro = shown[223:192];
      10'd`SDP_D_PERF_WDMA_WRITE_STALL: core_ro = write_stalls;
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
      default: rdma_ro = (client_read < 10'd4) ? read_stalls[client_read[1:0]] : 32'd0;
    endcase
  end
endmodule
