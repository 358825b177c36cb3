// Convolution buffer: one memory of words (memory atoms) with a write port for each
// side of CDMA and as many read ports as the loaders of CSC want words per clock.
// Which banks hold data and which hold weights is the business of their users.
module nvdla_cbuf #(
    parameter WORD_BITS = 64,
    parameter ADDR_BITS = 14,
    parameter DATA_PORTS = 2,
    parameter WEIGHT_PORTS = 2
) (
    input  wire                              clk,
    input  wire                              dat_write,
    input  wire [             ADDR_BITS-1:0] dat_write_addr,
    input  wire [             WORD_BITS-1:0] dat_write_data,
    input  wire                              wt_write,
    input  wire [             ADDR_BITS-1:0] wt_write_addr,
    input  wire [             WORD_BITS-1:0] wt_write_data,
    input  wire [  DATA_PORTS*ADDR_BITS-1:0] dat_addr,
    output wire [  DATA_PORTS*WORD_BITS-1:0] dat_data,
    input  wire [WEIGHT_PORTS*ADDR_BITS-1:0] wt_addr,
    output wire [WEIGHT_PORTS*WORD_BITS-1:0] wt_data
);
  reg [WORD_BITS-1:0] words[0:(1<<ADDR_BITS)-1];

  always @(posedge clk) begin
    if (dat_write) words[dat_write_addr] <= dat_write_data;
    if (wt_write) words[wt_write_addr] <= wt_write_data;
  end

  genvar g;
  generate
    for (g = 0; g < DATA_PORTS; g = g + 1) begin : dat_port
      assign dat_data[WORD_BITS*g+:WORD_BITS] = words[dat_addr[ADDR_BITS*g+:ADDR_BITS]];
    end
    for (g = 0; g < WEIGHT_PORTS; g = g + 1) begin : wt_port
      assign wt_data[WORD_BITS*g+:WORD_BITS] = words[wt_addr[ADDR_BITS*g+:ADDR_BITS]];
    end
  endgenerate
endmodule
