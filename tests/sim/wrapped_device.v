// Devices that break the rules of a wrapped NVDLA's ports, for test_wrapped_rules.py. A bit of +faults= (hexadecimal)
// stands for the rule of that number, bit 31 for an access that never ends. They compute nothing.
module device_faults (
    output reg [31:0] faults
);
  initial if (!$value$plusargs("faults=%h", faults)) faults = 32'd0;
endmodule

// Asks for two words at a time over and over, first to read, then to write.
module device_master (
    input  wire        clk,
    input  wire        rst_n,
    input  wire [31:0] faults,
    output reg         awvalid,
    input  wire        awready,
    output wire [39:0] awaddr,
    output wire [ 2:0] awsize,
    output wire [ 1:0] awburst,
    output wire        awlock,
    output wire [ 3:0] awqos,
    output reg         wvalid,
    input  wire        wready,
    output reg         wlast,
    output reg         arvalid,
    input  wire        arready,
    output wire [39:0] araddr,
    output wire [ 2:0] arsize,
    output wire [ 1:0] arburst,
    output wire        arlock,
    output wire [ 3:0] arqos
);
  reg [7:0] time_now, bursts;

  assign {arsize, awsize} = {faults[0] ? 3'd2 : 3'd3, faults[6] ? 3'd2 : 3'd3};
  assign {arburst, awburst} = {faults[1] ? 2'd0 : 2'd1, faults[7] ? 2'd2 : 2'd1};
  assign {arlock, awlock} = {faults[3], faults[9]};
  assign araddr = {7'd0, faults[4], 20'h80000, faults[2] ? 12'hff8 : 12'hff0};
  assign awaddr = {7'd0, faults[10], 20'h80000, faults[8] ? 12'hff8 : 12'hff0};
  assign arqos = faults[5] ? time_now[3:0] : 4'd0;
  assign awqos = faults[11] ? time_now[3:0] : 4'd0;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      {awvalid, wvalid, wlast, arvalid} <= 4'd0;
      time_now <= 8'd0;
      bursts <= 8'd0;
    end else begin
      time_now <= time_now + 8'd1;
      if (arready) arvalid <= 1'b0;
      if (awready) awvalid <= 1'b0;
      if (wvalid && wready) begin
        wlast  <= 1'b1;
        wvalid <= !wlast;
      end
      if (time_now[4:0] == 5'd31 && bursts < 8'd16) begin
        bursts <= bursts + 8'd1;
        {arvalid, awvalid, wvalid, wlast} <= 4'b1110;
      end
    end
endmodule

