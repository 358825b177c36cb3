// FIFO between two unrelated clocks (CSB clock and core clock). The pointers
// cross as Gray codes through two flip-flops, so a word is seen on the reading
// side three reading clocks after it was pushed.
module nvdla_async_fifo #(
    parameter WIDTH = 32,
    parameter LOG2_DEPTH = 3
) (
    input  wire             push_clk,
    input  wire             push_rst_n,
    input  wire             push_valid,
    output wire             push_ready,
    input  wire [WIDTH-1:0] push_data,
    input  wire             pop_clk,
    input  wire             pop_rst_n,
    output wire             pop_valid,
    input  wire             pop_ready,
    output wire [WIDTH-1:0] pop_data
);
  localparam PW = LOG2_DEPTH + 1;

  reg [WIDTH-1:0] mem[0:(1<<LOG2_DEPTH)-1];
  reg [PW-1:0] tail, tail_gray, tail_gray_1, tail_gray_2;
  reg [PW-1:0] head, head_gray, head_gray_1, head_gray_2;

  wire [PW-1:0] tail_next = tail + 1'b1;
  wire [PW-1:0] head_next = head + 1'b1;

  // Full: the pointers differ by the whole depth, which in Gray code is the
  // head's code with its two upper bits inverted.
  assign push_ready = (tail_gray != (head_gray_2 ^ {2'b11, {(PW - 2) {1'b0}}}));
  assign pop_valid  = (head_gray != tail_gray_2);
  assign pop_data   = mem[head[LOG2_DEPTH-1:0]];

  always @(posedge push_clk)
    if (push_valid && push_ready) mem[tail[LOG2_DEPTH-1:0]] <= push_data;

  always @(posedge push_clk or negedge push_rst_n)
    if (!push_rst_n) begin
      tail        <= 0;
      tail_gray   <= 0;
      head_gray_1 <= 0;
      head_gray_2 <= 0;
    end else begin
      head_gray_1 <= head_gray;
      head_gray_2 <= head_gray_1;
      if (push_valid && push_ready) begin
        tail      <= tail_next;
        tail_gray <= tail_next ^ (tail_next >> 1);
      end
    end

  always @(posedge pop_clk or negedge pop_rst_n)
    if (!pop_rst_n) begin
      head        <= 0;
      head_gray   <= 0;
      tail_gray_1 <= 0;
      tail_gray_2 <= 0;
    end else begin
      tail_gray_1 <= tail_gray;
      tail_gray_2 <= tail_gray_1;
      if (pop_valid && pop_ready) begin
        head      <= head_next;
        head_gray <= head_next ^ (head_next >> 1);
      end
    end
endmodule
