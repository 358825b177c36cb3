"""Which bits of a design can never toggle, or never matter, by synthesis of the whole design."""
