// Memory sides of the bench: a read and a write port on the bytes of `bench`. They stall at
// random, and say which rule of the ports is broken.
module memory_read #(
    parameter BEAT_BYTES = 4,
    parameter DATA_WIDTH = 32,
    parameter SEED = 1
) (
    input  wire                  clk,
    input  wire                  rst_n,
    input  wire [          31:0] araddr,
    input  wire [           7:0] arlen,
    input  wire [           2:0] arsize,
    input  wire [           1:0] arburst,
    input  wire                  arvalid,
    output wire                  arready,
    output wire [DATA_WIDTH-1:0] rdata,
    output wire                  rlast,
    output wire                  rvalid,
    input  wire                  rready
);
  reg [31:0] address, stalled_address;
  reg [8:0] left;
  reg ready, present, stalled;
  integer seed, i;
  reg [DATA_WIDTH-1:0] value;

  assign arready = ready && left == 0;
  assign rvalid  = present && left != 0;
  assign rlast   = left == 1;
  assign rdata   = value;

  always @(address or left) begin
    value = {DATA_WIDTH{1'b1}};
    for (i = 0; i < BEAT_BYTES; i = i + 1) value[8*i+:8] = bench.bytes[(address+i)%bench.SIZE];
  end

  always @(posedge clk)
    if (!rst_n) begin
      left    <= 0;
      ready   <= 0;
      present <= 0;
      stalled <= 0;
      seed    <= SEED;
    end else begin
      ready   <= $random(seed) & 1;
      present <= rvalid && !rready ? 1 : $random(seed) & 1;
      stalled <= arvalid && !arready;
      stalled_address <= araddr;
      if (stalled && (!arvalid || araddr != stalled_address)) $display("rule: %m: the read address does not wait");
      if (arvalid && arready) begin
        address <= araddr;
        left    <= arlen + 1;
        if (araddr % BEAT_BYTES != 0 || (1 << arsize) != BEAT_BYTES || arburst != 1)
          $display("rule: %m: size, burst type or address of a read is wrong");
        if (araddr / 4096 != (araddr + (arlen + 1) * BEAT_BYTES - 1) / 4096)
          $display("rule: %m: a read crosses 4 KiB: %h %d", araddr, arlen);
        if (araddr >= bench.SIZE) $display("rule: %m: a read lies outside the memory: %h", araddr);
      end
      if (rvalid && rready) begin
        address <= address + BEAT_BYTES;
        left    <= left - 1;
      end
    end
endmodule

module memory_write #(
    parameter BEAT_BYTES = 4,
    parameter DATA_WIDTH = 32
) (
    input  wire                  clk,
    input  wire                  rst_n,
    input  wire [          31:0] awaddr,
    input  wire [           7:0] awlen,
    input  wire [           2:0] awsize,
    input  wire [           1:0] awburst,
    input  wire                  awvalid,
    output wire                  awready,
    input  wire [DATA_WIDTH-1:0] wdata,
    input  wire [BEAT_BYTES-1:0] wstrb,
    input  wire                  wlast,
    input  wire                  wvalid,
    output wire                  wready,
    output reg                   bvalid,
    input  wire                  bready
);
  reg [31:0] address, stalled_address;
  reg [8:0] left;
  reg ready, stalled, stalled_data;
  reg [DATA_WIDTH-1:0] stalled_value;
  integer seed, i;

  // The address is taken once the first beat is offered, or earlier.
  assign awready = ready && left == 0 && !bvalid;
  assign wready  = ready && left != 0;

  always @(posedge clk)
    if (!rst_n) begin
      left         <= 0;
      ready        <= 0;
      stalled      <= 0;
      stalled_data <= 0;
      bvalid       <= 0;
      seed         <= 7;
    end else begin
      ready         <= $random(seed) & 1;
      stalled       <= awvalid && !awready;
      stalled_data  <= wvalid && !wready;
      stalled_value <= wdata;
      stalled_address <= awaddr;
      if (stalled && (!awvalid || awaddr != stalled_address)) $display("rule: %m: the write address does not wait");
      if (stalled_data && (!wvalid || wdata != stalled_value)) $display("rule: %m: the write data does not wait");
      if (awvalid && (left != 0 || bvalid)) $display("rule: %m: a second write address is in flight");
      if (awvalid && awready) begin
        address <= awaddr;
        left    <= awlen + 1;
        if (awaddr % BEAT_BYTES != 0 || (1 << awsize) != BEAT_BYTES || awburst != 1)
          $display("rule: %m: size, burst type or address of a write is wrong");
        if (awaddr / 4096 != (awaddr + (awlen + 1) * BEAT_BYTES - 1) / 4096)
          $display("rule: %m: a write crosses 4 KiB: %h %d", awaddr, awlen);
      end
      if (wvalid && wready) begin
        address <= address + BEAT_BYTES;
        left    <= left - 1;
        if (wlast != (left == 1)) $display("rule: %m: WLAST is wrong");
        if (wstrb != {BEAT_BYTES{1'b1}} && !bench.was_reset) $display("rule: %m: a strobe is 0");
        for (i = 0; i < BEAT_BYTES; i = i + 1)
          if (wstrb[i]) begin
            if (address + i >= bench.SIZE) $display("rule: %m: a write lies outside the memory: %h", address);
            else begin
              bench.bytes[address+i]  = wdata[8*i+:8];
              bench.writes[address+i] = bench.writes[address+i] + 1;
            end
          end
        if (left == 1) bvalid <= 1;
      end
      if (bvalid && bready) bvalid <= 0;
      if (bvalid && !bready) $display("rule: %m: BREADY is 0");
    end
endmodule
