"""The command line; every command is thin."""

from roost.cli.main import main

__all__ = ["main"]
