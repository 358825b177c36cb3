"""Regressions: tasks on a cluster, their store, failure bundles, and the test plan."""
