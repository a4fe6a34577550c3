"""How the API server is reached: which one, as whom, over which connections."""

__all__ = ["connection", "in_process", "official"]
