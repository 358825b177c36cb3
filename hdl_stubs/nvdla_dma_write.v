// Write client: counts the writes that have no response yet. A layer is done only
// when the memory has answered all of them.
module nvdla_dma_write (
    input  wire clk,
    input  wire rst_n,
    input  wire accepted,
    input  wire rsp_valid,
    output wire idle
);
  reg [8:0] outstanding;

  assign idle = (outstanding == 0);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) outstanding <= 9'd0;
    else outstanding <= outstanding + {8'd0, accepted} - {8'd0, rsp_valid && !idle};
endmodule
