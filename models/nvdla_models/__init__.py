"""The arithmetic of the hardware and the layout of its data in memory; numpy only, no registers, no addresses."""
