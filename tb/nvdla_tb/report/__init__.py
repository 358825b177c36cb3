"""Results rendered: tables, JSON, JUnit, and HTML pages."""
