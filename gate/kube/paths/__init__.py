"""Where kinds live on the API server, and what of them a list or a watch asks for."""

__all__ = ["label_selector", "resources", "scope"]
