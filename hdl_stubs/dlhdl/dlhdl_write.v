// Write master: a command of any number of beats and a stream of beats become bursts of at
// most 256 beats that cross no 4 KiB border. The next burst begins when the one before was
// answered. After `abort` the burst that is open is completed with beats that write nothing.
`include "dlhdl_bugs.vh"

module dlhdl_write #(
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
    input  wire                    data_valid,
    output wire                    data_ready,
    input  wire [8*BEAT_BYTES-1:0] data,
    output wire                    idle,             // every write of the command was answered
    output wire                    awvalid,
    input  wire                    awready,
    output reg  [            31:0] awaddr,
    output reg  [             7:0] awlen,
    output reg                     wvalid,
    input  wire                    wready,
    output wire [  DATA_WIDTH-1:0] wdata,
    output wire [  BEAT_BYTES-1:0] wstrb,
    output wire                    wlast,
    input  wire                    bvalid
);
  `DLHDL_BUG(write_split_4k)
  `DLHDL_BUG(write_split_256)
  `DLHDL_BUG(awvalid_falls)
  `DLHDL_BUG(wlast_early)
  `DLHDL_BUG(write_strobe)
  `DLHDL_BUG(wdata_unstable)
  localparam LOG2_BYTES = $clog2(BEAT_BYTES);

  // Beats that no burst holds yet, and those of the open burst that are not offered yet
  reg [31:0] left;
  reg [31:0] address;
  reg [8:0] open;
  reg asking, stalled, unanswered, drop, keep, last;
  reg [8*BEAT_BYTES-1:0] value;

  wire [12:0] page_beats = (13'd4096 - {1'b0, address[11:0]}) >> LOG2_BYTES;
  wire [12:0] most = (page_beats > 13'd256 || bug_write_split_4k) ? 13'd256 : page_beats;
  wire [8:0] burst = (left > {19'd0, most}) ? most[8:0] : left[8:0];
  wire [31:0] step = {23'd0, burst} - {31'd0, bug_write_split_256 && burst == 9'd256};
  wire room = open != 9'd0 && (!wvalid || wready);

  assign idle          = left == 32'd0 && !unanswered;
  assign command_ready = enable && idle && !drop;
  assign data_ready    = room && enable && !drop && !abort;
  assign awvalid       = asking && !(bug_awvalid_falls && stalled);
  assign wstrb         = {BEAT_BYTES{keep}} >> bug_write_strobe;
  assign wlast         = bug_wlast_early ? (open == 9'd1 || (last && awlen == 8'd0)) : last;

  wire [8*BEAT_BYTES-1:0] shown = value ^ {8 * BEAT_BYTES{bug_wdata_unstable && !wready}};
  generate
    if (DATA_WIDTH > 8 * BEAT_BYTES) begin : narrow
      assign wdata = {{DATA_WIDTH - 8 * BEAT_BYTES{1'b0}}, shown};
    end else begin : full
      assign wdata = shown;
    end
  endgenerate

  always @(posedge clk)
    if (!rst_n) begin
      left       <= 32'd0;
      address    <= 32'd0;
      open       <= 9'd0;
      asking     <= 1'b0;
      stalled    <= 1'b0;
      unanswered <= 1'b0;
      drop       <= 1'b0;
      keep       <= 1'b0;
      last       <= 1'b0;
      value      <= 0;
      awaddr     <= 32'd0;
      awlen      <= 8'd0;
      wvalid     <= 1'b0;
    end else begin
      stalled <= awvalid && !awready;
      if (awvalid && awready) asking <= 1'b0;
      if (bvalid) unanswered <= 1'b0;
      if (!unanswered) drop <= 1'b0;
      if (wvalid && wready) wvalid <= 1'b0;
      if (room && (drop || (data_valid && data_ready))) begin
        wvalid <= 1'b1;
        value  <= data;
        keep   <= !drop;
        last   <= (open == 9'd1);
        open   <= open - 9'd1;
      end
      if (abort) begin
        left <= 32'd0;
        drop <= unanswered;
      end else if (command_valid && command_ready) begin
        left    <= command_beats;
        address <= base + command_address;
      end else if (left != 32'd0 && !unanswered && data_valid && enable) begin
        asking     <= 1'b1;
        awaddr     <= address;
        awlen      <= burst[7:0] - 8'd1;
        open       <= burst;
        unanswered <= 1'b1;
        left       <= left - {23'd0, burst};
        address    <= address + (step << LOG2_BYTES);
      end
    end
endmodule
