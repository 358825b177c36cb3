"""Drivers in C and C++ that play on the DUT from the simulator's process; ``nvdla_tb.h`` is what they include."""