module device_apb (
    input  wire        pclk,
    input  wire        presetn,
    input  wire        psel,
    input  wire        penable,
    input  wire        pwrite,
    input  wire [31:0] paddr,
    input  wire [31:0] pwdata,
    output wire        pready,
    output wire [31:0] prdata,
    output wire        pslverr,
    input  wire        aclk,
    input  wire        aresetn,
    output wire        awvalid,
    input  wire        awready,
    output wire [ 7:0] awid,
    output wire [39:0] awaddr,
    output wire [ 7:0] awlen,
    output wire [ 2:0] awsize,
    output wire [ 1:0] awburst,
    output wire        awlock,
    output wire [ 3:0] awqos,
    output wire        wvalid,
    input  wire        wready,
    output wire [63:0] wdata,
    output wire [ 7:0] wstrb,
    output wire        wlast,
    input  wire        bvalid,
    output wire        bready,
    input  wire [ 7:0] bid,
    input  wire [ 1:0] bresp,
    output wire        arvalid,
    input  wire        arready,
    output wire [ 7:0] arid,
    output wire [39:0] araddr,
    output wire [ 7:0] arlen,
    output wire [ 2:0] arsize,
    output wire [ 1:0] arburst,
    output wire        arlock,
    output wire [ 3:0] arqos,
    input  wire        rvalid,
    output wire        rready,
    input  wire [ 7:0] rid,
    input  wire [63:0] rdata,
    input  wire        rlast,
    output wire        irq
);
  wire [31:0] faults;
  reg  [ 7:0] accesses;
  reg         waited;

  device_faults chosen (.faults(faults));
  // Those of the memory begin at bit 8.
  device_master master (
      .clk(aclk),
      .rst_n(aresetn),
      .faults(faults >> 8),
      .awvalid(awvalid),
      .awready(awready),
      .awaddr(awaddr),
      .awsize(awsize),
      .awburst(awburst),
      .awlock(awlock),
      .awqos(awqos),
      .wvalid(wvalid),
      .wready(wready),
      .wlast(wlast),
      .arvalid(arvalid),
      .arready(arready),
      .araddr(araddr),
      .arsize(arsize),
      .arburst(arburst),
      .arlock(arlock),
      .arqos(arqos)
  );

  assign {irq, awid, arid, awlen, arlen} = {1'b0, 8'd1, 8'd2, 8'd1, 8'd1};
  assign {wdata, wstrb, bready, rready} = {64'd0, 8'hff, 1'b1, 1'b1};
  assign prdata = 32'd0;
  assign pslverr = faults[0] && accesses == 8'd3;
  assign pready = faults[31] && accesses == 8'd5 ? 1'b0 : faults[1] && !waited ? 1'bx : waited;

  always @(posedge pclk or negedge presetn)
    if (!presetn) begin
      accesses <= 8'd0;
      waited   <= 1'b0;
    end else begin
      waited <= psel && penable && !waited;
      if (psel && penable && pready === 1'b1) accesses <= accesses + 8'd1;
    end
endmodule

module device_axi_lite (
    input  wire        pclk,
    input  wire        aclk,
    input  wire        aresetn,
    input  wire        s_awvalid,
    output wire        s_awready,
    input  wire [17:0] s_awaddr,
    input  wire        s_wvalid,
    output wire        s_wready,
    input  wire [31:0] s_wdata,
    output wire        s_bvalid,
    input  wire        s_bready,
    output wire [ 1:0] s_bresp,
    input  wire        s_arvalid,
    output wire        s_arready,
    input  wire [17:0] s_araddr,
    output wire        s_rvalid,
    input  wire        s_rready,
    output wire [31:0] s_rdata,
    output wire [ 1:0] s_rresp,
    output wire        m_awvalid,
    input  wire        m_awready,
    output wire [39:0] m_awaddr,
    output wire [ 3:0] m_awlen,
    output wire        m_wvalid,
    input  wire        m_wready,
    output wire [63:0] m_wdata,
    output wire [ 7:0] m_wstrb,
    output wire        m_wlast,
    input  wire        m_bvalid,
    output wire        m_bready,
    output wire        m_arvalid,
    input  wire        m_arready,
    output wire [39:0] m_araddr,
    output wire [ 3:0] m_arlen,
    input  wire        m_rvalid,
    output wire        m_rready,
    input  wire [63:0] m_rdata,
    input  wire        m_rlast,
    output wire        irq
);
  wire [31:0] faults;
  reg [7:0] writes, reads;
  reg aw_got, w_got, ar_got, answers_b, answers_r;
  reg [3:0] b_age, r_age;

  device_faults chosen (.faults(faults));
  assign irq = 1'b0;
  assign {m_awvalid, m_awaddr, m_awlen, m_wvalid, m_wdata, m_wstrb, m_wlast, m_bready} = 0;
  assign {m_arvalid, m_araddr, m_arlen, m_rready} = 0;

  // Each fault has an access of its own, so that all may be played at once.
  wire early_b = faults[0] && writes == 8'd1;
  wire early_r = faults[1] && reads == 8'd1;
  wire drop_b = faults[2] && writes == 8'd2 && b_age == 4'd1;
  wire drop_r = faults[4] && reads == 8'd2 && r_age == 4'd1;
  wire never = faults[31] && writes == 8'd5;

  assign s_awready = faults[9] && writes == 8'd5 && b_age == 4'd0 ? 1'bx : !aw_got;
  assign s_wready = !w_got && (!early_b || b_age > 4'd1);
  assign s_arready = !ar_got && (!early_r || r_age > 4'd1);
  assign s_bvalid = !aresetn ? faults[8] : answers_b && !drop_b;
  assign s_rvalid = answers_r && !drop_r;
  assign s_bresp = (faults[3] && writes == 8'd3 && b_age == 4'd0) || (faults[6] && writes == 8'd4) ? 2'd2 : 2'd0;
  assign s_rresp = faults[7] && reads == 8'd4 ? 2'd3 : 2'd0;
  assign s_rdata = faults[5] && reads == 8'd3 && r_age == 4'd0 ? 32'd1 : 32'd0;

  always @(posedge pclk or negedge aresetn)
    if (!aresetn) begin
      {aw_got, w_got, ar_got, answers_b, answers_r} <= 5'd0;
      {writes, reads, b_age, r_age} <= 24'd0;
    end else begin
      if (s_awvalid && s_awready === 1'b1) aw_got <= 1'b1;
      if (s_wvalid && s_wready) w_got <= 1'b1;
      if (s_arvalid && s_arready) ar_got <= 1'b1;
      if (aw_got && (w_got || early_b) && !never) answers_b <= 1'b1;
      if (ar_got || (early_r && s_arvalid)) answers_r <= 1'b1;
      b_age <= answers_b || (faults[9] && s_awvalid) ? b_age + 4'd1 : 4'd0;
      r_age <= answers_r ? r_age + 4'd1 : 4'd0;
      if (s_bvalid && s_bready) begin
        {aw_got, w_got, answers_b, b_age} <= 7'd0;
        writes <= writes + 8'd1;
      end
      if (s_rvalid && s_rready) begin
        {ar_got, answers_r, r_age} <= 6'd0;
        reads <= reads + 8'd1;
      end
    end
endmodule
