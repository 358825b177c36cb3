// Reset of one clock domain: asserts at once, releases two clocks after the
// request went away, so that no flip-flop sees the release near its clock edge.
// In test mode the synchroniser is bypassed by direct_reset_.
module nvdla_reset (
    input  wire clk,
    input  wire dla_reset_rstn,
    input  wire direct_reset_,
    input  wire test_mode,
    output wire rst_n
);
  reg [1:0] released;

  always @(posedge clk or negedge dla_reset_rstn)
    if (!dla_reset_rstn) released <= 2'b00;
    else released <= {released[0], 1'b1};

  assign rst_n = test_mode ? direct_reset_ : released[1];
endmodule
