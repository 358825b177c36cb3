"""From wrong bytes of a core to causes: layers computed again from beats, as faults would compute them."""
