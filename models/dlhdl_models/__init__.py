"""Reference model of the stand-in of the Deep Learning HDL processor: int8 to the bit, single within a derived bound.

Source: ``docs/dlhdl.md``, "Arithmetic": it is the project's own; the vendor's rounding is not published.
"""
