// Life of SDP layers. The core starts a layer that it takes from memory, or whose
// operands it takes from memory, together with SDP_RDMA; a layer on the fly with
// operands in registers needs no SDP_RDMA at all, and SDP_RDMA is done at once with a
// layer on the fly that it reads nothing for.
//
// A unit presents the registers of its layer from `*_load` on. Halves that do not fit
// each other (one reads the cube from memory, the other one does not, or they disagree
// about the number of cubes) and layers that the core cannot run stay RUNNING for ever,
// as a layer does on hardware whose other half never delivers.
module nvdla_sdp_control (
    input  wire clk,
    input  wire rst_n,
    input  wire rdma_enabled,
    input  wire core_enabled,
    output wire rdma_load,
    output wire core_load,
    // Of the loaded layers
    input  wire rdma_flying,
    input  wire rdma_reads,
    input  wire core_flying,
    input  wire core_needs_operands,
    input  wire core_runnable,
    input  wire same_cubes,
    output wire rdma_start,
    output wire core_start,
    output reg  paired,               // the core's layer uses SDP_RDMA
    input  wire rdma_idle,
    input  wire core_idle,
    output wire rdma_done,
    output wire core_done
);
  // FREE -> LOADED -> STARTED -> BUSY -> FREE; in STARTED the engine leaves idle.
  localparam [1:0] FREE = 2'd0, LOADED = 2'd1, STARTED = 2'd2, BUSY = 2'd3;

  reg [1:0] rdma_state, core_state;

  wire core_ready = (core_state == LOADED) && core_runnable;
  wire pair = core_ready && (rdma_state == LOADED) && (core_flying == rdma_flying) && same_cubes &&
              (!core_flying || core_needs_operands);
  wire core_alone = core_ready && core_flying && !core_needs_operands;
  wire rdma_alone = (rdma_state == LOADED) && rdma_flying && !rdma_reads;

  // The core uses what SDP_RDMA presents until the end of its layer.
  assign rdma_load  = rdma_enabled && (rdma_state == FREE) && (core_state == FREE || core_state == LOADED);
  assign core_load  = core_enabled && (core_state == FREE) && (rdma_state == FREE || rdma_state == LOADED);
  assign rdma_start = pair || rdma_alone;
  assign core_start = pair || core_alone;
  assign rdma_done  = (rdma_state == BUSY) && rdma_idle;
  assign core_done  = (core_state == BUSY) && core_idle;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      rdma_state <= FREE;
      core_state <= FREE;
      paired     <= 1'b0;
    end else begin
      case (rdma_state)
        FREE:    if (rdma_load) rdma_state <= LOADED;
        LOADED:  if (rdma_start) rdma_state <= STARTED;
        STARTED: rdma_state <= BUSY;
        default: if (rdma_done) rdma_state <= FREE;
      endcase
      case (core_state)
        FREE:    if (core_load) core_state <= LOADED;
        LOADED:  if (core_start) core_state <= STARTED;
        STARTED: core_state <= BUSY;
        default: if (core_done) core_state <= FREE;
      endcase
      if (core_start) paired <= pair;
    end
endmodule
