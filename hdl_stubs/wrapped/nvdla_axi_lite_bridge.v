// AXI4-Lite to CSB, one access at a time; a write is answered when NVDLA has completed it.
module nvdla_axi_lite_bridge (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        awvalid,
    output wire        awready,
    input  wire [31:0] awaddr,
    input  wire        wvalid,
    output wire        wready,
    input  wire [31:0] wdata,
    output reg         bvalid,
    input  wire        bready,
    output wire [ 1:0] bresp,
    input  wire        arvalid,
    output wire        arready,
    input  wire [31:0] araddr,
    output reg         rvalid,
    input  wire        rready,
    output reg  [31:0] rdata,
    output wire [ 1:0] rresp,
    output reg         csb2nvdla_valid,
    input  wire        csb2nvdla_ready,
    output reg  [15:0] csb2nvdla_addr,
    output reg  [31:0] csb2nvdla_wdat,
    output reg         csb2nvdla_write,
    output wire        csb2nvdla_nposted,
    input  wire        nvdla2csb_valid,
    input  wire [31:0] nvdla2csb_data,
    input  wire        nvdla2csb_wr_complete
);
  reg  busy;
  wire write_now = !busy && awvalid && wvalid;
  wire read_now = !busy && !write_now && arvalid;

  assign awready = write_now;
  assign wready = write_now;
  assign arready = read_now;
  assign bresp = 2'b00;
  assign rresp = 2'b00;
  assign csb2nvdla_nposted = 1'b1;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      {busy, bvalid, rvalid, csb2nvdla_valid, csb2nvdla_write} <= 5'd0;
      csb2nvdla_addr <= 16'd0;
      csb2nvdla_wdat <= 32'd0;
      rdata <= 32'd0;
    end else begin
      if (write_now || read_now) begin
        busy <= 1'b1;
        csb2nvdla_valid <= 1'b1;
        csb2nvdla_write <= write_now;
        csb2nvdla_addr <= write_now ? awaddr[17:2] : araddr[17:2];
        csb2nvdla_wdat <= wdata;
      end else if (csb2nvdla_ready) begin
        csb2nvdla_valid <= 1'b0;
      end
      if (nvdla2csb_valid) begin
        rvalid <= 1'b1;
        rdata  <= nvdla2csb_data;
      end
      if (nvdla2csb_wr_complete) bvalid <= 1'b1;
      if ((bvalid && bready) || (rvalid && rready)) begin
        {busy, bvalid, rvalid} <= 3'd0;
      end
    end
endmodule
