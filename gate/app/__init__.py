"""Builds and runs commands: the only room that knows the adapters; it branches on no verdict."""
