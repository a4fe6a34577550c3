"""The pure judge: values in, verdicts and effects out. No I/O, no clock, no logging.

Standard library only; nothing here imports another room of the gate.
"""
