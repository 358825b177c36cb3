// Plays a script on dlhdl_core: its host on the register port, and its memory. A line of the
// script is a command and two numbers, offset or address first:
//   w register value, e register value (must be read), p register value (read until it is),
//   s address byte (store), c address byte (must be there), d 0 clocks, r 0 0 (hard reset),
//   l register value (a write of two beats, and a read, which must be refused).
`timescale 1ns / 1ps
module bench;
  parameter CONV_THREAD_NUMBER = 4;
  parameter DATA_TYPE = 0;
  localparam SIZE = 'h20000;
  localparam LIMIT = 60000;  // clocks that a value is waited for

  reg clk = 0, reset_n = 0;
  reg was_reset = 0;  // by software: the rest of a burst then has no strobes
  reg [7:0] bytes[0:SIZE-1];
  reg [7:0] writes[0:SIZE-1];
  always #5 clk = !clk;

  reg [15:0] awaddr, araddr;
  reg [7:0] awlen = 0, arlen = 0;
  reg [31:0] wdata;
  reg awvalid = 0, wvalid = 0, wlast = 0, arvalid = 0;
  wire awready, wready, bvalid, arready, rvalid, rlast;
  wire [1:0] bresp, rresp;
  wire [31:0] rdata;

  localparam N = (CONV_THREAD_NUMBER == 64) ? 8 : (CONV_THREAD_NUMBER == 4) ? 2 : 4;
  localparam BEAT_BYTES = (DATA_TYPE == 1) ? 4 * N : N;
  localparam DATA_WIDTH = (BEAT_BYTES < 4) ? 32 : 8 * BEAT_BYTES;
  wire [31:0] a_araddr, a_awaddr, w_araddr;
  wire [7:0] a_arlen, a_awlen, w_arlen;
  wire [2:0] a_arsize, a_awsize, w_arsize;
  wire [1:0] a_arburst, a_awburst, w_arburst;
  wire a_arvalid, a_arready, a_rlast, a_rvalid, a_rready, w_arvalid, w_arready, w_rlast, w_rvalid, w_rready;
  wire a_awvalid, a_awready, a_wlast, a_wvalid, a_wready, a_bvalid, a_bready, stray_write, stray_debug;
  wire stray_read;
  wire [DATA_WIDTH-1:0] a_rdata, w_rdata, a_wdata;
  wire [BEAT_BYTES-1:0] a_wstrb;

  dlhdl_core #(
      .CONV_THREAD_NUMBER(CONV_THREAD_NUMBER),
      .DATA_TYPE         (DATA_TYPE)
  ) core (
      .IPCORE_CLK   (clk),
      .IPCORE_RESETN(reset_n),
      .AXI4_ACLK    (clk),
      .AXI4_ARESETN (reset_n),
      .AXI4_AWID    (12'd5),
      .AXI4_AWADDR  (awaddr),
      .AXI4_AWLEN   (awlen),
      .AXI4_AWSIZE  (3'd2),
      .AXI4_AWBURST (2'd1),
      .AXI4_AWLOCK  (1'b0),
      .AXI4_AWCACHE (4'd0),
      .AXI4_AWPROT  (3'd0),
      .AXI4_AWVALID (awvalid),
      .AXI4_AWREADY (awready),
      .AXI4_WDATA   (wdata),
      .AXI4_WSTRB   (4'hF),
      .AXI4_WLAST   (wlast),
      .AXI4_WVALID  (wvalid),
      .AXI4_WREADY  (wready),
      .AXI4_BRESP   (bresp),
      .AXI4_BVALID  (bvalid),
      .AXI4_BREADY  (1'b1),
      .AXI4_ARID    (12'd6),
      .AXI4_ARADDR  (araddr),
      .AXI4_ARLEN   (arlen),
      .AXI4_ARSIZE  (3'd2),
      .AXI4_ARBURST (2'd1),
      .AXI4_ARLOCK  (1'b0),
      .AXI4_ARCACHE (4'd0),
      .AXI4_ARPROT  (3'd0),
      .AXI4_ARVALID (arvalid),
      .AXI4_ARREADY (arready),
      .AXI4_RDATA   (rdata),
      .AXI4_RRESP   (rresp),
      .AXI4_RLAST   (rlast),
      .AXI4_RVALID  (rvalid),
      .AXI4_RREADY  (1'b1),

      .AXI4_Master_Activation_Data_Rd_ARADDR (a_araddr),
      .AXI4_Master_Activation_Data_Rd_ARLEN  (a_arlen),
      .AXI4_Master_Activation_Data_Rd_ARSIZE (a_arsize),
      .AXI4_Master_Activation_Data_Rd_ARBURST(a_arburst),
      .AXI4_Master_Activation_Data_Rd_ARVALID(a_arvalid),
      .AXI4_Master_Activation_Data_Rd_ARREADY(a_arready),
      .AXI4_Master_Activation_Data_Rd_RDATA  (a_rdata),
      .AXI4_Master_Activation_Data_Rd_RLAST  (a_rlast),
      .AXI4_Master_Activation_Data_Rd_RVALID (a_rvalid),
      .AXI4_Master_Activation_Data_Rd_RREADY (a_rready),
      .AXI4_Master_Activation_Data_Wr_AWADDR (a_awaddr),
      .AXI4_Master_Activation_Data_Wr_AWLEN  (a_awlen),
      .AXI4_Master_Activation_Data_Wr_AWSIZE (a_awsize),
      .AXI4_Master_Activation_Data_Wr_AWBURST(a_awburst),
      .AXI4_Master_Activation_Data_Wr_AWVALID(a_awvalid),
      .AXI4_Master_Activation_Data_Wr_AWREADY(a_awready),
      .AXI4_Master_Activation_Data_Wr_WDATA  (a_wdata),
      .AXI4_Master_Activation_Data_Wr_WSTRB  (a_wstrb),
      .AXI4_Master_Activation_Data_Wr_WLAST  (a_wlast),
      .AXI4_Master_Activation_Data_Wr_WVALID (a_wvalid),
      .AXI4_Master_Activation_Data_Wr_WREADY (a_wready),
      .AXI4_Master_Activation_Data_Wr_BVALID (a_bvalid),
      .AXI4_Master_Activation_Data_Wr_BREADY (a_bready),
      .AXI4_Master_Weight_Data_Rd_ARADDR     (w_araddr),
      .AXI4_Master_Weight_Data_Rd_ARLEN      (w_arlen),
      .AXI4_Master_Weight_Data_Rd_ARSIZE     (w_arsize),
      .AXI4_Master_Weight_Data_Rd_ARBURST    (w_arburst),
      .AXI4_Master_Weight_Data_Rd_ARVALID    (w_arvalid),
      .AXI4_Master_Weight_Data_Rd_ARREADY    (w_arready),
      .AXI4_Master_Weight_Data_Rd_RDATA      (w_rdata),
      .AXI4_Master_Weight_Data_Rd_RLAST      (w_rlast),
      .AXI4_Master_Weight_Data_Rd_RVALID     (w_rvalid),
      .AXI4_Master_Weight_Data_Rd_RREADY     (w_rready),
      .AXI4_Master_Weight_Data_Wr_AWVALID    (stray_write),
      .AXI4_Master_Debug_Rd_ARVALID          (stray_read),
      .AXI4_Master_Debug_Wr_AWVALID          (stray_debug)
  );

  memory_read #(
      .BEAT_BYTES(BEAT_BYTES),
      .DATA_WIDTH(DATA_WIDTH),
      .SEED      (3)
  ) activation_read (
      .clk    (clk),
      .rst_n  (reset_n),
      .araddr (a_araddr),
      .arlen  (a_arlen),
      .arsize (a_arsize),
      .arburst(a_arburst),
      .arvalid(a_arvalid),
      .arready(a_arready),
      .rdata  (a_rdata),
      .rlast  (a_rlast),
      .rvalid (a_rvalid),
      .rready (a_rready)
  );

  memory_read #(
      .BEAT_BYTES(BEAT_BYTES),
      .DATA_WIDTH(DATA_WIDTH),
      .SEED      (5)
  ) weight_read (
      .clk    (clk),
      .rst_n  (reset_n),
      .araddr (w_araddr),
      .arlen  (w_arlen),
      .arsize (w_arsize),
      .arburst(w_arburst),
      .arvalid(w_arvalid),
      .arready(w_arready),
      .rdata  (w_rdata),
      .rlast  (w_rlast),
      .rvalid (w_rvalid),
      .rready (w_rready)
  );

  memory_write #(
      .BEAT_BYTES(BEAT_BYTES),
      .DATA_WIDTH(DATA_WIDTH)
  ) activation_write (
      .clk    (clk),
      .rst_n  (reset_n),
      .awaddr (a_awaddr),
      .awlen  (a_awlen),
      .awsize (a_awsize),
      .awburst(a_awburst),
      .awvalid(a_awvalid),
      .awready(a_awready),
      .wdata  (a_wdata),
      .wstrb  (a_wstrb),
      .wlast  (a_wlast),
      .wvalid (a_wvalid),
      .wready (a_wready),
      .bvalid (a_bvalid),
      .bready (a_bready)
  );

  always @(posedge clk)
    if (reset_n && (stray_write || stray_read || stray_debug)) $display("rule: a master moves that never does");

  // Inputs of the core change just after a clock edge.
  task clock;
    begin
      @(posedge clk);
      #1;
    end
  endtask

  task write(input [15:0] offset, input [31:0] value, input [7:0] length);
    integer beat;
    begin
      awaddr  = offset;
      awlen   = length;
      awvalid = 1;
      while (!awready) clock;
      clock;
      awvalid = 0;
      for (beat = 0; beat <= length; beat = beat + 1) begin
        wdata  = value;
        wlast  = beat == length;
        wvalid = 1;
        while (!wready) clock;
        clock;
        wvalid = 0;
      end
      while (!bvalid) clock;
      if (bresp != (length ? 2 : 0)) $display("rule: BRESP is %d", bresp);
      clock;
    end
  endtask

  reg [31:0] got;
  task read(input [15:0] offset, input [7:0] length);
    integer beat;
    begin
      araddr  = offset;
      arlen   = length;
      arvalid = 1;
      while (!arready) clock;
      clock;
      arvalid = 0;
      for (beat = 0; beat <= length; beat = beat + 1) begin
        while (!rvalid) clock;
        got = rdata;
        if (rresp != (length ? 2 : 0)) $display("rule: RRESP is %d", rresp);
        if (rlast != (beat == length)) $display("rule: RLAST is wrong");
        clock;
      end
    end
  endtask

  reg [8*256-1:0] path;
  reg [7:0] command;
  reg [31:0] a, b;
  integer script, read_items, line, waited;
  initial begin
    if (!$value$plusargs("image=%s", path)) $finish;
    $readmemh(path, bytes);
    for (line = 0; line < SIZE; line = line + 1) writes[line] = 0;
    if (!$value$plusargs("script=%s", path)) $finish;
    script = $fopen(path, "r");
    repeat (5) clock;
    reset_n = 1;
    clock;
    line = 1;
    read_items = $fscanf(script, " %c %h %h", command, a, b);
    while (read_items == 3) begin
      case (command)
        "w": begin
          if (a == 0) was_reset = 1;
          write(a, b, 0);
        end
        "l": begin
          write(a, b, 1);
          read(a, 1);
        end
        "e": begin
          read(a, 0);
          if (got !== b) $display("line %0d: register %h is %h, not %h", line, a, got, b);
        end
        "p": begin
          waited = 0;
          got = ~b;
          while (got !== b && waited < LIMIT) begin
            read(a, 0);
            waited = waited + 3;
          end
          if (got !== b) begin
            $display("line %0d: register %h stays %h, not %h", line, a, got, b);
            $finish;
          end
        end
        "s": bytes[a] = b;
        "c": if (bytes[a] !== b[7:0]) $display("line %0d: byte %h is %h, not %h", line, a, bytes[a], b[7:0]);
        "d": repeat (b) clock;
        "r": begin
          reset_n = 0;
          repeat (3) clock;
          reset_n = 1;
        end
        default: $display("line %0d: unknown command", line);
      endcase
      line = line + 1;
      read_items = $fscanf(script, " %c %h %h", command, a, b);
    end
    repeat (20) clock;
    $display("played %0d lines", line - 1);
    if ($value$plusargs("dump=%s", path)) $writememh(path, bytes);
    if ($value$plusargs("writes=%s", path)) $writememh(path, writes);
    $finish;
  end
endmodule
