"""Construction and running: the only room that knows the adapters; it branches on no verdict."""
