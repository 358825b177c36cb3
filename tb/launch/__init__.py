"""From RTL to a finished cocotb run: filelist, port check, cached build, supervised simulation."""
