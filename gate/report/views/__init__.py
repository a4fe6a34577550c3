"""What the commands that only look print: trees, histories, timelines, tables."""

__all__ = ["backtest", "history", "locks", "rehearsals", "timeline", "tree"]
