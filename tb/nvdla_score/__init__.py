"""How good the bench is: which seeded bugs and mutants it catches and explains, and what it costs in time."""
