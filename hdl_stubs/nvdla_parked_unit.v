// Register file of a unit whose engine is not part of this design: the registers
// behave as on the hardware, an enabled group reads RUNNING and never finishes.
module nvdla_parked_unit #(
    parameter [5:0] SLOT = 6'd0,
    parameter UNIT = 0,
    parameter WORDS = 8,
    parameter OP_ENABLE = 2
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        req_valid,
    input  wire        req_write,
    input  wire [15:0] req_addr,
    input  wire [31:0] req_wdata,
    input  wire [31:0] ro_data,
    output wire [31:0] rdata
);
  wire unused_producer, unused_consumer, unused_enabled;
  wire [32*(WORDS-OP_ENABLE)-1:0] unused_cfg;

  nvdla_regfile #(
      .SLOT     (SLOT),
      .UNIT     (UNIT),
      .WORDS    (WORDS),
      .OP_ENABLE(OP_ENABLE)
  ) regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdata),
      .ro_data  (ro_data),
      .producer (unused_producer),
      .consumer (unused_consumer),
      .enabled  (unused_enabled),
      .load     (1'b0),
      .cfg      (unused_cfg),
      .done     (1'b0)
  );
endmodule
