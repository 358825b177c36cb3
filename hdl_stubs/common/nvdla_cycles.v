// A counter of cycles, as CSB reads it: each register group keeps what stood there when its
// last layer was done. What clears the count, and whether it does so at all, is the unit's affair.
module nvdla_cycles (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        clear,
    input  wire        count,
    input  wire        done,
    input  wire        group,     // of the layer that is done
    input  wire        producer,
    output wire [31:0] value
);
  reg [31:0] counted;
  reg [31:0] kept[0:1];

  assign value = kept[producer];

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      counted <= 32'd0;
      kept[0] <= 32'd0;
      kept[1] <= 32'd0;
    end else begin
      if (clear) counted <= 32'd0;
      else if (count) counted <= counted + 32'd1;
      if (done) kept[group] <= counted;
    end
endmodule
