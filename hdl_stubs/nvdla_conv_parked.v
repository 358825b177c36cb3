// Registers of the convolution pipeline, CDMA, CSC, CMAC_A, CMAC_B and CACC, in a
// configuration whose convolution this design does not compute, and the flush of the
// convolution buffer: after a reset one entry of all its banks is cleared in turn.
`include "nvdla_register_offsets.vh"

module nvdla_conv_parked #(
    parameter [5:0] SLOT_CDMA = 6'd3,
    parameter FLUSH_CYCLES = 8192
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        req_valid,
    input  wire        req_write,
    input  wire [15:0] req_addr,
    input  wire [31:0] req_wdata,
    output wire [31:0] rdata,
    output wire [ 1:0] cdma_dat_done,
    output wire [ 1:0] cdma_wt_done,
    output wire [ 1:0] cacc_done
);
  localparam [13:0] FLUSHED = FLUSH_CYCLES[13:0];
  localparam [9:0] W_FLUSH_STATUS = `CDMA_S_CBUF_FLUSH_STATUS;

  reg  [13:0] flush_count;
  wire        flushed = (flush_count == FLUSHED);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) flush_count <= 14'd0;
    else if (!flushed) flush_count <= flush_count + 14'd1;

  wire [31:0] cdma_rdata, csc_rdata, cmac_a_rdata, cmac_b_rdata, cacc_rdata;

  assign rdata         = cdma_rdata | csc_rdata | cmac_a_rdata | cmac_b_rdata | cacc_rdata;
  assign cdma_dat_done = 2'b00;
  assign cdma_wt_done  = 2'b00;
  assign cacc_done     = 2'b00;

  nvdla_parked_unit #(
      .SLOT     (SLOT_CDMA),
      .UNIT     (`UNIT_CDMA),
      .WORDS    (`CDMA_WORDS),
      .OP_ENABLE(`CDMA_OP_ENABLE)
  ) cdma (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .ro_data  ({31'd0, flushed && (req_addr[9:0] == W_FLUSH_STATUS)}),
      .rdata    (cdma_rdata)
  );

  nvdla_parked_unit #(
      .SLOT     (SLOT_CDMA + 6'd1),
      .UNIT     (`UNIT_CSC),
      .WORDS    (`CSC_WORDS),
      .OP_ENABLE(`CSC_OP_ENABLE)
  ) csc (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .ro_data  (32'd0),
      .rdata    (csc_rdata)
  );

  nvdla_parked_unit #(
      .SLOT     (SLOT_CDMA + 6'd2),
      .UNIT     (`UNIT_CMAC_A),
      .WORDS    (`CMAC_A_WORDS),
      .OP_ENABLE(`CMAC_A_OP_ENABLE)
  ) cmac_a (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .ro_data  (32'd0),
      .rdata    (cmac_a_rdata)
  );

  nvdla_parked_unit #(
      .SLOT     (SLOT_CDMA + 6'd3),
      .UNIT     (`UNIT_CMAC_B),
      .WORDS    (`CMAC_B_WORDS),
      .OP_ENABLE(`CMAC_B_OP_ENABLE)
  ) cmac_b (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .ro_data  (32'd0),
      .rdata    (cmac_b_rdata)
  );

  nvdla_parked_unit #(
      .SLOT     (SLOT_CDMA + 6'd4),
      .UNIT     (`UNIT_CACC),
      .WORDS    (`CACC_WORDS),
      .OP_ENABLE(`CACC_OP_ENABLE)
  ) cacc (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .ro_data  (32'd0),
      .rdata    (cacc_rdata)
  );
endmodule
