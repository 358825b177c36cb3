"""Layers from descriptions: shapes and modes as the plan says, data and free parameters from the seed."""
