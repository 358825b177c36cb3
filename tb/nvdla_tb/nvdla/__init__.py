"""NVDLA as data: surfaces, layers, registers, register programs, engines and the ConfigROM."""
