"""Where each watched kind lives on the server, and what following it takes."""

__all__ = ["kind", "pod", "registry", "resource"]
