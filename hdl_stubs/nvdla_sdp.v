// SDP_RDMA and SDP: registers only.
`include "nvdla_register_offsets.vh"

module nvdla_sdp #(
    parameter [5:0] SLOT_RDMA = 6'd8,
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        req_valid,
    input  wire        req_write,
    input  wire [15:0] req_addr,
    input  wire [31:0] req_wdata,
    output wire [31:0] rdata,
    output wire [ 1:0] layer_done,
    output wire [2:0] rd_req_valid,
    input  wire [2:0] rd_req_ready,
    output wire [3*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [2:0] rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire wr_req_valid,
    input  wire wr_req_ready,
    output wire [ADDR_WIDTH-1:0] wr_req_addr,
    output wire [8*ATOM_BYTES-1:0] wr_req_data,
    input  wire wr_rsp_valid
);
  wire [31:0] rdma_rdata, core_rdata;

  assign rdata        = rdma_rdata | core_rdata;
  assign layer_done   = 2'b00;
  assign rd_req_valid = 0;
  assign rd_req_addr  = 0;
  assign wr_req_valid = 1'b0;
  assign wr_req_addr  = 0;
  assign wr_req_data  = 0;
  wire unused_memory = &{1'b0, rd_req_ready, rd_rsp_valid, rd_rsp_data, wr_req_ready, wr_rsp_valid};

  nvdla_parked_unit #(
      .SLOT     (SLOT_RDMA),
      .UNIT     (`UNIT_SDP_RDMA),
      .WORDS    (`SDP_RDMA_WORDS),
      .OP_ENABLE(`SDP_RDMA_OP_ENABLE)
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
      .UNIT     (`UNIT_SDP),
      .WORDS    (`SDP_WORDS),
      .OP_ENABLE(`SDP_OP_ENABLE)
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
