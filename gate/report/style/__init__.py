"""How text is laid out for one stream: width, encoding, colour, tables."""

__all__ = ["stacked", "style", "table"]
