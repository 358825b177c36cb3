"""``bench``: what the bench costs in time, always against a reference of the same run."""
