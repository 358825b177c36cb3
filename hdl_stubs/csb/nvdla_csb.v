// CSB port: takes requests in the CSB clock domain, broadcasts them to all units
// in the core clock domain and brings the answers back.
//
// Timing measured on the public nv_small RTL and kept here:
//   - a request in the first cycles after the reset rises is accepted but lost;
//   - ready drops for one cycle after every accepted request;
//   - with equal clocks a read answers 18 cycles after its request, a non-posted
//     write completes after 19, a posted write gives no completion;
//   - three accesses may wait for answers: answers that come faster than one in
//     four cycles find room for two and are lost beyond it.
// A unit drives rdata one core clock after req_valid, and 0 for what it does not
// own; hence an unmapped read answers 0.
`include "nvdla_bugs.vh"

module nvdla_csb (
    input  wire        csb_clk,
    input  wire        csb_rst_n,
    input  wire        csb2nvdla_valid,
    output reg         csb2nvdla_ready,
    input  wire [15:0] csb2nvdla_addr,
    input  wire [31:0] csb2nvdla_wdat,
    input  wire        csb2nvdla_write,
    input  wire        csb2nvdla_nposted,
    output reg         nvdla2csb_valid,
    output reg  [31:0] nvdla2csb_data,
    output reg         nvdla2csb_wr_complete,
    input  wire        core_clk,
    input  wire        core_rst_n,
    output reg         req_valid,
    output reg         req_write,
    output reg  [15:0] req_addr,
    output reg  [31:0] req_wdata,
    input  wire [31:0] rdata
);
  localparam [2:0] WAKE_CYCLES = 3'd5;  // after the two of the reset synchroniser
  localparam [1:0] ANSWER_GAP = 2'd3;
  localparam HOPS = 9;  // core clocks that an answer spends on its way back
  localparam HOP_WIDTH = 34;

  // Requests, CSB clock domain
  reg  [2:0] wake_count;
  wire       awake = (wake_count == WAKE_CYCLES);
  wire       accept = csb2nvdla_valid && csb2nvdla_ready;
  wire       request_room;

  always @(posedge csb_clk or negedge csb_rst_n)
    if (!csb_rst_n) begin
      wake_count      <= 3'd0;
      csb2nvdla_ready <= 1'b1;
    end else begin
      if (!awake) wake_count <= wake_count + 3'd1;
      csb2nvdla_ready <= !accept && request_room;
    end

  `NVDLA_BUG(csb_write_lost)
  `NVDLA_BUG(csb_answer_stale)
  `NVDLA_BUG(csb_posted_answered)
  `NVDLA_BUG(csb_read_answered_twice)
  `NVDLA_BUG(csb_write_answered_as_read)
  `NVDLA_BUG(csb_unmapped_answers)
  // Requests, core clock domain
  wire        popped;
  wire [49:0] popped_request;
  reg         req_nposted;
  reg  [ 5:0] count;  // of requests, for the seeded bug csb_write_lost

  nvdla_async_fifo #(
      .WIDTH(50)
  ) request_fifo (
      .push_clk  (csb_clk),
      .push_rst_n(csb_rst_n),
      .push_valid(accept && awake),
      .push_ready(request_room),
      .push_data ({csb2nvdla_write, csb2nvdla_nposted, csb2nvdla_addr, csb2nvdla_wdat}),
      .pop_clk   (core_clk),
      .pop_rst_n (core_rst_n),
      .pop_valid (popped),
      .pop_ready (1'b1),
      .pop_data  (popped_request)
  );

  always @(posedge core_clk or negedge core_rst_n)
    if (!core_rst_n) begin
      req_valid   <= 1'b0;
      count       <= 6'd0;
      req_write   <= 1'b0;
      req_nposted <= 1'b0;
      req_addr    <= 16'd0;
      req_wdata   <= 32'd0;
    end else begin
      req_valid <= popped && !(bug_csb_write_lost && popped_request[49] && count == 6'd63);
      if (popped) count <= count + 6'd1;
      if (popped) {req_write, req_nposted, req_addr, req_wdata} <= popped_request;
    end

  // Answers, core clock domain: {valid, is a write, data}
  wire [31:0] seen_data = rdata | {31'd0, bug_csb_unmapped_answers && req_addr[9:8] == 2'd3};
  reg                       answer_due;
  reg                       answer_is_write;
  reg  [HOPS*HOP_WIDTH-1:0] hops;
  wire [     HOP_WIDTH-1:0] hop_out = hops[(HOPS-1)*HOP_WIDTH+:HOP_WIDTH];

  always @(posedge core_clk or negedge core_rst_n)
    if (!core_rst_n) begin
      answer_due      <= 1'b0;
      answer_is_write <= 1'b0;
      hops            <= {HOPS * HOP_WIDTH{1'b0}};
    end else begin
      answer_due      <= req_valid && (!req_write || req_nposted || bug_csb_posted_answered);
      answer_is_write <= req_write && !(bug_csb_write_answered_as_read && count[5:0] == 6'd40);
      hops            <= {hops[0+:(HOPS-1)*HOP_WIDTH], answer_due, answer_is_write, seen_data};
    end

  // Answers, CSB clock domain
  wire        back;
  wire        back_is_write;
  wire [31:0] back_data;
  wire        unused_answer_room;
  wire        read_back = back && !back_is_write;

  nvdla_async_fifo #(
      .WIDTH(33)
  ) answer_fifo (
      .push_clk  (core_clk),
      .push_rst_n(core_rst_n),
      .push_valid(hop_out[33]),
      .push_ready(unused_answer_room),
      .push_data (hop_out[32:0]),
      .pop_clk   (csb_clk),
      .pop_rst_n (csb_rst_n),
      .pop_valid (back),
      .pop_ready (1'b1),
      .pop_data  ({back_is_write, back_data})
  );

  reg [ 1:0] gap;
  reg [ 1:0] waiting;  // reads, oldest first
  reg [31:0] waiting_data;
  reg [31:0] second_data;
  reg        write_back;
  wire       answers = gap == 2'd0 && (waiting != 2'd0 || read_back);
  wire       stays = read_back && (waiting != 2'd2 || answers) && !(answers && waiting == 2'd0);
  wire       again = bug_csb_read_answered_twice && answers && waiting == 2'd0 && count == 6'd33;
  wire [1:0] left = waiting - (answers && waiting != 2'd0 ? 2'd1 : 2'd0);

  always @(posedge csb_clk or negedge csb_rst_n)
    if (!csb_rst_n) begin
      gap                   <= 2'd0;
      waiting               <= 2'd0;
      waiting_data          <= 32'd0;
      second_data           <= 32'd0;
      write_back            <= 1'b0;
      nvdla2csb_valid       <= 1'b0;
      nvdla2csb_data        <= 32'd0;
      nvdla2csb_wr_complete <= 1'b0;
    end else begin
      write_back            <= back && back_is_write;
      nvdla2csb_wr_complete <= write_back;
      nvdla2csb_valid       <= answers;
      if (answers) begin
        gap            <= ANSWER_GAP;
        nvdla2csb_data <= bug_csb_answer_stale || waiting != 2'd0 ? waiting_data : back_data;
        waiting_data   <= waiting == 2'd2 ? second_data : back_data;
      end else if (gap != 2'd0) gap <= gap - 2'd1;
      if (stays) begin
        if (left == 2'd0) waiting_data <= back_data;
        else second_data <= back_data;
      end
      waiting <= left + (stays || again ? 2'd1 : 2'd0);
    end
endmodule
