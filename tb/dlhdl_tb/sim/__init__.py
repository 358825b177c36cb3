"""The pins of the Deep Learning HDL processor: memory behind its masters, its register port, its host."""
