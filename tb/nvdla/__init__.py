"""What NVDLA is: surfaces, layers, registers, register programs and the ConfigROM."""
