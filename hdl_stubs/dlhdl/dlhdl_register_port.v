// AXI4 side of the registers. An access is one beat of one word; the bits 1:0 of an address
// and AxSIZE do not matter. A longer burst is answered with SLVERR and reaches no register.
module dlhdl_register_port (
    input  wire        clk,
    input  wire        rst_n,
    input  wire [11:0] awid,
    input  wire [15:0] awaddr,
    input  wire [ 7:0] awlen,
    input  wire        awvalid,
    output wire        awready,
    input  wire [31:0] wdata,
    input  wire [ 3:0] wstrb,
    input  wire        wlast,
    input  wire        wvalid,
    output wire        wready,
    output reg  [11:0] bid,
    output wire [ 1:0] bresp,
    output reg         bvalid,
    input  wire        bready,
    input  wire [11:0] arid,
    input  wire [15:0] araddr,
    input  wire [ 7:0] arlen,
    input  wire        arvalid,
    output wire        arready,
    output reg  [11:0] rid,
    output reg  [31:0] rdata,
    output wire [ 1:0] rresp,
    output wire        rlast,
    output reg         rvalid,
    input  wire        rready,
    // Registers: a write happens at the clock edge; the value of a read is taken there
    output wire        write,
    output reg  [15:0] write_address,
    output wire [31:0] write_data,
    output wire [ 3:0] write_strobe,
    output wire [15:0] read_address,
    input  wire [31:0] read_data
);
  localparam [1:0] SLVERR = 2'd2;
  reg writing, long_write, long_read;
  reg [7:0] beats;

  assign awready      = !writing && !bvalid;
  assign wready       = writing;
  assign bresp        = long_write ? SLVERR : 2'd0;
  assign write        = writing && wvalid && !long_write;
  assign write_data   = wdata;
  assign write_strobe = wstrb;

  always @(posedge clk)
    if (!rst_n) begin
      writing       <= 1'b0;
      long_write    <= 1'b0;
      write_address <= 16'd0;
      bid           <= 12'd0;
      bvalid        <= 1'b0;
    end else begin
      if (awvalid && awready) begin
        writing       <= 1'b1;
        long_write    <= (awlen != 8'd0);
        write_address <= awaddr;
        bid           <= awid;
      end
      if (wvalid && wready && wlast) begin
        writing <= 1'b0;
        bvalid  <= 1'b1;
      end
      if (bvalid && bready) bvalid <= 1'b0;
    end

  assign arready      = !rvalid;
  assign read_address = araddr;
  assign rresp        = long_read ? SLVERR : 2'd0;
  assign rlast        = (beats == 8'd0);

  always @(posedge clk)
    if (!rst_n) begin
      rvalid    <= 1'b0;
      rid       <= 12'd0;
      rdata     <= 32'd0;
      beats     <= 8'd0;
      long_read <= 1'b0;
    end else if (arvalid && arready) begin
      rvalid    <= 1'b1;
      rid       <= arid;
      rdata     <= (arlen != 8'd0) ? 32'd0 : read_data;
      beats     <= arlen;
      long_read <= (arlen != 8'd0);
    end else if (rvalid && rready) begin
      beats <= beats - 8'd1;
      if (rlast) rvalid <= 1'b0;
    end
endmodule
