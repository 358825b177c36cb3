// CMAC_A or CMAC_B: registers and MAC cells of one half of a kernel group. A cell
// keeps the weights of one kernel and adds ATOMIC_C products per clock.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_cmac #(
    parameter [5:0] SLOT = 6'd5,
    parameter UNIT = `UNIT_CMAC_A,
    parameter ATOMIC_C = 8,
    parameter CELLS = 4,
    parameter SUM_BITS = 20
) (
    input  wire                        clk,
    input  wire                        rst_n,
    input  wire                        req_valid,
    input  wire                        req_write,
    input  wire [                15:0] req_addr,
    input  wire [                31:0] req_wdata,
    output wire [                31:0] rdata,
    output wire                        enabled,
    input  wire                        load,
    input  wire                        done,
    input  wire                        advance,
    input  wire                        weights_load,
    input  wire [8*ATOMIC_C*CELLS-1:0] weights,
    input  wire                        op_valid,
    input  wire [      8*ATOMIC_C-1:0] op_elements,
    output reg  [  SUM_BITS*CELLS-1:0] sums         // one clock later
);
  localparam C = 8 * ATOMIC_C;

  wire unused_producer, unused_consumer;
  wire [32*(`CMAC_A_WORDS-`CMAC_A_OP_ENABLE)-1:0] unused_cfg;

  nvdla_regfile #(
      .SLOT     (SLOT),
      .UNIT     (UNIT),
      .WORDS    (`CMAC_A_WORDS),
      .OP_ENABLE(`CMAC_A_OP_ENABLE)
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
      .cfg      (unused_cfg),
      .done     (done)
  );

  `NVDLA_BUG(conv_data_unsigned)
  reg [C*CELLS-1:0] active;

  always @(posedge clk) if (weights_load) active <= weights;

  genvar g;
  generate
    for (g = 0; g < CELLS; g = g + 1) begin : mac_cell
      always @(posedge clk)
        if (advance && op_valid)
          sums[SUM_BITS*g+:SUM_BITS] <= dot(op_elements, active[C*g+:C]);
    end
  endgenerate

  function automatic [SUM_BITS-1:0] dot(input [C-1:0] elements, input [C-1:0] factors);
    integer i;
    reg signed [15:0] element, factor, product;
    begin
      dot = 0;
      for (i = 0; i < ATOMIC_C; i = i + 1) begin
        element = {{8{elements[8*i+7] && !bug_conv_data_unsigned}}, elements[8*i+:8]};
        factor  = {{8{factors[8*i+7]}}, factors[8*i+:8]};
        product = element * factor;
        dot     = dot + {{(SUM_BITS - 16) {product[15]}}, product};
      end
    end
  endfunction
endmodule
