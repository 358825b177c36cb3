"""Judging: a passive judge rebuilds layers from register accesses, predicts memory and speaks in findings.

Nothing here knows a simulator, a file or the environment, so the same judge serves a simulation, the model alone
and the explainer.
"""
