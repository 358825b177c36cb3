// MCIF registers: arbitration weights, limits of outstanding requests, idle flag.
`include "nvdla_bugs.vh"

module nvdla_mcif #(
    parameter [5:0] SLOT = 6'd2
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        req_valid,
    input  wire        req_write,
    input  wire [15:0] req_addr,
    input  wire [31:0] req_wdata,
    output reg  [31:0] rdata,
    output wire [ 7:0] max_reads,
    output wire [ 7:0] max_writes,
    output wire [95:0] read_weights,
    output wire [63:0] write_weights,
    input  wire        idle
);
  localparam [9:0] CFG_WEIGHT_WORDS = 10'd5;
  localparam [9:0] CFG_OUTSTANDING_CNT = 10'd5;
  localparam [9:0] STATUS = 10'd6;

  localparam [31:0] WEIGHTS_RESET = 32'h0101_0101;
  localparam [15:0] OUTSTANDING_RESET = 16'hffff;

  reg  [31:0] weights    [0:4];
  reg  [15:0] outstanding;

  wire [ 9:0] word = req_addr[9:0];
  wire        hit = req_valid && (req_addr[15:10] == SLOT);

  `NVDLA_BUG(mcif_reads_unlimited)
  `NVDLA_BUG(mcif_writes_unlimited)
  assign max_reads  = bug_mcif_reads_unlimited ? 8'hff : outstanding[7:0];
  assign max_writes = bug_mcif_writes_unlimited ? 8'hff : outstanding[15:8];

  `NVDLA_BUG(mcif_weights_ignored)
  assign read_weights  = bug_mcif_weights_ignored ? {12{8'd1}} : {weights[2], weights[1], weights[0]};
  assign write_weights = bug_mcif_weights_ignored ? {8{8'd1}} : {weights[4], weights[3]};

  integer i;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      for (i = 0; i < 5; i = i + 1) weights[i] <= WEIGHTS_RESET;
      outstanding <= OUTSTANDING_RESET;
      rdata       <= 32'd0;
    end else begin
      rdata <= 32'd0;
      if (hit && word < CFG_WEIGHT_WORDS) begin
        if (req_write) weights[word[2:0]] <= req_wdata;
        else rdata <= weights[word[2:0]];
      end else if (hit && word == CFG_OUTSTANDING_CNT) begin
        if (req_write) outstanding <= req_wdata[15:0];
        else rdata <= {16'd0, outstanding};
      end else if (hit && word == STATUS && !req_write) rdata <= {23'd0, idle, 8'd0};
    end
endmodule
