"""A cluster in this process: API server, controllers and kubelet, in plain Python.

It knows nothing of the gate. Others import `face`, and `server` to put it on a socket.
"""

__all__ = ["face", "server"]
