"""Stimulus: scenarios, where they come from, and the order in which they are played."""
