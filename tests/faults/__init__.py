"""A proxy between gate and API server that fails in every way a network and a server can.

Real sockets with TLS on both sides. What it does to a request is said by a `Script` of rules
(`tests.faults.script`): which requests, which fault. It counts what it is asked.
"""
