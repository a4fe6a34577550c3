"""Recordings: made of a run, judged again, and compared with another policy."""

__all__ = ["backtest", "judgement", "recording", "rendered_report"]
