"""Compiled models: filelists, port check, wrapper, commands, and the cache by content."""
