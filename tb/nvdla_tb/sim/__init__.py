"""Agents, monitors and the bench: the only code that imports cocotb."""

import gc

# What a simulation loads stays; to look through it for garbage again and again takes a fifth of the start.
gc.freeze()
gc.set_threshold(100_000)
