"""What to do next, from the result document alone: steps, and commands to copy."""

__all__ = ["look_further", "next_steps", "step", "takeover"]
