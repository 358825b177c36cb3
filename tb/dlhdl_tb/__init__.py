"""The Deep Learning HDL processor as data: configuration, registers, networks, memory map, programs, expectations."""
