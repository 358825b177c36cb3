// Synchronous FIFO with a registered memory and an unregistered head: what was
// pushed can be popped one clock later. DEPTH is a power of two.
module nvdla_fifo #(
    parameter WIDTH = 64,
    parameter LOG2_DEPTH = 2
) (
    input  wire             clk,
    input  wire             rst_n,
    input  wire             push_valid,
    output wire             push_ready,
    input  wire [WIDTH-1:0] push_data,
    output wire             pop_valid,
    input  wire             pop_ready,
    output wire [WIDTH-1:0] pop_data
);
  reg [WIDTH-1:0] mem[0:(1<<LOG2_DEPTH)-1];
  reg [LOG2_DEPTH:0] head;
  reg [LOG2_DEPTH:0] tail;

  wire [LOG2_DEPTH:0] used = tail - head;

  assign pop_valid  = (used != 0);
  assign push_ready = !used[LOG2_DEPTH];
  assign pop_data   = mem[head[LOG2_DEPTH-1:0]];

  always @(posedge clk)
    if (push_valid && push_ready) mem[tail[LOG2_DEPTH-1:0]] <= push_data;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      head <= 0;
      tail <= 0;
    end else begin
      if (push_valid && push_ready) tail <= tail + 1'b1;
      if (pop_valid && pop_ready) head <= head + 1'b1;
    end
endmodule
