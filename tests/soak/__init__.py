"""Many attempts in a row in one process, over a network that fails: nothing may pile up.

The gate runs in this process, as its command line does; the cluster is a sandbox and the network a
failing proxy, each a process of its own, so that what is left behind here is the gate's.
"""
