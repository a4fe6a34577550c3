"""Protobuf requests: kubectl's typed clients send them, and take JSON for an answer."""
