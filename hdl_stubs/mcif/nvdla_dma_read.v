// Read client: turns the addresses of a cube walker into a stream of words in the
// same order. Requests are limited to what the answer queue can hold, so answers
// never wait; the queue's depth covers the memory latency.
module nvdla_dma_read #(
    parameter ADDR_WIDTH = 32,
    parameter DATA_WIDTH = 64,
    parameter LOG2_DEPTH = 6
) (
    input  wire                  clk,
    input  wire                  rst_n,
    input  wire                  addr_valid,
    output wire                  addr_ready,
    input  wire [ADDR_WIDTH-1:0] addr,
    output wire                  req_valid,
    input  wire                  req_ready,
    output wire [ADDR_WIDTH-1:0] req_addr,
    input  wire                  rsp_valid,
    input  wire [DATA_WIDTH-1:0] rsp_data,
    output wire                  data_valid,
    input  wire                  data_ready,
    output wire [DATA_WIDTH-1:0] data,
    output wire                  idle         // every requested word was taken
);
  // Words requested and not yet taken out of the queue.
  reg [LOG2_DEPTH:0] pending;
  wire requested = req_valid && req_ready;
  wire taken = data_valid && data_ready;
  wire unused_room;

  assign req_valid  = addr_valid && !pending[LOG2_DEPTH];
  assign req_addr   = addr;
  assign addr_ready = req_ready && !pending[LOG2_DEPTH];
  assign idle       = (pending == 0);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) pending <= 0;
    else pending <= pending + {{LOG2_DEPTH{1'b0}}, requested} - {{LOG2_DEPTH{1'b0}}, taken};

  nvdla_fifo #(
      .WIDTH     (DATA_WIDTH),
      .LOG2_DEPTH(LOG2_DEPTH)
  ) answers (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(rsp_valid),
      .push_ready(unused_room),
      .push_data (rsp_data),
      .pop_valid (data_valid),
      .pop_ready (data_ready),
      .pop_data  (data)
  );
endmodule
