"""The gate on a stage: a sandbox with what ran before, a requested failure, one run.

`trouble` names what can go wrong, `stage` sets it up and runs the gate, `rehearse` and `demo` are
the commands.
"""

__all__ = ["demo", "rehearse", "serve"]
