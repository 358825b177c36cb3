// Embedded nv_small device: paths are relative to this file. Top module NV_nvdla.
-F nvdla.f
NV_nvdla.v
csb/nvdla_cfgrom.v
