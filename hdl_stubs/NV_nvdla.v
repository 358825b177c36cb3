// NV_nvdla, nv_small: an embedded stand-in for the public RTL with the same ports
// and, for the units that it has, the same behaviour at them as the specification
// states or measurements on the hardware showed; it shares no code with it.
//
//   nvdla_csb      CSB port, both clock domains     nvdla_cfgrom  ConfigROM
//   nvdla_glb      version, interrupts              nvdla_mcif    memory interface registers
//   nvdla_conv     CDMA, buffer, CSC, CMAC_A/B, CACC: from memory to SDP
//   nvdla_sdp      SDP_RDMA and SDP, from memory or nvdla_conv to memory
//   nvdla_pdp      PDP_RDMA and PDP, from memory or SDP
//   nvdla_cdp      CDP_RDMA and CDP, memory to memory
//   nvdla_dbb_*    arbiters of the memory port
//
// Every unit sees every CSB request and drives its read data one clock later, or
// 0; the read data are ORed. Every engine is a client of the two memory arbiters:
// a further engine adds its ids to READ_IDS or WRITE_IDS and its lanes to the
// client vectors. Sizes that depend on the configuration (atom, memory word,
// address) are parameters of the units.
`include "nvdla_ports.vh"

module NV_nvdla (
    `NVDLA_CONTROL_PORTS,
    `NVDLA_MEMORY_PORTS(nvdla_core2dbb, 32, 64),
    output wire dla_intr,
    `NVDLA_POWER_PORTS
);
  localparam ADDR_WIDTH = 32;
  localparam DATA_WIDTH = 64;
  localparam ATOM_BYTES = 8;

  // Ids as seen on the hardware. Reads: SDP 1, PDP 2, CDP 3, SDP_B 5, SDP_N 6, CDMA data
  // 8, CDMA weight 9. Writes: SDP 1, PDP 2, CDP 3.
  localparam READ_CLIENTS = 7;
  localparam [8*READ_CLIENTS-1:0] READ_IDS = {8'd9, 8'd8, 8'd3, 8'd2, 8'd6, 8'd5, 8'd1};
  localparam WRITE_CLIENTS = 3;
  localparam [8*WRITE_CLIENTS-1:0] WRITE_IDS = {8'd3, 8'd2, 8'd1};

  nvdla_bug_names bug_names ();

  wire core_rst_n, req_valid, req_write;
  wire [15:0] req_addr;
  wire [31:0] req_wdata;
  wire [31:0] cfgrom_rdata, mcif_rdata, conv_rdata, sdp_rdata, pdp_rdata, cdp_rdata;
  wire [1:0] sdp_done, pdp_done, cdp_done, cdma_dat_done, cdma_wt_done, cacc_done;

  nvdla_control #(
      .SLOT_GLB   (6'd1),
      .STATUS_BITS(22'h3f_003f)
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
      .rdata                (cfgrom_rdata | mcif_rdata | conv_rdata | sdp_rdata | pdp_rdata | cdp_rdata),
      .sdp_done             (sdp_done),
      .cdp_done             (cdp_done),
      .pdp_done             (pdp_done),
      .bdma_done            (2'b00),
      .rubik_done           (2'b00),
      .cdma_dat_done        (cdma_dat_done),
      .cdma_wt_done         (cdma_wt_done),
      .cacc_done            (cacc_done)
  );

  nvdla_cfgrom #(
      .SLOT(6'd0)
  ) cfgrom (
      .clk      (dla_core_clk),
      .rst_n    (core_rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .rdata    (cfgrom_rdata)
  );

  wire [7:0] max_reads, max_writes;
  wire reads_idle, writes_idle;

  wire [95:0] read_weights;
  wire [63:0] write_weights;

  nvdla_mcif #(
      .SLOT(6'd2)
  ) mcif (
      .clk       (dla_core_clk),
      .rst_n     (core_rst_n),
      .req_valid (req_valid),
      .req_write (req_write),
      .req_addr  (req_addr),
      .req_wdata (req_wdata),
      .rdata     (mcif_rdata),
      .max_reads (max_reads),
      .max_writes(max_writes),
      .read_weights (read_weights),
      .write_weights(write_weights),
      .idle      (reads_idle && writes_idle)
  );

  // Memory clients, in the order of READ_IDS and WRITE_IDS from bit 0 up.
  wire [READ_CLIENTS-1:0] rd_req_valid, rd_req_ready, rd_rsp_valid;
  wire [READ_CLIENTS*ADDR_WIDTH-1:0] rd_req_addr;
  wire [DATA_WIDTH-1:0] rd_rsp_data;
  wire [WRITE_CLIENTS-1:0] wr_req_valid, wr_req_ready, wr_rsp_valid;
  wire [WRITE_CLIENTS*ADDR_WIDTH-1:0] wr_req_addr;
  wire [WRITE_CLIENTS*DATA_WIDTH-1:0] wr_req_data;

  wire conv_valid, conv_ready, conv_last;
  wire [32*ATOM_BYTES-1:0] conv_data;

  // There is one memory, whatever the RAM type registers say.
  wire [9:0] unused_mc;
  wire [7:0] conv_mode;

  nvdla_conv #(
      .SLOT_CDMA (6'd3),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
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
      .rd_req_valid (rd_req_valid[6:5]),
      .rd_req_ready (rd_req_ready[6:5]),
      .rd_req_mc    (unused_mc[5:4]),
      .rd_req_addr  (rd_req_addr[5*ADDR_WIDTH+:2*ADDR_WIDTH]),
      .rd_rsp_valid (rd_rsp_valid[6:5]),
      .rd_rsp_data  (rd_rsp_data),
      .sdp_mode     (conv_mode),
      .sdp_valid    (conv_valid),
      .sdp_ready    (conv_ready),
      .sdp_data     (conv_data),
      .sdp_last     (conv_last)
  );

  // From SDP to PDP on the fly; there is one memory, whatever the RAM type registers say.
  wire pooled_valid, pooled_ready;
  wire [8*ATOM_BYTES-1:0] pooled_data;

  nvdla_sdp #(
      .SLOT_RDMA (6'd8),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) sdp (
      .clk         (dla_core_clk),
      .rst_n       (core_rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (sdp_rdata),
      .layer_done  (sdp_done),
      .rd_req_valid(rd_req_valid[2:0]),
      .rd_req_ready(rd_req_ready[2:0]),
      .rd_req_mc   (unused_mc[8:6]),
      .rd_req_addr (rd_req_addr[3*ADDR_WIDTH-1:0]),
      .rd_rsp_valid(rd_rsp_valid[2:0]),
      .rd_rsp_data (rd_rsp_data),
      .wr_req_valid(wr_req_valid[0]),
      .wr_req_ready(wr_req_ready[0]),
      .wr_req_mc   (unused_mc[9]),
      .wr_req_addr (wr_req_addr[ADDR_WIDTH-1:0]),
      .wr_req_data (wr_req_data[DATA_WIDTH-1:0]),
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
      .SLOT_RDMA (6'd10),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) pdp (
      .clk         (dla_core_clk),
      .rst_n       (core_rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (pdp_rdata),
      .layer_done  (pdp_done),
      .rd_req_valid(rd_req_valid[3]),
      .rd_req_ready(rd_req_ready[3]),
      .rd_req_mc   (unused_mc[0]),
      .rd_req_addr (rd_req_addr[3*ADDR_WIDTH+:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[3]),
      .rd_rsp_data (rd_rsp_data),
      .wr_req_valid(wr_req_valid[1]),
      .wr_req_ready(wr_req_ready[1]),
      .wr_req_mc   (unused_mc[1]),
      .wr_req_addr (wr_req_addr[ADDR_WIDTH+:ADDR_WIDTH]),
      .wr_req_data (wr_req_data[DATA_WIDTH+:DATA_WIDTH]),
      .wr_rsp_valid(wr_rsp_valid[1]),
      .sdp_valid   (pooled_valid),
      .sdp_ready   (pooled_ready),
      .sdp_data    (pooled_data)
  );

  nvdla_cdp #(
      .SLOT_RDMA (6'd12),
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES)
  ) cdp (
      .clk         (dla_core_clk),
      .rst_n       (core_rst_n),
      .req_valid   (req_valid),
      .req_write   (req_write),
      .req_addr    (req_addr),
      .req_wdata   (req_wdata),
      .rdata       (cdp_rdata),
      .layer_done  (cdp_done),
      .rd_req_valid(rd_req_valid[4]),
      .rd_req_ready(rd_req_ready[4]),
      .rd_req_mc   (unused_mc[2]),
      .rd_req_addr (rd_req_addr[4*ADDR_WIDTH+:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[4]),
      .rd_rsp_data (rd_rsp_data),
      .wr_req_valid(wr_req_valid[2]),
      .wr_req_ready(wr_req_ready[2]),
      .wr_req_mc   (unused_mc[3]),
      .wr_req_addr (wr_req_addr[2*ADDR_WIDTH+:ADDR_WIDTH]),
      .wr_req_data (wr_req_data[2*DATA_WIDTH+:DATA_WIDTH]),
      .wr_rsp_valid(wr_rsp_valid[2])
  );

  nvdla_dbb_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(DATA_WIDTH),
      .CLIENTS   (READ_CLIENTS),
      .IDS       (READ_IDS)
  ) dbb_read (
      .clk            (dla_core_clk),
      .rst_n          (core_rst_n),
      .req_valid      (rd_req_valid),
      .req_ready      (rd_req_ready),
      .req_addr       (rd_req_addr),
      .rsp_valid      (rd_rsp_valid),
      .rsp_data       (rd_rsp_data),
      .max_outstanding(max_reads),
      .weights        (read_weights),
      .idle           (reads_idle),
      .arvalid        (nvdla_core2dbb_ar_arvalid),
      .arready        (nvdla_core2dbb_ar_arready),
      .arid           (nvdla_core2dbb_ar_arid),
      .arlen          (nvdla_core2dbb_ar_arlen),
      .araddr         (nvdla_core2dbb_ar_araddr),
      .rvalid         (nvdla_core2dbb_r_rvalid),
      .rready         (nvdla_core2dbb_r_rready),
      .rid            (nvdla_core2dbb_r_rid),
      .rdata          (nvdla_core2dbb_r_rdata)
  );

  nvdla_dbb_write #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(DATA_WIDTH),
      .CLIENTS   (WRITE_CLIENTS),
      .IDS       (WRITE_IDS)
  ) dbb_write (
      .clk            (dla_core_clk),
      .rst_n          (core_rst_n),
      .req_valid      (wr_req_valid),
      .req_ready      (wr_req_ready),
      .req_addr       (wr_req_addr),
      .req_data       (wr_req_data),
      .rsp_valid      (wr_rsp_valid),
      .max_outstanding(max_writes),
      .weights        (write_weights),
      .idle           (writes_idle),
      .awvalid        (nvdla_core2dbb_aw_awvalid),
      .awready        (nvdla_core2dbb_aw_awready),
      .awid           (nvdla_core2dbb_aw_awid),
      .awlen          (nvdla_core2dbb_aw_awlen),
      .awaddr         (nvdla_core2dbb_aw_awaddr),
      .wvalid         (nvdla_core2dbb_w_wvalid),
      .wready         (nvdla_core2dbb_w_wready),
      .wdata          (nvdla_core2dbb_w_wdata),
      .wstrb          (nvdla_core2dbb_w_wstrb),
      .wlast          (nvdla_core2dbb_w_wlast),
      .bvalid         (nvdla_core2dbb_b_bvalid),
      .bready         (nvdla_core2dbb_b_bready),
      .bid            (nvdla_core2dbb_b_bid[2:0])
  );

  // Clock gating and RAM power pins have no function in this model.
  wire unused_pins = &{
    1'b0,
    global_clk_ovr_on,
    tmc2slcg_disable_clock_gating,
    nvdla_core2dbb_b_bid[7:3],
    nvdla_core2dbb_r_rlast,
    nvdla_pwrbus_ram_c_pd,
    nvdla_pwrbus_ram_ma_pd,
    nvdla_pwrbus_ram_mb_pd,
    nvdla_pwrbus_ram_p_pd,
    nvdla_pwrbus_ram_o_pd,
    nvdla_pwrbus_ram_a_pd
  };
endmodule
