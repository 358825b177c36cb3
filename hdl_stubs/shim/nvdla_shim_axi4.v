// Watches what a wrapped NVDLA asks of memory by AXI4, in so far as the memory port of NVDLA cannot say it.
//
// Handshakes, ids, lengths and data go past it to the slave of the memory port, and are judged there. A bit of `broken`
// is high at every edge at which that rule of AXI4_RULES (tb/nvdla_tb/judge/wrapped_rules.py) is broken.
module nvdla_shim_axi4 #(
  parameter DATA_BITS = 64,
  parameter ADDRESS_BITS = 32,
  parameter MEMORY_BITS = 32
) (
  input  wire                    clk,
  input  wire                    reset_n,
  input  wire                    awvalid,
  input  wire                    awready,
  input  wire [ADDRESS_BITS-1:0] awaddr,
  input  wire [             7:0] awlen,
  input  wire [             2:0] awsize,
  input  wire [             1:0] awburst,
  input  wire                    awlock,
  input  wire [             3:0] awcache,
  input  wire [             2:0] awprot,
  input  wire [             3:0] awqos,
  input  wire                    arvalid,
  input  wire                    arready,
  input  wire [ADDRESS_BITS-1:0] araddr,
  input  wire [             7:0] arlen,
  input  wire [             2:0] arsize,
  input  wire [             1:0] arburst,
  input  wire                    arlock,
  input  wire [             3:0] arcache,
  input  wire [             2:0] arprot,
  input  wire [             3:0] arqos,
  output wire [            11:0] broken
);
  nvdla_shim_axi4_requests #(
      .DATA_BITS(DATA_BITS),
      .ADDRESS_BITS(ADDRESS_BITS),
      .MEMORY_BITS(MEMORY_BITS)
  ) reads (
      .clk(clk),
      .reset_n(reset_n),
      .valid(arvalid),
      .ready(arready),
      .addr(araddr),
      .len(arlen),
      .size(arsize),
      .burst(arburst),
      .lock(arlock),
      .attributes({arcache, arprot, arqos}),
      .broken(broken[5:0])
  );

  nvdla_shim_axi4_requests #(
      .DATA_BITS(DATA_BITS),
      .ADDRESS_BITS(ADDRESS_BITS),
      .MEMORY_BITS(MEMORY_BITS)
  ) writes (
      .clk(clk),
      .reset_n(reset_n),
      .valid(awvalid),
      .ready(awready),
      .addr(awaddr),
      .len(awlen),
      .size(awsize),
      .burst(awburst),
      .lock(awlock),
      .attributes({awcache, awprot, awqos}),
      .broken(broken[11:6])
  );
endmodule
