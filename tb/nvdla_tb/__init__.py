"""The NVDLA testbench; everything outside ``nvdla_tb.sim`` runs without a simulator."""

__version__ = "0.1.0"
