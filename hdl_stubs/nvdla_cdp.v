// CDP: registers of CDP_RDMA and CDP. The compute engine is not in this design.
`include "nvdla_register_offsets.vh"

module nvdla_cdp #(
    parameter [5:0] SLOT_RDMA = 6'd12
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        req_valid,
    input  wire        req_write,
    input  wire [15:0] req_addr,
    input  wire [31:0] req_wdata,
    output wire [31:0] rdata,
    output wire [ 1:0] layer_done
);
  wire [31:0] rdma_rdata, core_rdata;

  assign rdata      = rdma_rdata | core_rdata;
  assign layer_done = 2'b00;

  nvdla_parked_unit #(
      .SLOT     (SLOT_RDMA),
      .UNIT     (`UNIT_CDP_RDMA),
      .WORDS    (`CDP_RDMA_WORDS),
      .OP_ENABLE(`CDP_RDMA_OP_ENABLE)
  ) rdma (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .ro_data  (32'd0),
      .rdata    (rdma_rdata)
  );

  nvdla_parked_unit #(
      .SLOT     (SLOT_RDMA + 6'd1),
      .UNIT     (`UNIT_CDP),
      .WORDS    (`CDP_WORDS),
      .OP_ENABLE(`CDP_OP_ENABLE)
  ) core (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .ro_data  (32'd0),
      .rdata    (core_rdata)
  );
endmodule
