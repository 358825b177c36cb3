// APB to CSB. A write ends when CSB has accepted it, a read when its answer is there.
module nvdla_apb_bridge (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        psel,
    input  wire        penable,
    input  wire        pwrite,
    input  wire [31:0] paddr,
    input  wire [31:0] pwdata,
    output wire        pready,
    output wire [31:0] prdata,
    output wire        pslverr,
    output wire        csb2nvdla_valid,
    input  wire        csb2nvdla_ready,
    output wire [15:0] csb2nvdla_addr,
    output wire [31:0] csb2nvdla_wdat,
    output wire        csb2nvdla_write,
    output wire        csb2nvdla_nposted,
    input  wire        nvdla2csb_valid,
    input  wire [31:0] nvdla2csb_data
);
  reg asked;  // whether the read of this access was accepted

  assign csb2nvdla_valid = psel && penable && !asked;
  assign csb2nvdla_addr = paddr[17:2];
  assign csb2nvdla_wdat = pwdata;
  assign csb2nvdla_write = pwrite;
  assign csb2nvdla_nposted = 1'b0;
  assign pready = pwrite ? csb2nvdla_ready : asked && nvdla2csb_valid;
  assign prdata = nvdla2csb_data;
  assign pslverr = 1'b0;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) asked <= 1'b0;
    else if (nvdla2csb_valid) asked <= 1'b0;
    else if (csb2nvdla_valid && csb2nvdla_ready && !pwrite) asked <= 1'b1;
endmodule
