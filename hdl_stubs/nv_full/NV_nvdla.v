// NV_nvdla, nv_full: the embedded stand-in with two 512-bit memory ports, INT8, INT16
// and FP16, and all units. It shares the units with nv_small and sets their sizes.
//
//   nvdla_control  resets, CSB port, GLB            nvdla_two_ports  DBB and CVSRAM
//   nvdla_conv     CDMA, convolution buffer, CSC, CMAC_A, CMAC_B, CACC
//   nvdla_sdp      SDP_RDMA and SDP with X1, X2, Y and lookup tables
//   nvdla_pdp, nvdla_cdp  with INT16 and FP16       nvdla_rubik, nvdla_bdma
//
// There is no ConfigROM in this configuration. A client's surface lies in the memory
// that its RAM type register names: DBB (MC) or CVSRAM. The ids of the clients follow
// those of nv_small: BDMA 0, SDP 1, PDP 2, CDP 3, RUBIK 4, SDP_B 5, SDP_N 6, SDP_E 7,
// CDMA data 8, weights 9, WMB 10, WGS 11.
`include "nvdla_ports.vh"

module NV_nvdla (
    `NVDLA_CONTROL_PORTS,
    `NVDLA_MEMORY_PORTS(nvdla_core2dbb, 64, 512),
    `NVDLA_MEMORY_PORTS(nvdla_core2cvsram, 64, 512),
    output wire dla_intr,
    `NVDLA_POWER_PORTS
);
  localparam ADDR_WIDTH = 64;
  localparam ATOM_BYTES = 32;
  localparam W = 8 * ATOM_BYTES;

  // Memory clients from bit 0 up. Reads: SDP, SDP_B, SDP_N, SDP_E, PDP, CDP, RUBIK,
  // BDMA, CDMA data, weights, WMB, WGS. Writes: SDP, PDP, CDP, RUBIK, BDMA.
  localparam READ_CLIENTS = 12;
  localparam [8*READ_CLIENTS-1:0] READ_IDS = {
    8'd11, 8'd10, 8'd9, 8'd8, 8'd0, 8'd4, 8'd3, 8'd2, 8'd7, 8'd6, 8'd5, 8'd1
  };
  localparam WRITE_CLIENTS = 5;
  localparam [8*WRITE_CLIENTS-1:0] WRITE_IDS = {8'd0, 8'd4, 8'd3, 8'd2, 8'd1};

  nvdla_bug_names bug_names ();

  wire core_rst_n, req_valid, req_write;
  wire [15:0] req_addr;
  wire [31:0] req_wdata;
  wire [31:0] ports_rdata, conv_rdata, sdp_rdata, pdp_rdata, cdp_rdata, rubik_rdata, bdma_rdata;
  wire [1:0] sdp_done, pdp_done, cdp_done, bdma_done, rubik_done, cdma_dat_done, cdma_wt_done, cacc_done;

  nvdla_control #(
      .SLOT_GLB   (6'd0),
      .STATUS_BITS(22'h3f_03ff)
  ) control (
      .dla_core_clk         (dla_core_clk),
      .dla_csb_clk          (dla_csb_clk),
      .dla_reset_rstn       (dla_reset_rstn),
      .direct_reset_        (direct_reset_),
      .test_mode            (test_mode),
      .csb2nvdla_valid      (csb2nvdla_valid),
      .csb2nvdla_ready      (csb2nvdla_ready),
      .csb2nvdla_addr       (csb2nvdla_addr),
      .csb2nvdla_wdat       (csb2nvdla_wdat),
      .csb2nvdla_write      (csb2nvdla_write),
      .csb2nvdla_nposted    (csb2nvdla_nposted),
      .nvdla2csb_valid      (nvdla2csb_valid),
      .nvdla2csb_data       (nvdla2csb_data),
      .nvdla2csb_wr_complete(nvdla2csb_wr_complete),
      .dla_intr             (dla_intr),
      .core_rst_n           (core_rst_n),
      .req_valid            (req_valid),
      .req_write            (req_write),
      .req_addr             (req_addr),
      .req_wdata            (req_wdata),
      .rdata                (ports_rdata | conv_rdata | sdp_rdata | pdp_rdata | cdp_rdata | rubik_rdata | bdma_rdata),
      .sdp_done             (sdp_done),
      .cdp_done             (cdp_done),
      .pdp_done             (pdp_done),
      .bdma_done            (bdma_done),
      .rubik_done           (rubik_done),
      .cdma_dat_done        (cdma_dat_done),
      .cdma_wt_done         (cdma_wt_done),
      .cacc_done            (cacc_done)
  );

  wire [READ_CLIENTS-1:0] rd_valid, rd_ready, rd_mc, rd_rsp_valid;
  wire [READ_CLIENTS*ADDR_WIDTH-1:0] rd_addr;
  wire [W-1:0] rd_rsp_data;
  wire [WRITE_CLIENTS-1:0] wr_valid, wr_ready, wr_mc, wr_rsp_valid;
  wire [WRITE_CLIENTS*ADDR_WIDTH-1:0] wr_addr;
  wire [WRITE_CLIENTS*W-1:0] wr_data;

  // From convolution to SDP, and from SDP to PDP, on the fly
  wire conv_valid, conv_ready, conv_last;
  wire [7:0] conv_mode;
  wire [1023:0] conv_data;
  wire pooled_valid, pooled_ready;
  wire [W-1:0] pooled_data;

  nvdla_conv #(
      .SLOT_CDMA   (6'd5),
      .FULL        (1),
      .ADDR_WIDTH  (ADDR_WIDTH),
      .ATOM_BYTES  (ATOM_BYTES),
      .ATOMIC_C    (64),
      .ATOMIC_K    (32),
      .BANKS       (16),
      .BANK_ENTRIES(256),
      .ENTRY_BYTES (128),
      .LOG2_STRIPE (5),
      .CLIENTS     (4)
  ) conv (
      .clk          (dla_core_clk),
      .rst_n        (core_rst_n),
      .req_valid    (req_valid),
      .req_write    (req_write),
      .req_addr     (req_addr),
      .req_wdata    (req_wdata),
      .rdata        (conv_rdata),
      .cdma_dat_done(cdma_dat_done),
      .cdma_wt_done (cdma_wt_done),
      .cacc_done    (cacc_done),
      .rd_req_valid (rd_valid[11:8]),
      .rd_req_ready (rd_ready[11:8]),
      .rd_req_mc    (rd_mc[11:8]),
      .rd_req_addr  (rd_addr[ADDR_WIDTH*8+:ADDR_WIDTH*4]),
      .rd_rsp_valid (rd_rsp_valid[11:8]),
      .rd_rsp_data  (rd_rsp_data),
      .sdp_mode     (conv_mode),
      .sdp_valid    (conv_valid),
      .sdp_ready    (conv_ready),
      .sdp_data     (conv_data),
      .sdp_last     (conv_last)
  );

  nvdla_sdp #(
      .SLOT_RDMA (6'd10),
      .FULL      (1),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES),
      .LANES     (4),
      .OPERANDS  (3)
  ) sdp (
      .clk         (dla_core_clk),
      .rst_n       (core_rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (sdp_rdata),
      .layer_done  (sdp_done),
      .rd_req_valid(rd_valid[3:0]),
      .rd_req_ready(rd_ready[3:0]),
      .rd_req_mc   (rd_mc[3:0]),
      .rd_req_addr (rd_addr[ADDR_WIDTH*0+:ADDR_WIDTH*4]),
      .rd_rsp_valid(rd_rsp_valid[3:0]),
      .rd_rsp_data (rd_rsp_data),
      .wr_req_valid(wr_valid[0]),
      .wr_req_ready(wr_ready[0]),
      .wr_req_mc   (wr_mc[0]),
      .wr_req_addr (wr_addr[ADDR_WIDTH*0+:ADDR_WIDTH]),
      .wr_req_data (wr_data[W*0+:W]),
      .wr_rsp_valid(wr_rsp_valid[0]),
      .conv_mode   (conv_mode),
      .conv_valid  (conv_valid),
      .conv_ready  (conv_ready),
      .conv_data   (conv_data),
      .conv_last   (conv_last),
      .pdp_valid   (pooled_valid),
      .pdp_ready   (pooled_ready),
      .pdp_data    (pooled_data)
  );

  nvdla_pdp #(
      .SLOT_RDMA (6'd12),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES),
      .FLOAT     (1)
  ) pdp (
      .clk         (dla_core_clk),
      .rst_n       (core_rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (pdp_rdata),
      .layer_done  (pdp_done),
      .rd_req_valid(rd_valid[4]),
      .rd_req_ready(rd_ready[4]),
      .rd_req_mc   (rd_mc[4]),
      .rd_req_addr (rd_addr[ADDR_WIDTH*4+:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[4]),
      .rd_rsp_data (rd_rsp_data),
      .wr_req_valid(wr_valid[1]),
      .wr_req_ready(wr_ready[1]),
      .wr_req_mc   (wr_mc[1]),
      .wr_req_addr (wr_addr[ADDR_WIDTH*1+:ADDR_WIDTH]),
      .wr_req_data (wr_data[W*1+:W]),
      .wr_rsp_valid(wr_rsp_valid[1]),
      .sdp_valid   (pooled_valid),
      .sdp_ready   (pooled_ready),
      .sdp_data    (pooled_data)
  );

  nvdla_cdp #(
      .SLOT_RDMA (6'd14),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES),
      .FLOAT     (1)
  ) cdp (
      .clk         (dla_core_clk),
      .rst_n       (core_rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (cdp_rdata),
      .layer_done  (cdp_done),
      .rd_req_valid(rd_valid[5]),
      .rd_req_ready(rd_ready[5]),
      .rd_req_mc   (rd_mc[5]),
      .rd_req_addr (rd_addr[ADDR_WIDTH*5+:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[5]),
      .rd_rsp_data (rd_rsp_data),
      .wr_req_valid(wr_valid[2]),
      .wr_req_ready(wr_ready[2]),
      .wr_req_mc   (wr_mc[2]),
      .wr_req_addr (wr_addr[ADDR_WIDTH*2+:ADDR_WIDTH]),
      .wr_req_data (wr_data[W*2+:W]),
      .wr_rsp_valid(wr_rsp_valid[2])
  );

  nvdla_rubik #(
      .SLOT      (6'd16),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) rubik (
      .clk         (dla_core_clk),
      .rst_n       (core_rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (rubik_rdata),
      .layer_done  (rubik_done),
      .rd_req_valid(rd_valid[6]),
      .rd_req_ready(rd_ready[6]),
      .rd_req_mc   (rd_mc[6]),
      .rd_req_addr (rd_addr[ADDR_WIDTH*6+:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[6]),
      .rd_rsp_data (rd_rsp_data),
      .wr_req_valid(wr_valid[3]),
      .wr_req_ready(wr_ready[3]),
      .wr_req_mc   (wr_mc[3]),
      .wr_req_addr (wr_addr[ADDR_WIDTH*3+:ADDR_WIDTH]),
      .wr_req_data (wr_data[W*3+:W]),
      .wr_rsp_valid(wr_rsp_valid[3])
  );

  nvdla_bdma #(
      .SLOT      (6'd4),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) bdma (
      .clk         (dla_core_clk),
      .rst_n       (core_rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (bdma_rdata),
      .group_done  (bdma_done),
      .rd_req_valid(rd_valid[7]),
      .rd_req_ready(rd_ready[7]),
      .rd_req_mc   (rd_mc[7]),
      .rd_req_addr (rd_addr[ADDR_WIDTH*7+:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[7]),
      .rd_rsp_data (rd_rsp_data),
      .wr_req_valid(wr_valid[4]),
      .wr_req_ready(wr_ready[4]),
      .wr_req_mc   (wr_mc[4]),
      .wr_req_addr (wr_addr[ADDR_WIDTH*4+:ADDR_WIDTH]),
      .wr_req_data (wr_data[W*4+:W]),
      .wr_rsp_valid(wr_rsp_valid[4])
  );

  nvdla_two_ports #(
      .SLOT_MCIF    (6'd2),
      .SLOT_CVIF    (6'd3),
      .ADDR_WIDTH   (ADDR_WIDTH),
      .ATOM_BYTES   (ATOM_BYTES),
      .READ_CLIENTS (READ_CLIENTS),
      .READ_IDS     (READ_IDS),
      .WRITE_CLIENTS(WRITE_CLIENTS),
      .WRITE_IDS    (WRITE_IDS)
  ) ports (
      .clk         (dla_core_clk),
      .rst_n       (core_rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (ports_rdata),
      .rd_req_valid(rd_valid),
      .rd_req_ready(rd_ready),
      .rd_req_mc   (rd_mc),
      .rd_req_addr (rd_addr),
      .rd_rsp_valid(rd_rsp_valid),
      .rd_rsp_data (rd_rsp_data),
      .wr_req_valid(wr_valid),
      .wr_req_ready(wr_ready),
      .wr_req_mc   (wr_mc),
      .wr_req_addr (wr_addr),
      .wr_req_data (wr_data),
      .wr_rsp_valid(wr_rsp_valid),
      .mc_awvalid  (nvdla_core2dbb_aw_awvalid),
      .mc_awready  (nvdla_core2dbb_aw_awready),
      .mc_awid     (nvdla_core2dbb_aw_awid),
      .mc_awlen    (nvdla_core2dbb_aw_awlen),
      .mc_awaddr   (nvdla_core2dbb_aw_awaddr),
      .mc_wvalid   (nvdla_core2dbb_w_wvalid),
      .mc_wready   (nvdla_core2dbb_w_wready),
      .mc_wdata    (nvdla_core2dbb_w_wdata),
      .mc_wstrb    (nvdla_core2dbb_w_wstrb),
      .mc_wlast    (nvdla_core2dbb_w_wlast),
      .mc_bvalid   (nvdla_core2dbb_b_bvalid),
      .mc_bready   (nvdla_core2dbb_b_bready),
      .mc_bid      (nvdla_core2dbb_b_bid[2:0]),
      .mc_arvalid  (nvdla_core2dbb_ar_arvalid),
      .mc_arready  (nvdla_core2dbb_ar_arready),
      .mc_arid     (nvdla_core2dbb_ar_arid),
      .mc_arlen    (nvdla_core2dbb_ar_arlen),
      .mc_araddr   (nvdla_core2dbb_ar_araddr),
      .mc_rvalid   (nvdla_core2dbb_r_rvalid),
      .mc_rready   (nvdla_core2dbb_r_rready),
      .mc_rid      (nvdla_core2dbb_r_rid),
      .mc_rdata    (nvdla_core2dbb_r_rdata),
      .cv_awvalid  (nvdla_core2cvsram_aw_awvalid),
      .cv_awready  (nvdla_core2cvsram_aw_awready),
      .cv_awid     (nvdla_core2cvsram_aw_awid),
      .cv_awlen    (nvdla_core2cvsram_aw_awlen),
      .cv_awaddr   (nvdla_core2cvsram_aw_awaddr),
      .cv_wvalid   (nvdla_core2cvsram_w_wvalid),
      .cv_wready   (nvdla_core2cvsram_w_wready),
      .cv_wdata    (nvdla_core2cvsram_w_wdata),
      .cv_wstrb    (nvdla_core2cvsram_w_wstrb),
      .cv_wlast    (nvdla_core2cvsram_w_wlast),
      .cv_bvalid   (nvdla_core2cvsram_b_bvalid),
      .cv_bready   (nvdla_core2cvsram_b_bready),
      .cv_bid      (nvdla_core2cvsram_b_bid[2:0]),
      .cv_arvalid  (nvdla_core2cvsram_ar_arvalid),
      .cv_arready  (nvdla_core2cvsram_ar_arready),
      .cv_arid     (nvdla_core2cvsram_ar_arid),
      .cv_arlen    (nvdla_core2cvsram_ar_arlen),
      .cv_araddr   (nvdla_core2cvsram_ar_araddr),
      .cv_rvalid   (nvdla_core2cvsram_r_rvalid),
      .cv_rready   (nvdla_core2cvsram_r_rready),
      .cv_rid      (nvdla_core2cvsram_r_rid),
      .cv_rdata    (nvdla_core2cvsram_r_rdata)
  );

  // Clock gating and RAM power pins have no function in this model.
  wire unused_pins = &{
    1'b0,
    global_clk_ovr_on,
    tmc2slcg_disable_clock_gating,
    nvdla_core2dbb_b_bid[7:3],
    nvdla_core2dbb_r_rlast,
    nvdla_core2cvsram_b_bid[7:3],
    nvdla_core2cvsram_r_rlast,
    nvdla_pwrbus_ram_c_pd,
    nvdla_pwrbus_ram_ma_pd,
    nvdla_pwrbus_ram_mb_pd,
    nvdla_pwrbus_ram_p_pd,
    nvdla_pwrbus_ram_o_pd,
    nvdla_pwrbus_ram_a_pd
  };
endmodule
