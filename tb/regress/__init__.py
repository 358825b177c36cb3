"""Running many scenarios, each in its own simulator process, and reporting how they ended."""
