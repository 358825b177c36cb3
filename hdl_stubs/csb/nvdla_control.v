// What every configuration has around its engines: the resets of both clock domains,
// the CSB port and GLB. The engines are in the core clock's domain; each sees every
// CSB request and drives its read data one clock later, or 0.
module nvdla_control #(
    parameter [5:0] SLOT_GLB = 6'd0,
    parameter [21:0] STATUS_BITS = 22'h3f_003f  // of GLB that exist
) (
    input  wire        dla_core_clk,
    input  wire        dla_csb_clk,
    input  wire        dla_reset_rstn,
    input  wire        direct_reset_,
    input  wire        test_mode,
    input  wire        csb2nvdla_valid,
    output wire        csb2nvdla_ready,
    input  wire [15:0] csb2nvdla_addr,
    input  wire [31:0] csb2nvdla_wdat,
    input  wire        csb2nvdla_write,
    input  wire        csb2nvdla_nposted,
    output wire        nvdla2csb_valid,
    output wire [31:0] nvdla2csb_data,
    output wire        nvdla2csb_wr_complete,
    output wire        dla_intr,
    // To the engines
    output wire        core_rst_n,
    output wire        req_valid,
    output wire        req_write,
    output wire [15:0] req_addr,
    output wire [31:0] req_wdata,
    input  wire [31:0] rdata,                   // of all of them together
    // A layer is done: one bit per register group
    input  wire [ 1:0] sdp_done,
    input  wire [ 1:0] cdp_done,
    input  wire [ 1:0] pdp_done,
    input  wire [ 1:0] bdma_done,
    input  wire [ 1:0] rubik_done,
    input  wire [ 1:0] cdma_dat_done,
    input  wire [ 1:0] cdma_wt_done,
    input  wire [ 1:0] cacc_done
);
  wire csb_rst_n;
  wire [31:0] glb_rdata;

  nvdla_reset csb_reset (
      .clk           (dla_csb_clk),
      .dla_reset_rstn(dla_reset_rstn),
      .direct_reset_ (direct_reset_),
      .test_mode     (test_mode),
      .rst_n         (csb_rst_n)
  );

  nvdla_reset core_reset (
      .clk           (dla_core_clk),
      .dla_reset_rstn(dla_reset_rstn),
      .direct_reset_ (direct_reset_),
      .test_mode     (test_mode),
      .rst_n         (core_rst_n)
  );

  nvdla_csb csb (
      .csb_clk              (dla_csb_clk),
      .csb_rst_n            (csb_rst_n),
      .csb2nvdla_valid      (csb2nvdla_valid),
      .csb2nvdla_ready      (csb2nvdla_ready),
      .csb2nvdla_addr       (csb2nvdla_addr),
      .csb2nvdla_wdat       (csb2nvdla_wdat),
      .csb2nvdla_write      (csb2nvdla_write),
      .csb2nvdla_nposted    (csb2nvdla_nposted),
      .nvdla2csb_valid      (nvdla2csb_valid),
      .nvdla2csb_data       (nvdla2csb_data),
      .nvdla2csb_wr_complete(nvdla2csb_wr_complete),
      .core_clk             (dla_core_clk),
      .core_rst_n           (core_rst_n),
      .req_valid            (req_valid),
      .req_write            (req_write),
      .req_addr             (req_addr),
      .req_wdata            (req_wdata),
      .rdata                (rdata | glb_rdata)
  );

  nvdla_glb #(
      .SLOT       (SLOT_GLB),
      .STATUS_BITS(STATUS_BITS)
  ) glb (
      .clk          (dla_core_clk),
      .rst_n        (core_rst_n),
      .req_valid    (req_valid),
      .req_write    (req_write),
      .req_addr     (req_addr),
      .req_wdata    (req_wdata),
      .rdata        (glb_rdata),
      .sdp_done     (sdp_done),
      .cdp_done     (cdp_done),
      .pdp_done     (pdp_done),
      .bdma_done    (bdma_done),
      .rubik_done   (rubik_done),
      .cdma_dat_done(cdma_dat_done),
      .cdma_wt_done (cdma_wt_done),
      .cacc_done    (cacc_done),
      .csb_clk      (dla_csb_clk),
      .csb_rst_n    (csb_rst_n),
      .dla_intr     (dla_intr)
  );
endmodule
