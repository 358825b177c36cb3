"""Random scenarios that are steered by the code coverage of the RTL, and the corpus of those that reach most of it."""
