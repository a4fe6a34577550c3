"""Whether the sandbox is the cluster: the same scenarios on both beds, and what came of them.

`python -m tests.conformance.record` plays them on a real control plane and keeps what it saw in
`real/`; the tests play them on the sandbox in virtual time and compare.
"""
