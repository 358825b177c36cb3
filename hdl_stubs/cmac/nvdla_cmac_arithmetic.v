// The MAC cells of a CMAC in INT8: a cell keeps the weights of one kernel and adds
// ATOMIC_C products per clock.
`include "nvdla_bugs.vh"

module nvdla_cmac_arithmetic #(
    parameter ATOMIC_C = 8,
    parameter SLOTS = 4,
    parameter SUM_BITS = 20
) (
    input  wire                     clk,
    input  wire                     fresh,            // a new set of weights begins
    input  wire                     store,
    input  wire [$clog2(SLOTS)-1:0] store_slot,
    input  wire [   8*ATOMIC_C-1:0] kernel_elements,
    input  wire                     weights_load,
    input  wire                     take,
    input  wire [   8*ATOMIC_C-1:0] op_elements,
    output reg  [SUM_BITS*SLOTS-1:0] sums
);
  localparam C = 8 * ATOMIC_C;

  `NVDLA_BUG(conv_data_unsigned)
  `NVDLA_BUG(conv_lane_sign)
  // The set of weights that arrives, where absent ones are 0, and the one in use
  reg [C*SLOTS-1:0] arriving, active;

  always @(posedge clk) begin
    if (fresh) arriving <= 0;
    if (store) arriving[C*store_slot+:C] <= kernel_elements;
    if (weights_load) active <= arriving;
  end

  genvar g;
  generate
    for (g = 0; g < SLOTS; g = g + 1) begin : mac_cell
      always @(posedge clk)
        if (take) sums[SUM_BITS*g+:SUM_BITS] <= dot(op_elements, active[C*g+:C]);
    end
  endgenerate

  function automatic [SUM_BITS-1:0] dot(input [C-1:0] elements, input [C-1:0] weights);
    integer i;
    reg signed [15:0] element, weight, product;
    begin
      dot = 0;
      for (i = 0; i < ATOMIC_C; i = i + 1) begin
        element = {{8{elements[8*i+7] && !bug_conv_data_unsigned}}, elements[8*i+:8]};
        if (bug_conv_lane_sign && i == 2) element = {9'd0, elements[8*i+:7]};
        weight  = {{8{weights[8*i+7]}}, weights[8*i+:8]};
        product = element * weight;
        dot     = dot + {{(SUM_BITS - 16) {product[15]}}, product};
      end
    end
  endfunction
endmodule
