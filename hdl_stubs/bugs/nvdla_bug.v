// Whether the simulation was started with +bug= and this name.
module nvdla_bug #(
    parameter [8*48-1:0] NAME = 0
) (
    output reg on
);
  reg [8*48-1:0] chosen;

  initial begin
    on = 1'b0;
    if ($value$plusargs("bug=%s", chosen)) on = (chosen == NAME);
  end
endmodule
