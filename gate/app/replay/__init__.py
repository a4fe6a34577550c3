"""Recordings: made from a run, judged again, and compared under another policy."""

__all__ = ["backtest", "judgement", "recording", "rendered_report"]
