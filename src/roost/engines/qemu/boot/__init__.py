"""What a guest starts with, and starting it."""
