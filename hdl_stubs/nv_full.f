// Embedded nv_full device: paths are relative to this file. Top module NV_nvdla.
-F nvdla.f
nv_full/NV_nvdla.v
cdp/nvdla_cdp_float.v
pdp/nvdla_pdp_arithmetic_full.v
rubik/nvdla_rubik.v
rubik/nvdla_rubik_transpose.v
bdma/nvdla_bdma.v
common/nvdla_two_ports.v
mcif/nvdla_wide_port.v
