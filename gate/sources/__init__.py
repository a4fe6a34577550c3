"""Where measurements come from. A source transports and translates; the core measures.

A source is one file with a class that has `ask` and `cancel`, and one entry in `Sources`.
"""
