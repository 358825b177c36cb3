"""The pytest plugin: scenarios of plans and tests in Python as items of a pytest run."""
