// CSB on one side, the APB pins of a wrapped NVDLA on the other: one transfer for each request.
//
// A request is accepted before its transfer begins, so that whoever watches CSB hears of a write before the device
// does. A bit of `broken` is high at every edge at which that rule of APB_RULES (tb/nvdla_tb/judge/wrapped_rules.py) is broken.
module nvdla_shim_apb #(
  parameter ADDRESS_BITS = 32,
  parameter [63:0] BASE = 64'd0
) (
  input  wire                    clk,
  input  wire                    reset_n,
  input  wire                    csb2nvdla_valid,
  output wire                    csb2nvdla_ready,
  input  wire [            15:0] csb2nvdla_addr,
  input  wire [            31:0] csb2nvdla_wdat,
  input  wire                    csb2nvdla_write,
  input  wire                    csb2nvdla_nposted,
  output reg                     nvdla2csb_valid,
  output reg  [            31:0] nvdla2csb_data,
  output reg                     nvdla2csb_wr_complete,
  output reg                     psel,
  output reg                     penable,
  output reg                     pwrite,
  output reg  [ADDRESS_BITS-1:0] paddr,
  output reg  [            31:0] pwdata,
  output wire [             3:0] pstrb,
  output wire [             2:0] pprot,
  input  wire                    pready,
  input  wire [            31:0] prdata,
  input  wire                    pslverr,
  output wire [             1:0] broken
);
  reg  nposted;
  wire access = psel && penable;
  wire ending = access && pready === 1'b1;

  assign csb2nvdla_ready = !psel;
  assign pstrb = {4{pwrite}};
  assign pprot = 3'd0;
  assign broken[0] = reset_n && ending && pslverr !== 1'b0;
  assign broken[1] = reset_n && access && (pready ^ pready) !== 1'b0;

  always @(posedge clk or negedge reset_n)
    if (!reset_n) begin
      psel <= 1'b0;
      penable <= 1'b0;
      pwrite <= 1'b0;
      paddr <= {ADDRESS_BITS{1'b0}};
      pwdata <= 32'd0;
      nposted <= 1'b0;
      nvdla2csb_valid <= 1'b0;
      nvdla2csb_data <= 32'd0;
      nvdla2csb_wr_complete <= 1'b0;
    end else begin
      nvdla2csb_valid <= ending && !pwrite;
      nvdla2csb_wr_complete <= ending && pwrite && nposted;
      if (ending) nvdla2csb_data <= prdata;
      if (!psel) begin
        if (csb2nvdla_valid) begin
          psel <= 1'b1;
          pwrite <= csb2nvdla_write;
          paddr <= BASE + {46'd0, csb2nvdla_addr, 2'b00};
          pwdata <= csb2nvdla_wdat;
          nposted <= csb2nvdla_nposted;
        end
      end else if (!penable) begin
        penable <= 1'b1;
      end else if (ending) begin
        psel <= 1'b0;
        penable <= 1'b0;
      end
    end
endmodule
