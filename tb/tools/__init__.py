"""Tools that measure the bench itself."""
