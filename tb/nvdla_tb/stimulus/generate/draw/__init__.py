"""Descriptions of layers drawn at random, one module per engine; corners come up more often than chance has it."""
