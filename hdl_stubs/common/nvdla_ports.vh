// The ports of an NVDLA top, which NV_nvdla of each configuration has.

// Clocks, resets and the CSB.
`define NVDLA_CONTROL_PORTS \
  input wire dla_core_clk, \
  input wire dla_csb_clk, \
  input wire global_clk_ovr_on, \
  input wire tmc2slcg_disable_clock_gating, \
  input wire dla_reset_rstn, \
  input wire direct_reset_, \
  input wire test_mode, \
  input wire csb2nvdla_valid, \
  output wire csb2nvdla_ready, \
  input wire [15:0] csb2nvdla_addr, \
  input wire [31:0] csb2nvdla_wdat, \
  input wire csb2nvdla_write, \
  input wire csb2nvdla_nposted, \
  output wire nvdla2csb_valid, \
  output wire [31:0] nvdla2csb_data, \
  output wire nvdla2csb_wr_complete

// A memory port: the beginning of its pins' names, bits of an address, bits of a beat.
`define NVDLA_MEMORY_PORTS(port, addr_bits, data_bits) \
  output wire port``_aw_awvalid, \
  input wire port``_aw_awready, \
  output wire [7:0] port``_aw_awid, \
  output wire [3:0] port``_aw_awlen, \
  output wire [(addr_bits)-1:0] port``_aw_awaddr, \
  output wire port``_w_wvalid, \
  input wire port``_w_wready, \
  output wire [(data_bits)-1:0] port``_w_wdata, \
  output wire [(data_bits)/8-1:0] port``_w_wstrb, \
  output wire port``_w_wlast, \
  input wire port``_b_bvalid, \
  output wire port``_b_bready, \
  input wire [7:0] port``_b_bid, \
  output wire port``_ar_arvalid, \
  input wire port``_ar_arready, \
  output wire [7:0] port``_ar_arid, \
  output wire [3:0] port``_ar_arlen, \
  output wire [(addr_bits)-1:0] port``_ar_araddr, \
  input wire port``_r_rvalid, \
  output wire port``_r_rready, \
  input wire [7:0] port``_r_rid, \
  input wire port``_r_rlast, \
  input wire [(data_bits)-1:0] port``_r_rdata

// Power of the memories of each partition; nothing here uses it.
`define NVDLA_POWER_PORTS \
  input wire [31:0] nvdla_pwrbus_ram_c_pd, \
  input wire [31:0] nvdla_pwrbus_ram_ma_pd, \
  input wire [31:0] nvdla_pwrbus_ram_mb_pd, \
  input wire [31:0] nvdla_pwrbus_ram_p_pd, \
  input wire [31:0] nvdla_pwrbus_ram_o_pd, \
  input wire [31:0] nvdla_pwrbus_ram_a_pd
