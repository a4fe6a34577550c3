"""The DaemonSet controller: a pod on each node that is to have one."""
