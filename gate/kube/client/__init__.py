"""Requests to the API server: bounded, paced, repeated where that is safe."""

__all__ = ["client", "contact", "repetition"]
