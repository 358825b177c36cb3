// Lookup tables of SDP or CDP: storage, programming and settings. There is one
// set for both register groups.
//
// LE has 65 entries of 16 bits, LO 257. A write to S_LUT_ACCESS_CFG selects table,
// direction and first entry. In CDP, every access to S_LUT_ACCESS_DATA in that
// direction goes to the next entry, and stays at the last one; in SDP (RUNS_FREE),
// every access does, and goes on behind it.
//
// A lookup takes two neighbouring entries of each table per lane: {[i+1], [i]}.
// Source: LUT programming guide.
`include "nvdla_bugs.vh"

module nvdla_lut #(
    parameter [5:0] SLOT = 6'd0,
    parameter SETTINGS_WORDS = 14,  // from S_LUT_CFG on
    parameter RUNS_FREE = 0,
    parameter LANES = 1
) (
    input  wire                         clk,
    input  wire                         rst_n,
    input  wire                         req_valid,
    input  wire                         req_write,
    input  wire [                 15:0] req_addr,
    input  wire [                 31:0] req_wdata,
    output wire [                 31:0] entry_rdata,  // for S_LUT_ACCESS_DATA
    output reg  [32*SETTINGS_WORDS-1:0] settings,
    input  wire [          6*LANES-1:0] le_index,
    input  wire [          8*LANES-1:0] lo_index,
    output wire [         32*LANES-1:0] le_pair,
    output wire [         32*LANES-1:0] lo_pair
);
  localparam [9:0] S_LUT_ACCESS_CFG = 10'd2;
  localparam [9:0] S_LUT_ACCESS_DATA = 10'd3;
  localparam [9:0] S_LUT_CFG = 10'd4;
  localparam [9:0] LE_LAST = 10'd64;
  localparam [9:0] LO_LAST = 10'd256;

  `NVDLA_BUG(lut_last_write_lost)
  reg [15:0] le[0:64];
  reg [15:0] lo[0:256];
  reg [9:0] entry;
  reg in_lo, writing;

  wire [9:0] word = req_addr[9:0];
  wire hit = req_valid && (req_addr[15:10] == SLOT);
  wire data_access = hit && (word == S_LUT_ACCESS_DATA);
  wire [9:0] last = in_lo ? LO_LAST : LE_LAST;
  wire moves = data_access && (RUNS_FREE != 0 || (req_write == writing && entry < last));

  assign entry_rdata = (word == S_LUT_ACCESS_DATA) ? {16'd0, in_lo ? lo[entry[8:0]] : le[entry[6:0]]} : 32'd0;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      entry   <= 10'd0;
      in_lo   <= 1'b0;
      writing <= 1'b0;
    end else if (hit && req_write && word == S_LUT_ACCESS_CFG) begin
      entry   <= req_wdata[9:0];
      in_lo   <= req_wdata[16];
      writing <= req_wdata[17];
    end else if (moves) entry <= entry + 10'd1;

  always @(posedge clk)
    if (data_access && req_write && writing && entry <= last && !(bug_lut_last_write_lost && entry == last)) begin
      if (in_lo) lo[entry[8:0]] <= req_wdata[15:0];
      else le[entry[6:0]] <= req_wdata[15:0];
    end

  integer i;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) settings <= 0;
    else if (hit && req_write)
      for (i = 0; i < SETTINGS_WORDS; i = i + 1)
        if (word == S_LUT_CFG + i[9:0]) settings[32*i+:32] <= req_wdata;

  genvar g;
  generate
    for (g = 0; g < LANES; g = g + 1) begin : lane
      wire [6:0] le_entry = {1'b0, le_index[6*g+:6]};
      wire [8:0] lo_entry = {1'b0, lo_index[8*g+:8]};
      assign le_pair[32*g+:32] = {le[le_entry+7'd1], le[le_entry]};
      assign lo_pair[32*g+:32] = {lo[lo_entry+9'd1], lo[lo_entry]};
    end
  endgenerate
endmodule
