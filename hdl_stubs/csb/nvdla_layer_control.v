// Life of a layer that a pair of units runs, X_RDMA and X: it starts when both
// have an enabled group in turn and both engines are free, and each unit is done
// by itself, the reading one usually first.
//
// `load` has both register files present the layer's registers; one clock later
// `start` starts both engines, unless the layer is of a kind that this design
// cannot run (`runnable` low): then it stays RUNNING for ever, as a layer does on
// hardware whose other half never delivers.
module nvdla_layer_control (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       rdma_enabled,
    input  wire       core_enabled,
    input  wire       runnable,
    output wire       load,
    output wire       start,
    input  wire       rdma_idle,
    input  wire       core_idle,
    output wire       rdma_done,
    output wire       core_done
);
  // FREE -> LOADED -> STARTED -> BUSY -> FREE; both advance together up to BUSY.
  localparam [1:0] FREE = 2'd0, LOADED = 2'd1, STARTED = 2'd2, BUSY = 2'd3;

  reg [1:0] rdma_state, core_state;

  assign load      = rdma_enabled && core_enabled && (rdma_state == FREE) && (core_state == FREE);
  assign start     = (core_state == LOADED) && runnable;
  assign rdma_done = (rdma_state == BUSY) && rdma_idle;
  assign core_done = (core_state == BUSY) && core_idle;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      rdma_state <= FREE;
      core_state <= FREE;
    end else begin
      if (load) {rdma_state, core_state} <= {LOADED, LOADED};
      if (start) {rdma_state, core_state} <= {STARTED, STARTED};
      // One clock for the engines to leave idle.
      if (core_state == STARTED) {rdma_state, core_state} <= {BUSY, BUSY};
      if (rdma_done) rdma_state <= FREE;
      if (core_done) core_state <= FREE;
    end
endmodule
