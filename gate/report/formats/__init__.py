"""A result in one format each: text, Markdown, JUnit, outputs, files."""

__all__ = ["files", "format", "markdown", "outputs", "text"]
