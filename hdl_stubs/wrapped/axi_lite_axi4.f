// Embedded nv_small device behind AXI4-Lite and AXI4 of 128 bits: paths are relative to this file. Top module
// nvdla_axi_lite_axi4.
-F ../nv_small.f
nvdla_axi_lite_bridge.v
nvdla_axi4_wide.v
nvdla_axi_lite_axi4.v
