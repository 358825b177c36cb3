// What a shim finds broken on one side, the findings of its port on the other.
module nvdla_harness_rules #(
  parameter int PORT = 0,
  parameter int FIRST = 0,
  parameter int RULES = 1
) (
  input wire clk,
  input wire [RULES-1:0] broken
);
  import "DPI-C" function void harness_broken(input int port, input int rule);

  always @(posedge clk)
    if (broken != 0)
      for (int n = 0; n < RULES; n++) if (broken[n]) harness_broken(PORT, FIRST + n);
endmodule
