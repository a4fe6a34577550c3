"""Others change things while the gate works, at random, on a real control plane.

A trial is drawn from a seed: what serves, what is applied, and who else does what at which moment.
When it is over, invariants are held against what the API server has of it: the versions of every
object, who wrote each, and the exit code. What the gate says of itself is only ever the accused.
"""
