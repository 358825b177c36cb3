// Read master: a command of any number of beats becomes bursts of at most 256 beats that
// cross no 4 KiB border, one after the other, and a stream of beats in order. After `abort`
// the burst that is open is completed, and its beats are dropped.
`include "dlhdl_bugs.vh"

module dlhdl_read #(
    parameter BEAT_BYTES = 4,
    parameter DATA_WIDTH = 32
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    abort,
    input  wire                    enable,
    input  wire [            31:0] base,
    input  wire                    command_valid,
    output wire                    command_ready,
    input  wire [            31:0] command_address,
    input  wire [            31:0] command_beats,
    output wire                    data_valid,
    input  wire                    data_ready,
    output wire [8*BEAT_BYTES-1:0] data,
    output wire                    arvalid,
    input  wire                    arready,
    output reg  [            31:0] araddr,
    output reg  [             7:0] arlen,
    input  wire                    rvalid,
    output wire                    rready,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [  DATA_WIDTH-1:0] rdata            // the bytes of a narrow beat are the lowest
    /* verilator lint_on UNUSEDSIGNAL */
);
  `DLHDL_BUG(read_split_4k)
  `DLHDL_BUG(read_split_256)
  `DLHDL_BUG(arvalid_falls)
  localparam LOG2_BYTES = $clog2(BEAT_BYTES);

  // Beats that no burst has asked for yet, and those of the open burst that are to come
  reg [31:0] left;
  reg [31:0] address;
  reg [8:0] open;
  reg asking, stalled, drop;

  wire [12:0] page_beats = (13'd4096 - {1'b0, address[11:0]}) >> LOG2_BYTES;
  wire [12:0] most = (page_beats > 13'd256 || bug_read_split_4k) ? 13'd256 : page_beats;
  wire [8:0] burst = (left > {19'd0, most}) ? most[8:0] : left[8:0];
  wire [31:0] step = {23'd0, burst} - {31'd0, bug_read_split_256 && burst == 9'd256};
  wire beat = rvalid && rready;

  assign command_ready = enable && !drop && left == 32'd0 && open == 9'd0;
  assign arvalid       = asking && !(bug_arvalid_falls && stalled);
  assign data_valid    = rvalid && open != 9'd0 && !asking && !drop && enable;
  assign rready        = open != 9'd0 && !asking && (drop || (enable && data_ready));
  assign data          = rdata[8*BEAT_BYTES-1:0];

  always @(posedge clk)
    if (!rst_n) begin
      left    <= 32'd0;
      address <= 32'd0;
      open    <= 9'd0;
      asking  <= 1'b0;
      stalled <= 1'b0;
      drop    <= 1'b0;
      araddr  <= 32'd0;
      arlen   <= 8'd0;
    end else begin
      stalled <= arvalid && !arready;
      if (arvalid && arready) asking <= 1'b0;
      if (beat) open <= open - 9'd1;
      if (open == 9'd0) drop <= 1'b0;
      if (abort) begin
        left <= 32'd0;
        drop <= (open != 9'd0);
      end else if (command_valid && command_ready) begin
        left    <= command_beats;
        address <= base + command_address;
      end else if (left != 32'd0 && open == 9'd0 && enable) begin
        asking  <= 1'b1;
        araddr  <= address;
        arlen   <= burst[7:0] - 8'd1;
        open    <= burst;
        left    <= left - {23'd0, burst};
        address <= address + (step << LOG2_BYTES);
      end
    end
endmodule
