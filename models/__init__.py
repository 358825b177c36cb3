"""What the hardware computes and how its data lies in memory; numpy only, no registers, no addresses."""
