"""A result in one format each: text, Markdown, JUnit, outputs, files."""

__all__ = ["files", "markdown", "outputs", "text"]
