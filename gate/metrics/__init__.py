"""The metrics of one run: what is measured, how it is written, where it is delivered.

Nothing here decides: whatever goes wrong is a warning. `prometheus_client` is loaded only if
metrics are asked for.
"""
