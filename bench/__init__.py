"""Measurements on the real control plane, next to what people use today; `python -m bench`."""
