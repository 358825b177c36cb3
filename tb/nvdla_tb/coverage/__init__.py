"""Functional coverage: what the layers of programs were like, against a model that is data."""
