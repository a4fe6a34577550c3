"""What an answer of the API server means: the tree of errors, and the translation into it."""

__all__ = ["failures", "translation"]
