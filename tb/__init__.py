"""The NVDLA testbench; everything outside ``tb.sim`` runs without a simulator."""
