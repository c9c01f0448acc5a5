"""Text messages to phones."""
