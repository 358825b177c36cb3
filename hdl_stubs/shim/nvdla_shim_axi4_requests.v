// The rules of one address channel of AXI4, in the order of AXI4_RULES (tb/nvdla_tb/judge/wrapped_rules.py).
module nvdla_shim_axi4_requests #(
  parameter DATA_BITS = 64,
  parameter ADDRESS_BITS = 32,
  parameter MEMORY_BITS = 32
) (
  input  wire                    clk,
  input  wire                    reset_n,
  input  wire                    valid,
  input  wire                    ready,
  input  wire [ADDRESS_BITS-1:0] addr,
  input  wire [             7:0] len,
  input  wire [             2:0] size,
  input  wire [             1:0] burst,
  input  wire                    lock,
  input  wire [            10:0] attributes,
  output wire [             5:0] broken
);
  localparam BUS_BYTES = DATA_BITS / 8;
  localparam [2:0] FULL = $clog2(BUS_BYTES);
  localparam [1:0] INCR = 2'b01;

  reg waits;
  reg [ADDRESS_BITS+16:0] held;
  wire [ADDRESS_BITS+16:0] payload = {addr, size, burst, lock, attributes};
  wire offered = reset_n && valid;
  wire [63:0] address = addr;
  // The last byte of the burst, counted from the begin of the page of 4 KiB that its first one is in.
  wire [15:0] first = {4'd0, address[11:0]} & ~(16'd0 + BUS_BYTES - 16'd1);
  wire [15:0] end_byte = first + (({8'd0, len} + 16'd1) << FULL);

  assign broken[0] = offered && size !== FULL;
  assign broken[1] = offered && burst !== INCR;
  assign broken[2] = offered && end_byte > 16'd4096;
  assign broken[3] = offered && lock !== 1'b0;
  assign broken[4] = offered && (MEMORY_BITS < 64) && (address >> MEMORY_BITS) !== 64'd0;
  assign broken[5] = offered && waits && payload !== held;

  always @(posedge clk or negedge reset_n)
    if (!reset_n) begin
      waits <= 1'b0;
      held  <= {ADDRESS_BITS + 17{1'b0}};
    end else begin
      waits <= valid && !ready;
      held  <= payload;
    end
endmodule
