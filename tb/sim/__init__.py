"""Agents, monitors and the bench: the only code that imports cocotb."""
