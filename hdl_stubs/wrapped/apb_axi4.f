// Embedded nv_small device behind APB and AXI4: paths are relative to this file. Top module nvdla_apb_axi4.
-F ../nv_small.f
nvdla_apb_bridge.v
nvdla_axi4_port.v
nvdla_apb_axi4.v
