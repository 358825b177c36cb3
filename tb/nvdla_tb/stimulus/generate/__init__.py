"""From a description and a seed to a scenario: layers with random data, placed in memory and encoded."""
